import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, type RunningPrometheus } from "../../../cli/demo/prometheus.ts";
import { listeningOn, type ServerProgram, startedServer } from "../../startedServer.ts";
import type { ScrapedValue } from "./lifecycle.ts";

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
  return await started(folder, {
    program: "prometheus",
    flags: [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      "--storage.tsdb.retention.time=50y",
      "--web.listen-address=127.0.0.1:0",
    ],
    address: listeningOn,
    ready: "/-/ready",
  });
}

/** The same of VictoriaMetrics. */
export async function victoriaMetricsWith(values: readonly ScrapedValue[]): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-history-"));
  // It does not say which port it was given: where another program takes this one first, it ends and says so.
  const port = await freePort();
  const server = await started(folder, {
    program: "victoria-metrics",
    flags: [
      `-storageDataPath=${join(folder, "data")}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      "-retentionPeriod=50y",
      "-search.latencyOffset=0s",
    ],
    address: /starting http server at http:\/\/([\d.:]+)\//,
    ready: "/health",
  });
  const lines = values.map((one) => `${one.metric}${labelText(one)} ${one.value} ${one.at * 1000}\n`);
  const sent = await fetch(`${server.url}/api/v1/import/prometheus`, { method: "POST", body: lines.join("") });
  if (!sent.ok) throw new Error(await sent.text());
  await fetch(`${server.url}/internal/force_flush`);
  return server;
}

async function started(folder: string, program: ServerProgram): Promise<RunningPrometheus> {
  const { url, stop } = await startedServer(program);
  return {
    url,
    async stop() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
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

/** All values of a series have the same object of labels. */
const labelTexts = new WeakMap<ScrapedValue["labels"], string>();

function labelText({ labels }: ScrapedValue): string {
  const known = labelTexts.get(labels);
  if (known !== undefined) return known;
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const text = `{${pairs.join(",")}}`;
  labelTexts.set(labels, text);
  return text;
}
