import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Prometheus server that scrapes the demo. */
export interface RunningPrometheus {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** What a Prometheus is to scrape, and how often. */
export interface ScrapedDemo {
  /** The address of the page of metrics. */
  readonly url: string;
  /** Seconds between two scrapes. */
  readonly seconds: number;
  /** The rules to evaluate, by the name of their file. */
  readonly rules: Readonly<Record<string, string>>;
}

/** Starts the installed Prometheus on a free port; `null` when none is installed or it does not come up. */
export function startPrometheus({ url, seconds, rules }: ScrapedDemo): Promise<RunningPrometheus | null> {
  const { host, pathname } = new URL(url);
  const lines = [
    `global: { scrape_interval: ${seconds}s, scrape_timeout: ${seconds}s, evaluation_interval: ${seconds}s }`,
    `rule_files: [${Object.keys(rules)
      .map((file) => JSON.stringify(file))
      .join(", ")}]`,
    `scrape_configs: [{ job_name: fairlead, metrics_path: ${JSON.stringify(pathname)}, static_configs: [{ targets: ["${host}"] }] }]`,
  ];
  return startPrometheusWith(`${lines.join("\n")}\n`, { files: rules });
}

/** How a Prometheus is started: a folder whose `data` is kept when it stops, files beside its configuration, further flags. */
export interface PrometheusOptions {
  readonly folder?: string;
  /** The text of each file, by its name. */
  readonly files?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/**
 * Starts the installed Prometheus with any configuration file, given as text; `null` when none is installed or it does not come
 * up.
 */
export async function startPrometheusWith(
  config: string,
  { folder: keptFolder, flags: moreFlags = [], files = {} }: PrometheusOptions = {},
): Promise<RunningPrometheus | null> {
  const folder = keptFolder ?? (await mkdtemp(join(tmpdir(), "fairlead-prometheus-")));
  const port = await freePort();
  for (const [name, text] of Object.entries({ ...files, "prometheus.yml": config }))
    await writeFile(join(folder, name), text);
  const flags = [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    ...moreFlags,
  ];
  const child = spawn("prometheus", flags, { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await end(child);
    if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
  };
  const failed = once(child, "error").then(() => false);
  const up = await Promise.race([failed, answers(`${url}/-/ready`)]);
  if (up) return { url, stop };
  await stop();
  return null;
}

/** Whether this URL answers with success soon: it is asked a hundred times. */
export async function answers(url: string, everyMilliseconds = 200): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return true;
    await new Promise((resolve) => setTimeout(resolve, everyMilliseconds));
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  await gone;
}

/** A TCP port of the loopback address that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 9090;
}
