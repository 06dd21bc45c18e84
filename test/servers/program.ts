import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const LOG_TAIL_CHARS = 3000;
const POLL_MS = 50;
const READY_TIMEOUT_MS = 120_000;
const NO_TIME = 75; // as in test/tools/go-build.sh

// Ports below those that systems give away by themselves; each worker has its own.
const PORTS_PER_WORKER = 1000;
const firstPort = 12_000 + ((Number(process.env.VITEST_POOL_ID ?? 0) * PORTS_PER_WORKER) % 8000);
let nextPort = Math.floor(Math.random() * PORTS_PER_WORKER);

/** One child process whose output goes to a log file in the folder. */
export class Program {
  readonly #command: string;
  readonly #flags: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #log: string;
  #child: ChildProcess | undefined;
  #failure: Error | undefined;

  constructor(
    folder: string,
    command: string,
    flags: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#command = command;
    this.#flags = flags;
    this.#environment = environment;
    this.#log = join(folder, `${command.slice(command.lastIndexOf("/") + 1)}.log`);
  }

  start(): void {
    const log = openSync(this.#log, "a");
    this.#failure = undefined;
    const env = { ...process.env, ...this.#environment };
    this.#child = spawn(this.#command, this.#flags, { stdio: ["ignore", log, log], env });
    this.#child.once("error", (error) => (this.#failure = error));
    closeSync(log);
  }

  /** Polls until the probe is answered 200; throws, with the end of the log, when the process ends or time is up. */
  async ready(probe: () => Promise<number>, timeoutMs = READY_TIMEOUT_MS): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    let last = "not asked yet";
    while (Date.now() < deadline && this.#isRunning()) {
      last = await probe().then((status) => `status ${status}`, String);
      if (last === "status 200") {
        return;
      }
      await sleep(POLL_MS);
    }
    const ended = this.#failure?.message ?? "it ended";
    const why = this.#isRunning() ? `not ready in ${timeoutMs} ms (${last})` : ended;
    throw new Error(`${this.#command}: ${why}\n${await this.logTail()}`);
  }

  async logTail(): Promise<string> {
    return (await readFile(this.#log, "utf8")).slice(-LOG_TAIL_CHARS);
  }

  /** Stops it where it is; `resume` lets it go on. Whoever asks it something meanwhile waits. */
  pause(): void {
    this.#child?.kill("SIGSTOP");
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** The signal is sent at once; resolves when the process has ended. SIGTERM lets it end its own processes. */
  async kill(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    if (this.#child !== undefined && this.#isRunning()) {
      const ended = once(this.#child, "exit");
      this.#child.kill(signal);
      await ended;
    }
  }

  #isRunning(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }
}

/** The folder that a script of test/tools prints: what it builds is there at the first call on a machine, after minutes. */
export async function installed(script: string): Promise<string> {
  const path = fileURLToPath(new URL(`../tools/${script}`, import.meta.url));
  const running = promisify(execFile)("bash", [path], { encoding: "utf8", maxBuffer: 1 << 24 });
  running.child.stderr?.pipe(process.stderr, { end: false });
  const { stdout } = await running;
  return stdout.trimEnd().replace(/^.*\n/s, ""); // the last line
}

/**
 * As `installed`, for a server that tests can do without: undefined where it is not there and FAIRLEAD_TEST_DEADLINE leaves
 * no time to build it, which stderr says. For the top level of a test file, where no time limit runs yet.
 */
export async function installedInTime(script: string): Promise<string | undefined> {
  try {
    return await installed(script);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === NO_TIME)) throw error;
    return undefined;
  }
}

/**
 * A port of the loopback address on which nobody listens. Not one that the system would give away by itself, to another
 * worker or to a connection, before the server that it is meant for listens there.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_PER_WORKER; tries++) {
    const port = firstPort + (nextPort++ % PORTS_PER_WORKER);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`no port from ${firstPort} on is free`);
}
