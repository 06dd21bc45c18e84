import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type RunningPrometheus } from "../../../cli/demo/prometheus.ts";
import type { ScrapedValue } from "./life.ts";

/** A real Prometheus that has scraped these values, in its own time. */
export async function prometheusWith(values: readonly ScrapedValue[]): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-history-"));
  await writeFile(join(folder, "values.om"), openMetrics(values));
  const made = spawnSync("promtool", [
    "tsdb",
    "create-blocks-from",
    "openmetrics",
    join(folder, "values.om"),
    join(folder, "data"),
  ]);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  await writeFile(join(folder, "prometheus.yml"), "");
  const port = await freePort();
  return await started(folder, port, "/-/ready", "prometheus", [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    "--storage.tsdb.retention.time=50y",
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
}

/** The same of VictoriaMetrics. */
export async function victoriaMetricsWith(values: readonly ScrapedValue[]): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-history-"));
  const port = await freePort();
  const server = await started(folder, port, "/health", "victoria-metrics", [
    `-storageDataPath=${join(folder, "data")}`,
    `-httpListenAddr=127.0.0.1:${port}`,
    "-retentionPeriod=50y",
    "-search.latencyOffset=0s",
  ]);
  const lines = values.map((one) => `${one.metric}${labelText(one)} ${one.value} ${one.at * 1000}\n`);
  const sent = await fetch(`${server.url}/api/v1/import/prometheus`, { method: "POST", body: lines.join("") });
  if (!sent.ok) throw new Error(await sent.text());
  await fetch(`${server.url}/internal/force_flush`);
  return server;
}

async function started(
  folder: string,
  port: number,
  ready: string,
  program: string,
  flags: readonly string[],
): Promise<RunningPrometheus> {
  const child = spawn(program, flags, { stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < 150; tries++) {
    const ok = await fetch(`${url}${ready}`).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return { url, stop };
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await stop();
  throw new Error(`${program} did not come up`);
}

function openMetrics(values: readonly ScrapedValue[]): string {
  const lines: string[] = [];
  let metric = "";
  for (const one of values.toSorted((a, b) => (a.metric < b.metric ? -1 : a.metric > b.metric ? 1 : 0))) {
    if (one.metric !== metric) lines.push(`# TYPE ${one.metric.replace(/_total$/, "")} counter\n`);
    metric = one.metric;
    lines.push(`${metric}${labelText(one)} ${one.value} ${one.at}\n`);
  }
  return `${lines.join("")}# EOF\n`;
}

function labelText({ labels }: ScrapedValue): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(",")}}`;
}
