import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A server program that was started for a test. */
export interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** How a program is started, and where it says its address. */
export interface ServerProgram {
  readonly program: string;
  readonly flags: readonly string[];
  /** Finds the address in what the program writes to its standard error. */
  readonly address: RegExp;
  /** Answers with success once the server is ready. */
  readonly ready: string;
}

/** How a program of the Prometheus project says which port it was given when it had asked for any. */
export const listeningOn = /msg="?Listening on"? address=([\d.]+:[1-9]\d*)/;

/** Starts a server and waits until it is ready, however long that takes; throws with its last words if it ends before that. */
export async function startedServer({ program, flags, address, ready }: ServerProgram): Promise<StartedServer> {
  const child = spawn(program, flags, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  let url = "";
  const received = new Promise<void>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      if (url !== "") return;
      said += part;
      const found = address.exec(said)?.[1];
      if (found === undefined) return;
      url = `http://${found}`;
      resolve();
    });
  });
  const over = once(child, "close").then(() => {
    throw new Error(`${program} ended before it was ready: ${said.slice(-1000)}`);
  });
  await Promise.race([received, over]);
  await Promise.race([answersAt(`${url}${ready}`, child), over]);
  return { url, stop: () => end(child) };
}

async function answersAt(url: string, child: ChildProcess): Promise<void> {
  const isReady = () =>
    fetch(url).then(
      (response) => response.ok,
      () => false,
    );
  while (child.exitCode === null && !(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}
