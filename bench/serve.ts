import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The options with which `fairlead serve` is run on a fleet. */
export interface ServeOptions {
  /** The folder in which its configuration is written. */
  readonly folder: string;
  /** Base URL of the fleet's API server. */
  readonly apiUrl: string;
  /** Its port on loopback. */
  readonly port: number;
  readonly probePort: number;
  /** Additional lines of the configuration, in YAML. */
  readonly config?: string;
  /** Additional flags of Node. */
  readonly nodeFlags?: readonly string[];
  /** Additional flags of `serve`. */
  readonly flags?: readonly string[];
}

/** Writes the files that `serve` reads, and returns the words of its command, beginning with Node. */
export function serveCommand(options: ServeOptions): readonly string[] {
  const { folder, apiUrl, port, probePort, config = "", nodeFlags = [], flags = [] } = options;
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const cluster = `clusters: [{name: a, cluster: {server: "${apiUrl}"}}]`;
  const context =
    "users: [{name: a, user: {}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a";
  const kubeconfig = file("kubeconfig.yaml", `apiVersion: v1\nkind: Config\n${cluster}\n${context}\n`);
  const read = file("fairlead.yaml", `kubernetes: { kubeconfig: ${kubeconfig} }\n${config}`);
  const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
  return [
    process.execPath,
    // The product is started with this flag, too (scripts/bootstrap.mjs).
    "--max-semi-space-size=8",
    ...nodeFlags,
    main,
    "serve",
    `--config.file=${read}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--health-probe-bind-address=127.0.0.1:${probePort}`,
    "--log.level=warn",
    ...flags,
  ];
}

const startMilliseconds = 600_000;

/**
 * Waits until `/readyz` of a started `serve` answers with 200; rejects if the process ends before that, or if there is no such
 * answer within ten minutes.
 */
export async function untilReady(served: ChildProcess, probePort: number): Promise<void> {
  const deadline = performance.now() + startMilliseconds;
  while ((await statusOf(probePort, "/readyz", "")) !== 200) {
    if (served.exitCode !== null || performance.now() > deadline) throw new Error("serve did not become ready");
    await wait(500);
  }
}

/** The status of an answer that arrived completely; 0 if it broke off or took half a minute. */
export function statusOf(port: number, path: string, authorization: string): Promise<number> {
  const headers = { ...(authorization === "" ? {} : { authorization }), "accept-encoding": "gzip" };
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(30_000);
    const asked = request({ port, host: "127.0.0.1", path, headers, agent: false, signal }, (response) => {
      response.on("error", () => resolve(0)).resume();
      response.on("close", () => resolve(response.complete ? (response.statusCode ?? 0) : 0));
    });
    asked.on("error", () => resolve(0));
    asked.end();
  });
}
