import { setImmediate } from "node:timers/promises";
import { createAdviser } from "../exporter/advice/adviser.ts";
import { configSchema } from "../exporter/config/schema.ts";
import { createCycle } from "../exporter/cycle.ts";
import type { RenderCache } from "../exporter/publish/prometheus/render.ts";
import { buildPublication, type Publication } from "../exporter/publish/publication.ts";
import type { Source } from "../exporter/sources/port.ts";
import { createAdvisedFleet } from "./advisedFleet.ts";
import { startFleet } from "./fleet/fleet.ts";
import { timeOfCycle } from "./fleetState.ts";
import { ownCpuSeconds } from "./measure.ts";
import { createProduct, wholeOf } from "./product.ts";

/** An exporter whose memory is watched, cycle after cycle. */
export interface SoakSubject {
  /** Words about the cluster, for the report. */
  readonly cluster: string;
  /** Lets the cluster change and runs a cycle; milliseconds of CPU time that the cycle took. */
  cycle(): Promise<number>;
  /** Cycles that failed so far. */
  failed(): number;
  stop(): Promise<void>;
}

export const soakSubjects = {
  /** A cluster without queues, read from its exporters and its API server. */
  wire: async (nodes: number): Promise<SoakSubject> => {
    const fleet = await startFleet(nodes);
    const product = createProduct(fleet);
    await product.sync();
    return {
      cluster: `${nodes} nodes, ${nodes * 8} GPUs and ${nodes * 10} pods on loopback; in each cycle every page has other values, and 1 % of the pods change (half of them are replaced)`,
      cycle: async () => wholeOf(await product.cycle()).cpuMs,
      failed: () => product.stack.cycle.health().cycles.failed,
      stop: async () => {
        await product.stop();
        fleet.stop();
      },
    };
  },
  /** A cluster with queues in which much waits and much can be advised; its objects are in the same process. */
  queues: async (nodes: number): Promise<SoakSubject> => {
    // Long intervals: what is idle is soon idle for long enough to be advised on.
    const config = configSchema.parse({
      cluster: "soak",
      interval: 300,
      idle: { batchSeconds: 600 },
      advice: { idleNodeMinutes: 15, usageHours: 0.1 },
    });
    const fleet = createAdvisedFleet(nodes, "contended");
    let cycles = 0;
    const now = (): number => timeOfCycle(0) + cycles * config.interval;
    let state = fleet.state(now());
    let last: Publication | null = null;
    const rendered: RenderCache = new Map();
    const cycle = createCycle({
      config,
      version: "soak",
      kubernetes: reading("kubernetes", () => ({
        ...state,
        exporterPods: state.exporterPods.map((pod) => ({
          ...pod,
          podIp: "",
          ports: {},
          ready: true,
          owner: null,
          createdAt: null,
        })),
        resourceVersions: {},
        podCount: state.pods.length,
      })),
      dcgm: [
        reading("dcgm", () => ({
          pages: state.telemetry,
          targets: state.telemetry.length,
          targetsUp: state.telemetry.length,
        })),
      ],
      now,
      monotonic: () => cycles * config.interval,
      adviser: createAdviser(config.advice, config.interval),
      onStep: () => {}, // it makes the cycle take what the ledger would be told
      publish: async (analysis, health, accounts, advice) => {
        last = buildPublication({ analysis, health, limits: config.limits, accounts, advice }, "", rendered);
      },
    });
    return {
      cluster: `${nodes} nodes, ${nodes * 8} GPUs, ${nodes / 5} queues in five levels and ${nodes * 5} waiting workloads; every other queue is owed its share, and in each cycle 1 % of the pods and of what waits is replaced. The cluster's objects are in the same process`,
      cycle: async () => {
        cycles += 1;
        state = fleet.state(now());
        const from = ownCpuSeconds();
        await cycle.run();
        const cpuMs = (ownCpuSeconds() - from) * 1000;
        fleet.step();
        // Between two cycles a process waits; what is held weakly is let go only then.
        await setImmediate();
        if (last?.analysis.snapshot.queueing.gangs.length === 0) throw new Error("nothing waits");
        return cpuMs;
      },
      failed: () => cycle.health().cycles.failed,
      stop: async () => {},
    };
  },
} as const satisfies Readonly<Record<string, (nodes: number) => Promise<SoakSubject>>>;

export type SoakSubjectName = keyof typeof soakSubjects;

function reading<State>(name: string, read: () => State): Source<State> {
  return { name, start: async () => {}, stop: async () => {}, read, freshness: () => [], problems: () => [] };
}
