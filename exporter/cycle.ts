import { performance } from "node:perf_hooks";
import { analyse } from "./analysis/analyse.ts";
import type { Analysis } from "./analysis/analysis.ts";
import type { Config } from "./config/schema.ts";
import { join } from "./join/join.ts";
import { emptyMemory, type Memory } from "./join/memory.ts";
import type { ClusterState } from "./model/cluster.ts";
import type { Problem } from "./model/problem.ts";
import type { CycleStage, Health, SourceHealth } from "./publish/health.ts";
import type { DcgmState } from "./sources/dcgm/target.ts";
import type { KubernetesState } from "./sources/kubernetes/state.ts";
import type { Source } from "./sources/port.ts";

/** Runs one stage of a cycle and measures or traces it. */
export type StageRunner = <T>(stage: CycleStage, work: () => T | Promise<T>) => Promise<T>;

/** What a cycle is made of. Time comes in as a function, so that a simulation can run faster than the clock. */
export interface CycleOptions {
  readonly config: Config;
  readonly version: string;
  readonly kubernetes: Source<KubernetesState>;
  readonly dcgm: Source<DcgmState>;
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** Hands the result to the faces; its time counts as stage `publish`. */
  readonly publish: (analysis: Analysis, health: Health) => Promise<void>;
  readonly runStage?: StageRunner;
}

/** The exporter's heartbeat: reads the sources, joins, analyses, publishes, and remembers what the next cycle needs. */
export interface Cycle {
  /** Runs one cycle. Never throws: a fault inside is a problem, and the last answers stay. */
  run(): Promise<void>;
  health(): Health;
  /** The last complete answers; `null` before the first cycle. */
  latest(): Analysis | null;
}

const untraced: StageRunner = async (_stage, work) => await work();

/** Creates a cycle over the two sources of the moment. */
export function createCycle(options: CycleOptions): Cycle {
  const { config, kubernetes, dcgm, now, runStage = untraced } = options;
  const startedAt = now();
  let memory: Memory = emptyMemory;
  let analysis: Analysis | null = null;
  let lastCycleAt: number | null = null;
  let fault: Problem | null = null;
  let stageSeconds: Partial<Record<CycleStage, number>> = {};
  const cycles = { ok: 0, failed: 0 };

  function health(): Health {
    const parts = [...kubernetes.problems(), ...dcgm.problems()];
    const joined = analysis?.snapshot.problems ?? [];
    return {
      cluster: config.cluster,
      version: options.version,
      startedAt,
      intervalSeconds: config.interval,
      sources: [sourceHealth(kubernetes, ["nodes", "pods"], false), sourceHealth(dcgm, [], true)],
      problems: [...(fault === null ? [] : [fault]), ...parts, ...joined],
      lastCycleAt,
      stageSeconds,
      cycles: { ...cycles },
    };
  }

  async function run(): Promise<void> {
    const timings: Partial<Record<CycleStage, number>> = {};
    const timed: StageRunner = async (stage, work) => {
      const from = performance.now();
      const result = await runStage(stage, work);
      timings[stage] = (performance.now() - from) / 1000;
      return result;
    };
    try {
      const at = now();
      const state = await timed("collect", () => collect(kubernetes.read(), dcgm.read()));
      const joined = await timed("join", () => join(state, memory, config, at));
      const idle = { idleBatchSeconds: config.idle.batchSeconds, idleServingSeconds: config.idle.servingSeconds };
      const answers = await timed("analyse", () => analyse(joined.snapshot, idle));
      memory = joined.memory;
      analysis = answers;
      lastCycleAt = at;
      fault = null;
      cycles.ok += 1;
      stageSeconds = timings;
      await timed("publish", () => options.publish(answers, health()));
    } catch (error) {
      cycles.failed += 1;
      fault = cycleFault(error);
    }
    stageSeconds = timings;
  }

  return { run, health, latest: () => analysis };
}

function collect(objects: KubernetesState, telemetry: DcgmState): ClusterState {
  return {
    nodes: objects.nodes,
    pods: objects.pods,
    namespaces: objects.namespaces,
    priorityClasses: objects.priorityClasses,
    podDisruptionBudgets: objects.podDisruptionBudgets,
    resourceClaims: objects.resourceClaims,
    resourceSlices: objects.resourceSlices,
    owners: objects.owners,
    known: objects.known,
    telemetry: telemetry.pages,
    problems: [],
  };
}

function sourceHealth(source: Source<unknown>, required: readonly string[], telemetry: boolean): SourceHealth {
  return { source: source.name, parts: source.freshness(), required, telemetry };
}

function cycleFault(error: unknown): Problem {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return {
    source: "cycle",
    code: "cycle-failed",
    severity: "error",
    subject: null,
    message: `the last cycle failed (${message}); the answers before it stay until they are too old`,
    nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
  };
}
