import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** How `fairlead serve` is run on a fleet. */
export interface ServeOptions {
  /** Where its configuration is written. */
  readonly folder: string;
  /** Base URL of the fleet's API server. */
  readonly apiUrl: string;
  /** On loopback. */
  readonly port: number;
  readonly probePort: number;
  /** Further lines of the configuration, YAML. */
  readonly config?: string;
  /** Further flags of Node. */
  readonly nodeFlags?: readonly string[];
  /** Further flags of `serve`. */
  readonly flags?: readonly string[];
}

/** Writes what `serve` reads, and returns the words of its command, Node first. */
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
    // As the product is started (scripts/bootstrap.mjs).
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

/** Waits until `/readyz` of a started `serve` answers with 200; rejects when it ends before, or does not within ten minutes. */
export async function untilReady(served: ChildProcess, probePort: number): Promise<void> {
  const deadline = performance.now() + startMilliseconds;
  while ((await statusOf(probePort, "/readyz", "")) !== 200) {
    if (served.exitCode !== null || performance.now() > deadline) throw new Error("serve did not become ready");
    await wait(500);
  }
}

/** Of a whole answer; 0 where it broke off or took half a minute. */
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
