import { setTimeout as wait } from "node:timers/promises";
import { buildExporter, type ExporterStack } from "../cli/exporterStack.ts";
import { type Config, configSchema } from "../exporter/config/schema.ts";
import type { StageRunner } from "../exporter/cycle.ts";
import { createApiClient } from "../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../exporter/sources/kubernetes/credentials.ts";
import type { Fleet } from "./fleet/fleet.ts";
import { gpusPerNode } from "./fleet/layout.ts";
import { ownCpuSeconds, type Sample } from "./measure.ts";

/** Fairlead itself on a fleet, driven by calls instead of timers. */
export interface Product {
  readonly stack: ExporterStack;
  readonly config: Config;
  /** Reads the first list of all objects, until owners are read as well. */
  sync(): Promise<Sample>;
  /**
   * Changes 1 % of the pods, and then runs a whole cycle, which is 30 s after the one before by its own clock. Returns what
   * each stage took. `own`: pages are read by the exporter's own timers.
   */
  cycle(pages?: "all now" | "own"): Promise<ReadonlyMap<string, Sample>>;
  stop(): Promise<void>;
}

const patienceMs = 120_000;

export function createProduct(fleet: Fleet): Product {
  const config = configSchema.parse({ cluster: "bench" });
  const startedAt = Math.floor(Date.now() / 1000);
  let cycles = 0;
  let stages = new Map<string, Sample>();
  const runStage: StageRunner = (stage, work) => timed(stages, stage, async () => await work());
  const monotonic = (): number => cycles * config.interval;
  const now = (): number => startedAt + monotonic();
  const client = createApiClient(anonymousCredentials(fleet.apiUrl), systemClock);
  const stack = buildExporter({
    config,
    client,
    now,
    monotonic,
    telemetryPath: "/metrics",
    users: {},
    runStage,
  });

  const untilVersion = async (version: string): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    while (stack.kubernetes.status().pods.resourceVersion !== version) {
      if (performance.now() > deadline) throw new Error(`the watch of pods did not come to version ${version}`);
      await wait(1);
    }
  };

  return {
    stack,
    config,
    sync: async () => {
      const one = new Map<string, Sample>();
      await timed(one, "sync", () => stack.kubernetes.start());
      return one.get("sync") ?? { cpuMs: Number.NaN, wallMs: Number.NaN };
    },
    cycle: async (pages = "all now") => {
      cycles += 1;
      stages = new Map();
      await timed(stages, "watch", async () => untilVersion((await fleet.advance(cycles)).version));
      if (pages === "all now") await timed(stages, "receive and parse", () => stack.dcgm.scrapeOnce(now()));
      await stack.cycle.run();
      return stages;
    },
    stop: async () => {
      await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop()]);
      await client.close();
    },
  };
}

async function timed<T>(into: Map<string, Sample>, stage: string, work: () => Promise<T>): Promise<T> {
  const cpuFrom = ownCpuSeconds();
  const from = performance.now();
  const result = await work();
  into.set(stage, { cpuMs: (ownCpuSeconds() - cpuFrom) * 1000, wallMs: performance.now() - from });
  return result;
}

/** The sum of all stages. */
export function wholeOf(stages: ReadonlyMap<string, Sample>): Sample {
  let [cpuMs, wallMs] = [0, 0];
  for (const stage of stages.values()) {
    cpuMs += stage.cpuMs;
    wallMs += stage.wallMs;
  }
  return { cpuMs, wallMs };
}

/** Throws unless the accounts show the whole fleet, because a fast cycle would prove nothing otherwise. */
export function assertWhole(product: Product, nodes: number): void {
  const analysis = product.stack.latest()?.analysis;
  const devices = analysis?.snapshot.devices.filter(({ reading }) => reading !== null).length ?? 0;
  if (devices !== nodes * gpusPerNode) {
    const problems = product.stack.problems().map(({ message }) => message);
    throw new Error(`${devices} of ${nodes * gpusPerNode} GPUs are observed: ${problems.slice(0, 5).join("; ")}`);
  }
}
