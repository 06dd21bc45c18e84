import { execFile, spawn } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { repository } from "../servers/imageBuild.ts";

const script = fileURLToPath(new URL("../tools/node/node.sh", import.meta.url));

/** Where a running node is, and what it was started with: text, so that test files in other processes get it, too. */
export interface NodePlace {
  /** The folder of node.sh. */
  readonly folder: string;
  /** Folders with Kubernetes' programs, those of a node, and helm. */
  readonly kube: string;
  readonly programs: string;
  readonly helm: string;
  /** The process that takes the node along when it dies. */
  readonly owner: number;
}

/** What a command wrote, and how it ended. */
export interface Said {
  readonly out: string;
  readonly err: string;
  readonly status: number | null;
}

/** A real node of test/tools/node/node.sh. */
export class RealNode {
  readonly place: NodePlace;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(place: NodePlace) {
    this.place = place;
    this.#environment = {
      ...process.env,
      KUBE: place.kube,
      NODE_PROGRAMS: place.programs,
      OWNER: String(place.owner),
      PATH: `${place.kube}:${place.helm}:${process.env.PATH ?? ""}`,
      // Its servers and commands are Go programs with little memory and much to do: they collect garbage less often.
      GOGC: "400",
    };
  }

  async start(): Promise<void> {
    await this.#node("start");
  }

  /** Kills every process of the node at once. */
  async stop(): Promise<void> {
    await this.#node("stop");
  }

  /** Kills the node, and starts it again with what is on its disk. */
  async cutPower(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Kills one server, which starts again. */
  async restart(server: "kubelet" | "containerd" | "kube-apiserver"): Promise<void> {
    await this.#node("restart", server);
  }

  async load(archives: readonly string[]): Promise<void> {
    await this.#node("load", ...archives);
  }

  /** Runs commands inside, as a reader of a guide does who stops at the first that fails. Never throws. */
  async shell(commands: string, { cwd = repository, input = "" } = {}): Promise<Said> {
    const words = [script, "exec", this.place.folder, "bash", "-euo", "pipefail", "-c", commands];
    const child = spawn("bash", words, { cwd, env: this.#environment });
    let [out, err] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdin.on("error", () => undefined).end(input);
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    return { out, err, status };
  }

  /** Runs commands inside and returns what they wrote to standard output; throws with all they wrote where they fail. */
  async run(commands: string, options: { cwd?: string; input?: string } = {}): Promise<string> {
    const { out, err, status } = await this.shell(commands, options);
    if (status !== 0) throw new Error(`ended with ${status}: ${commands}\n${out}${err}`);
    return out;
  }

  async apply(manifest: string): Promise<void> {
    await this.run("kubectl apply --filename -", { input: manifest });
  }

  /** What the API server answers to an administrator; throws where that is no success. */
  async get(path: string): Promise<string> {
    return await this.#ask("GET", path);
  }

  async post(path: string): Promise<string> {
    return await this.#ask("POST", path);
  }

  /** What a port of a pod answers, through the API server. */
  async ofPod(namespace: string, pod: string, port: number, path: string): Promise<string> {
    return await this.get(`/api/v1/namespaces/${namespace}/pods/${pod}:${port}/proxy${path}`);
  }

  /** `kubectl proxy` listens on a socket in the node's folder: no other way leads in without a process for each question. */
  async #ask(method: string, path: string): Promise<string> {
    return await new Promise((resolve, reject) => {
      const socketPath = join(this.place.folder, "run/api.sock");
      const asked = request(
        { socketPath, path, method, headers: { host: "localhost" }, timeout: 30_000 },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (part: string) => (text += part));
          response.once("error", reject).once("end", () => {
            const status = response.statusCode ?? 0;
            if (status < 300) resolve(text);
            else reject(new Error(`${method} ${path} answered ${status}: ${text.slice(0, 500)}`));
          });
        },
      );
      asked
        .once("error", reject)
        .once("timeout", () => asked.destroy(new Error(`${method} ${path}: no answer`)))
        .end();
    });
  }

  async #node(...words: readonly string[]): Promise<void> {
    await promisify(execFile)("bash", [script, words[0] ?? "", this.place.folder, ...words.slice(1)], {
      env: this.#environment,
      maxBuffer: 1 << 24,
    });
  }
}
