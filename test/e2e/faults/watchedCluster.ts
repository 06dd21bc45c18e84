import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { compareWithTruth, type Difference } from "../../../cli/demo/compareWithTruth.ts";
import { type PlayedCluster, type PlayOptions, playCluster } from "../../../cli/demo/playCluster.ts";
import { createKubernetesLog } from "../../../cli/kubernetesLog.ts";
import { createProblemLog } from "../../../cli/problemLog.ts";
import { configSchema } from "../../../exporter/config/schema.ts";
import { unassigned } from "../../../exporter/join/teamOf.ts";
import type { Fault } from "../../../simulator/faults.ts";
import { demoScenario } from "../../../simulator/scenarios/demo.ts";
import { expectClosedAccounts, latest, startAt, sum } from "../accounting.ts";
import { expectNothingFell, totalsOnPage } from "../counters.ts";

/** One line of the log. */
export interface LogLine {
  readonly level: "debug" | "info" | "warn";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** The demo's cluster without faults of its own, an exporter on it, and everything that the exporter logs. */
export interface WatchedCluster {
  readonly cluster: PlayedCluster;
  readonly lines: readonly LogLine[];
  /** Switches faults on, and lets the exporter notice what they break off; the returned function switches them off. */
  fault(faults: readonly Fault[]): Promise<() => void>;
  /** Lets 30 s go by; the accounting must add up after it, whatever happens. */
  step(): Promise<void>;
  /** Steps until nothing is wrong and all numbers are true, at most twenty times. */
  recover(): Promise<void>;
  /** What a page of HTTP answers. */
  get(path: string): Promise<{ readonly status: number; readonly text: string }>;
  differences(): readonly Difference[];
  stop(): Promise<void>;
}

/** Longer than any play, seconds. */
const plays = 7 * 24 * 3600;

/** An API that is out of order is looked at so many times in each step. */
const looks = 50;

/** How a cluster is watched. */
export interface WatchOptions extends Pick<NonNullable<PlayOptions["stack"]>, "runStage"> {
  /**
   * What is slow is a problem after a second, as the faults that are slow take real time. Elsewhere the limits are wide, so that a
   * busy machine is no fault.
   */
  readonly shortLimits?: boolean;
  /** No fault of the API is played: nothing of it breaks off that would have to be waited for. */
  readonly isApiInOrder?: boolean;
}

const configFor = (shortLimits: boolean) =>
  configSchema.parse({
    cluster: "harbor",
    teams: [{ from: "namespace-label", key: "team" }],
    ...(shortLimits ? { dcgm: { timeoutSeconds: 1 } } : {}),
    // Small pages, so that lists have continue tokens; a short age limit, so that few steps pass it.
    kubernetes: { pageSize: 20, maxAgeSeconds: 120 },
    // List prices grow old, which is worth knowing and none of these faults.
    prices: { table: false },
  });

export async function watchDemoCluster(options: WatchOptions = {}): Promise<WatchedCluster> {
  const { runStage, shortLimits = false, isApiInOrder = false } = options;
  const lines: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const log = { debug: write("debug"), info: write("info"), warn: write("warn") };
  const cluster = await playCluster({
    scenario: { ...demoScenario(), faults: [] },
    seed: 7,
    startAt,
    config: configFor(shortLimits),
    hurriedApi: true,
    isApiInOrder,
    stack: {
      kubernetes: {
        slowAnswerSeconds: shortLimits ? 1.5 : 60,
        // Owners are read again at random moments. One that falls into a fault, of a pod that owns pods, is a problem of its own.
        ownerLimits: { maxAgeSeconds: plays, maxProgressAgeSeconds: plays },
        ...createKubernetesLog(log),
      },
      ...(runStage === undefined ? {} : { runStage }),
    },
  });
  const reportProblems = createProblemLog(log);
  let totals: ReadonlyMap<string, number> = new Map();
  const step = async (seconds = 30): Promise<void> => {
    await (isApiInOrder ? cluster.step(seconds) : cluster.step(seconds, looks));
    reportProblems(cluster.stack.problems());
    if (cluster.stack.latest() === null) return;
    expectClosedAccounts(latest(cluster));
    totals = expectClosedTotals(cluster, totals);
  };
  const differences = (): readonly Difference[] =>
    compareWithTruth(latest(cluster), cluster.simulator.truth(), unassigned).differences;
  await cluster.step(0);
  await step();
  return {
    cluster,
    lines,
    fault: async (faults) => {
      const isCut = faults.some(({ kind }) => kind === "api-watch-cut");
      const wanted = brokenWatches(cluster) + (isCut ? cluster.simulator.openWatches() : 0);
      const off = faults.map((fault) => cluster.simulator.fault(fault));
      const deadline = Date.now() + noticingMs;
      while (brokenWatches(cluster) < wanted) {
        if (Date.now() > deadline)
          throw new Error(`${brokenWatches(cluster)} of ${wanted} watches noticed that they were cut`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return () => {
        for (const one of off) one();
      };
    },
    step: () => step(),
    recover: async () => {
      for (let i = 0; i < 20; i++) {
        await step();
        if (cluster.stack.problems().length === 0 && differences().length === 0) return;
      }
    },
    get: (path) => getFrom(cluster, path),
    differences,
    stop: () => cluster.stop(),
  };
}

/** A loaded machine notices a connection that broke off within this time. */
const noticingMs = 240_000;

/** Watches that broke off since the start. */
function brokenWatches(cluster: PlayedCluster): number {
  return sum(Object.values(cluster.stack.kubernetes.status()).map(({ restarts }) => restarts.broken));
}

/** No running total fell, every second of every GPU is counted, and the sums by device and by pod are the same. */
function expectClosedTotals(cluster: PlayedCluster, before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const after = totalsOnPage(cluster);
  expectNothingFell(before, after);
  const totalOf = (name: string): number =>
    sum([...after].filter(([key]) => key.startsWith(`${name} `)).map(([, value]) => value));
  const physical = 176 * totalOf("fairlead_covered_seconds_total");
  if (before.size > 0) expect(physical).toBeGreaterThan(0);
  expect(Math.abs(totalOf("fairlead_gpu_seconds_total") - physical)).toBeLessThanOrEqual(1e-9 * physical);
  expect(totalOf("fairlead_accounting_imbalance_gpu_seconds_total")).toBeLessThanOrEqual(1e-9 * physical);
  return after;
}

async function getFrom(cluster: PlayedCluster, path: string): Promise<{ status: number; text: string }> {
  const server = cluster.stack.app.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: "close" } });
  const text = await response.text();
  await new Promise((resolve) => server.close(resolve));
  return { status: response.status, text };
}
