/** A real OpenTelemetry Collector and a real Prometheus with its OTLP receiver, on free loopback ports, for tests. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { until } from "./kubernetesAdmin.ts";

const installer = fileURLToPath(new URL("../tools/install-otel-collector.sh", import.meta.url));

/** The folder with both programs; built at the first call on a machine, which takes minutes. */
export async function installReceivers(): Promise<string> {
  const running = promisify(execFile)("bash", [installer], { encoding: "utf8", maxBuffer: 1 << 24 });
  running.child.stderr?.pipe(process.stderr, { end: false });
  const { stdout } = await running;
  return stdout.trimEnd().replace(/^.*\n/s, ""); // the last line
}

const number = z.union([z.number(), z.string().transform(Number)]);
const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])) }))
  .default([])
  .transform((all) => new Map(all.map(({ key, value }) => [key, Object.values(value)[0]] as const)));
const points = z.object({
  dataPoints: z.array(z.object({ attributes, timeUnixNano: number, asDouble: number })),
  isMonotonic: z.boolean().default(false),
});
const histograms = z.object({
  dataPoints: z.array(
    z.object({
      attributes,
      timeUnixNano: number,
      count: number.default(0),
      sum: z.number().default(0),
      bucketCounts: z.array(number),
      explicitBounds: z.array(z.number()),
    }),
  ),
});
const metric = z.object({
  name: z.string(),
  gauge: points.optional(),
  sum: points.optional(),
  histogram: histograms.optional(),
});
const metrics = z.object({
  resourceMetrics: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeMetrics: z.array(
        z.object({
          metrics: z.array(metric),
        }),
      ),
    }),
  ),
});
const traces = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().default(""),
              name: z.string(),
              attributes,
            }),
          ),
        }),
      ),
    }),
  ),
});

/** A data point as the Collector wrote it. */
export interface CollectedPoint {
  readonly name: string;
  readonly labels: ReadonlyMap<string, unknown>;
  readonly value: number;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly monotonic: boolean;
}

/** A running Collector. */
export interface Collector {
  readonly url: string;
  points(): Promise<readonly CollectedPoint[]>;
  spans(): Promise<readonly z.output<typeof traces>["resourceSpans"][number]["scopeSpans"][number]["spans"][number][]>;
  /** Attributes of everything that sent metrics or traces. */
  resources(): Promise<readonly ReadonlyMap<string, unknown>[]>;
  /** Kills it hard; `start` brings it back on the same port and files. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startCollector(assets: string): Promise<Collector> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-otelcol-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(folder, "config.yaml");
  await writeFile(config, collectorConfig(folder, port));
  let child: ChildProcess | null = null;
  const lines = async (name: string): Promise<unknown[]> => {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    // A line that is being written has no end yet.
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  const collected = async () => (await lines("metrics.json")).flatMap((line) => metrics.parse(line).resourceMetrics);
  const traced = async () => (await lines("traces.json")).flatMap((line) => traces.parse(line).resourceSpans);
  const start = async () => {
    child = startProgram(join(assets, "otelcol"), ["--config", `file:${config}`], join(folder, "otelcol.log"));
    await until("the collector answers", () => answers(`${url}/v1/metrics`));
  };
  const kill = async () => {
    if (child !== null) await killProgram(child);
    for (const name of ["metrics.json", "traces.json"]) await cutTornLine(join(folder, name));
  };
  await start();
  return {
    url,
    points: async () =>
      (await collected())
        .flatMap((one) => one.scopeMetrics.flatMap((scope) => scope.metrics))
        .flatMap(({ name, gauge, sum, histogram }) => [
          ...((gauge ?? sum)?.dataPoints ?? []).map((point) => ({
            name,
            labels: point.attributes,
            value: point.asDouble,
            at: point.timeUnixNano / 1e9,
            monotonic: sum?.isMonotonic ?? false,
          })),
          ...(histogram?.dataPoints ?? []).flatMap((point) => histogramLines(name, point)),
        ]),
    spans: async () => (await traced()).flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
    resources: async () => [...(await collected()), ...(await traced())].map((one) => one.resource.attributes),
    kill,
    start,
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A histogram as the series that a page has of it: cumulative buckets, sum and count. */
function histogramLines(
  name: string,
  point: z.infer<typeof histograms>["dataPoints"][number],
): readonly CollectedPoint[] {
  const base = { at: point.timeUnixNano / 1e9, monotonic: false };
  let below = 0;
  const buckets = point.bucketCounts.map((count, i) => {
    below += count;
    const bound = point.explicitBounds[i];
    const labels = new Map([...point.attributes, ["le", bound === undefined ? "+Inf" : String(bound)] as const]);
    return { ...base, name: `${name}_bucket`, labels, value: below };
  });
  return [
    ...buckets,
    { ...base, name: `${name}_sum`, labels: point.attributes, value: point.sum },
    { ...base, name: `${name}_count`, labels: point.attributes, value: point.count },
  ];
}

/** A killed collector may have written half a line, which the next one would go on with. */
async function cutTornLine(file: string): Promise<void> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text !== null) await writeFile(file, text.slice(0, text.lastIndexOf("\n") + 1));
}

function collectorConfig(folder: string, port: number): string {
  return `receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } }
exporters:
  file/metrics: { path: ${join(folder, "metrics.json")}, append: true, flush_interval: 100ms }
  file/traces: { path: ${join(folder, "traces.json")}, append: true, flush_interval: 100ms }
service:
  telemetry: { metrics: { level: none } }
  pipelines:
    metrics: { receivers: [otlp], exporters: [file/metrics] }
    traces: { receivers: [otlp], exporters: [file/traces] }
`;
}

/** A running Prometheus that takes OTLP at `${url}/api/v1/otlp`, everything at its default. */
export interface OtlpPrometheus {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startOtlpPrometheus(assets: string): Promise<OtlpPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-prometheus-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await writeFile(join(folder, "prometheus.yml"), "{}\n");
  const flags = [
    `--config.file=${join(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--web.enable-otlp-receiver",
  ];
  const child = startProgram(join(assets, "prometheus"), flags, join(folder, "prometheus.log"));
  await until("Prometheus is ready", async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true);
  return {
    url,
    stop: async () => {
      await killProgram(child);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function startProgram(program: string, flags: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, "a");
  const child = spawn(program, flags, { stdio: ["ignore", log, log] });
  closeSync(log);
  const onExit = () => child.kill("SIGKILL");
  process.once("exit", onExit);
  child.once("exit", () => process.removeListener("exit", onExit));
  return child;
}

async function killProgram(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

const answers = async (url: string): Promise<boolean> =>
  await fetch(url).then(
    () => true,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("the probe for a free port listens on none");
  return address.port;
}
