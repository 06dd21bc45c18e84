import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningPrometheus, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import type { DeviceReading } from "../../exporter/model/telemetry.ts";
import type { DcgmSource } from "../../exporter/sources/dcgm/dcgmSource.ts";
import type { DiscoveredPod } from "../../exporter/sources/dcgm/discover.ts";
import { createPrometheusSource, type PrometheusServer } from "../../exporter/sources/dcgm/prometheusSource.ts";
import { createGetPool } from "../../exporter/sources/http/getPool.ts";
import { listen } from "../../simulator/listen.ts";

/** Whether Debian's Prometheus is there; says so when it is not. */
export function hasPrometheus(): boolean {
  return isInstalled("prometheus");
}

/** The same of VictoriaMetrics. */
export function hasVictoriaMetrics(): boolean {
  return isInstalled("victoria-metrics");
}

function isInstalled(program: "prometheus" | "victoria-metrics"): boolean {
  const found = spawnSync(program, ["--version"]).status === 0;
  if (!found) process.stdout.write(`skipped: ${program} is not installed (Debian: apt-get install ${program})\n`);
  return found;
}

/** One address to scrape, and the labels that service discovery would have given it. */
export interface ScrapedTarget {
  readonly address: string;
  readonly path: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** One scrape configuration. */
export interface ScrapeJob {
  readonly name: string;
  readonly honorLabels: boolean;
  readonly targets: readonly ScrapedTarget[];
}

/** A Prometheus that scrapes the jobs every second, and has scraped each target that answers at least once. */
export async function scrapeWithPrometheus(jobs: readonly ScrapeJob[]): Promise<RunningPrometheus> {
  const prometheus = await startPrometheusWith(configOf(jobs));
  if (prometheus === null) throw new Error("prometheus is installed but did not come up");
  return await afterScrapes(prometheus, jobs);
}

/** The same with VictoriaMetrics, which by default answers as of 30 s ago; here as of now. */
export async function scrapeWithVictoriaMetrics(jobs: readonly ScrapeJob[]): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-victoria-"));
  await writeFile(join(folder, "scrape.yml"), configOf(jobs));
  const free = await listen(() => {});
  await free.close();
  const child = spawn(
    "victoria-metrics",
    [
      `-promscrape.config=${join(folder, "scrape.yml")}`,
      `-storageDataPath=${join(folder, "data")}`,
      `-httpListenAddr=127.0.0.1:${free.port}`,
      "-search.latencyOffset=0s",
    ],
    { stdio: "ignore" },
  );
  const stop = async (): Promise<void> => {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  return await afterScrapes({ url: `http://127.0.0.1:${free.port}`, stop }, jobs);
}

/** A scrape configuration; JSON is YAML. */
function configOf(jobs: readonly ScrapeJob[]): string {
  return JSON.stringify({
    global: { scrape_interval: "1s", scrape_timeout: "1s" },
    scrape_configs: jobs.map(({ name, honorLabels, targets }) => ({
      job_name: name,
      honor_labels: honorLabels,
      static_configs: targets.map(({ address, path, labels }) => ({
        targets: [address],
        labels: { ...labels, __metrics_path__: path },
      })),
    })),
  });
}

async function afterScrapes(server: RunningPrometheus, jobs: readonly ScrapeJob[]): Promise<RunningPrometheus> {
  const wanted = jobs.reduce((sum, { targets }) => sum + targets.length, 0);
  for (let tries = 0; tries < 150; tries++) {
    if ((await count(server.url, "up")) === wanted) return server;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await server.stop();
  throw new Error(`${server.url} did not scrape all targets`);
}

/** How many series an expression gives now. */
export async function count(url: string, expression: string): Promise<number> {
  const query = encodeURIComponent(`count(${expression}) or vector(0)`);
  const answer = await fetch(`${url}/api/v1/query?query=${query}`).then(
    (response) => response.text(),
    () => "",
  );
  const found = /"value":\[[^,]*,"(\d+)"\]/.exec(answer);
  return Number(found?.[1] ?? 0);
}

/** A source that asks this server, driven by hand; what is not said is as the default configuration has it. */
export function serverSource(
  url: string,
  more: {
    readonly server?: Partial<PrometheusServer>;
    readonly exporters?: readonly DiscoveredPod[];
    readonly now?: () => number;
    readonly schedule?: (seconds: number, callback: () => void) => () => void;
    readonly maxAnswerBytes?: number;
  } = {},
): DcgmSource {
  const now = more.now ?? (() => Date.now() / 1000);
  return createPrometheusSource({
    server: {
      url,
      auth: { kind: "none" },
      caFile: null,
      insecureSkipVerify: false,
      headers: {},
      matchers: {},
      nodeLabel: null,
      timeoutSeconds: 10,
      ...more.server,
    },
    pool: createGetPool({
      timeoutSeconds: more.server?.timeoutSeconds ?? 10,
      maxBytes: more.maxAnswerBytes ?? 64 * 1024 * 1024,
      errorBytes: 4096,
      concurrency: 1,
      backOff: { firstSeconds: 0, maxSeconds: 0 },
      accept: "application/json",
      keepAliveSeconds: 90,
      now,
      random: () => 0.5,
    }),
    intervalSeconds: 30,
    exporters: () => ({ pods: more.exporters ?? [], rejected: [] }),
    knownNodes: () => null,
    now,
    ...(more.schedule === undefined ? {} : { schedule: more.schedule }),
  });
}

/** Devices in one order, whatever page they are on. */
export function inOrder(devices: readonly DeviceReading[]): readonly DeviceReading[] {
  const key = ({ uuid, gpuInstance }: DeviceReading): string => `${uuid} ${gpuInstance ?? ""}`;
  return [...devices].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}
