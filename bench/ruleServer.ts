/** A server that has scraped a fleet and one page of `kube_pod_labels`, and evaluates rules over both. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Fleet } from "./fleet/fleet.ts";
import { gpusPerNode, nodeAddress, podsPerNode } from "./fleet/layout.ts";
import { type Contender, type Measurement, summary } from "./measure.ts";
import { exactCpuSecondsOf, untilIdle } from "./processCpu.ts";
import type { RuleProgram } from "./ruleProgram.ts";

/** The metrics that a capacity dashboard would join; Prometheus keeps no others of the pages. */
const joinedMetrics = [
  "DCGM_FI_DEV_GPU_UTIL",
  "DCGM_FI_DEV_MEM_COPY_UTIL",
  "DCGM_FI_DEV_FB_USED",
  "DCGM_FI_DEV_FB_FREE",
  "DCGM_FI_DEV_POWER_USAGE",
  "DCGM_FI_DEV_GPU_TEMP",
  "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
  "DCGM_FI_PROF_DRAM_ACTIVE",
] as const;

/**
 * The number of evaluations in a sample. One evaluation may leave its garbage to the next one, so the cost of a rule is a mean.
 */
const evaluationsPerSample = 4;
/** A join that gives fewer teams than even 100 nodes have was evaluated on pages that are not there. */
const fewestTeams = 50;
export const oneRule = "one group_left rule over one metric";
export const eightRules = "eight group_left rules";

/** The expression of a recording rule: a metric of GPUs by the team of the pod that holds them. */
const ruleOf = (metric: string): string =>
  `sum by (label_team) (${metric} * on (namespace, pod) group_left (label_team) kube_pod_labels)`;

/** The server at rest: it has scraped everything, and has no targets any more. */
export interface RuleServer {
  readonly pid: number;
  /** Contenders that evaluate instant queries; their measurements must go through `perEvaluation`. */
  readonly contenders: {
    readonly one: Contender;
    readonly eight: Contender;
    readonly plainSum: Contender;
  };
  stop(): Promise<void>;
}

/** Starts a server with `intervalSeconds` between two scrapes of a target, and waits until it has scraped everything. */
export async function startRuleServer(
  program: RuleProgram,
  nodes: number,
  fleet: Fleet,
  intervalSeconds: number,
  onStart: (pid: number) => void,
): Promise<RuleServer> {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-bench-"));
  const port = await freePort();
  const config = join(folder, "prometheus.yml");
  writeFileSync(config, configuration(nodes, fleet.exporterPort, intervalSeconds));
  const server = spawn(program.command, program.args(config, folder, `127.0.0.1:${port}`), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const pid = server.pid ?? 0;
  onStart(pid);
  const stop = async (): Promise<void> => {
    server.kill("SIGKILL");
    await wait(200);
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    const at = await untilScraped(url, nodes);
    // Without targets, nothing is scraped during the measurement. What was scraped before stays available at its time.
    writeFileSync(config, "scrape_configs: []\n");
    await fetch(`${url}/-/reload`, { method: "POST" });
    await untilIdle(pid, 60);
    return { pid, contenders: contendersOf(program.prefix, url, at, () => exactCpuSecondsOf(pid)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function contendersOf(prefix: string, url: string, at: number, cpuSeconds: () => number): RuleServer["contenders"] {
  const evaluate = async (metrics: readonly string[]): Promise<void> => {
    for (const metric of metrics) {
      const results = await query(url, ruleOf(metric), at);
      if (results.length < fewestTeams) throw new Error(`the join of ${metric} gave ${results.length} teams`);
    }
  };
  const repeated = Array.from({ length: evaluationsPerSample }, () => joinedMetrics[0]);
  return {
    one: { name: `${prefix}${oneRule}`, run: () => evaluate(repeated), cpuSeconds },
    eight: { name: `${prefix}${eightRules}`, run: () => evaluate(joinedMetrics), cpuSeconds },
    plainSum: {
      name: `${prefix}plain sum without a join`,
      run: () => query(url, `sum by (namespace) (${joinedMetrics[0]})`, at),
      cpuSeconds,
    },
  };
}

/** A measurement per evaluation: samples of the single rule contain several evaluations. */
export function perEvaluation(one: Measurement): Measurement {
  if (!one.name.endsWith(oneRule)) return one;
  const samples = one.samples.map(({ cpuMs, wallMs }) => ({
    cpuMs: cpuMs / evaluationsPerSample,
    wallMs: wallMs / evaluationsPerSample,
  }));
  return summary(one.name, evaluationsPerSample, samples);
}

function configuration(nodes: number, exporterPort: number, intervalSeconds: number): string {
  const targets = Array.from({ length: nodes }, (_, node) => `${nodeAddress(node)}:${exporterPort}`);
  const job = (name: string, hosts: readonly string[], more: object) => ({
    job_name: name,
    honor_labels: true,
    scrape_interval: `${intervalSeconds}s`,
    scrape_timeout: `${Math.min(10, intervalSeconds)}s`,
    static_configs: [{ targets: hosts }],
    ...more,
  });
  const keep = { source_labels: ["__name__"], regex: joinedMetrics.join("|"), action: "keep" };
  // JSON is also valid YAML.
  return JSON.stringify({
    scrape_configs: [
      job("dcgm", targets, { metric_relabel_configs: [keep] }),
      job("kube-state-metrics", [`127.0.0.1:${exporterPort}`], { metrics_path: "/pod-labels" }),
    ],
  });
}

/** Waits until every page was scraped once. Returns a time at which all of these samples are available. */
async function untilScraped(url: string, nodes: number): Promise<number> {
  const deadline = performance.now() + 600_000;
  const wanted = nodes * gpusPerNode;
  const pods = nodes * podsPerNode;
  while (performance.now() < deadline) {
    await wait(2000);
    const at = Date.now() / 1000 - 1;
    const gpus = await query(url, `count(${joinedMetrics[7]})`, at).catch(() => []);
    const labels = await query(url, "count(kube_pod_labels)", at).catch(() => []);
    if (Number(gpus[0]?.value?.[1]) === wanted && Number(labels[0]?.value?.[1]) === pods) return at;
  }
  throw new Error("the server did not scrape the whole fleet within 10 minutes");
}

interface InstantResult {
  readonly value?: readonly [number, string];
}

async function query(url: string, expression: string, at: number): Promise<readonly InstantResult[]> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}&time=${at}`);
  const answer: unknown = await response.json();
  if (typeof answer !== "object" || answer === null || !("data" in answer)) throw new Error(JSON.stringify(answer));
  const { data } = answer;
  if (typeof data !== "object" || data === null || !("result" in data) || !Array.isArray(data.result)) return [];
  return data.result;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
