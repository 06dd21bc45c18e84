import { performance } from "node:perf_hooks";
import { type AccountedTime, createAccounting } from "./accounts/accounting.ts";
import type { AccountCounters } from "./accounts/counters.ts";
import type { PastIdleTime } from "./accounts/idleHours.ts";
import type { Remembered } from "./accounts/ledger/ledger.ts";
import type { AccruedStep } from "./accounts/posting.ts";
import type { ServedWork } from "./accounts/servedWork.ts";
import type { EndedOnDay } from "./accounts/shapeAccount.ts";
import type { Adviser } from "./advice/adviser.ts";
import { type HabitRow, habitRows } from "./advice/usage/habitRows.ts";
import { analyse, analysisSettings } from "./analysis/analyse.ts";
import type { Analysis } from "./analysis/analysis.ts";
import { createPlacementCache } from "./analysis/placement/measurePlacement.ts";
import { createPriceCache } from "./analysis/prices/priceNodes.ts";
import { priceProblems } from "./analysis/prices/priceProblems.ts";
import type { PastStart } from "./analysis/startTimes/startTimes.ts";
import { createLevelsCache } from "./analysis/topology/levels.ts";
import { collect } from "./collect.ts";
import type { Config } from "./config/schema.ts";
import { join } from "./join/join.ts";
import { createJoinCache } from "./join/joinCache.ts";
import { afterClockJump, emptyMemory, type Memory } from "./join/memory.ts";
import { withFindings } from "./join/remember.ts";
import { noPrices, type PriceList } from "./model/prices.ts";
import type { Problem } from "./model/problem.ts";
import { type Advice, noAdvice } from "./model/recommendation.ts";
import type { StoredAdvice, StoredWithheld } from "./model/storedAdvice.ts";
import type { CycleStage, Health, SourceHealth } from "./publish/health.ts";
import type { DcgmState } from "./sources/dcgm/dcgmSource.ts";
import type { KubernetesState } from "./sources/kubernetes/state.ts";
import type { Source } from "./sources/port.ts";
import type { ServingState } from "./sources/serving/servingSource.ts";

/** Runs one stage of a cycle and measures or traces it. */
export type StageRunner = <T>(stage: CycleStage, work: () => T | Promise<T>) => Promise<T>;

/** What a cycle is made of. Time comes in as a function, so that a simulation can run faster than the clock. */
export interface CycleOptions {
  readonly config: Config;
  readonly version: string;
  readonly kubernetes: Source<KubernetesState>;
  /** Ways in for GPU telemetry, best first. */
  readonly dcgm: readonly Source<DcgmState>[];
  /** The requests of servers, best source first; absent or empty if none is asked. */
  readonly serving?: readonly Source<ServingState>[];
  /** What GPUs cost; absent if prices are unknown. */
  readonly prices?: Source<PriceList>;
  /** Seconds since the epoch. */
  readonly now: () => number;
  /** Seconds on a clock that is never set, by which the length of a step is measured. */
  readonly monotonic: () => number;
  /** Hands the result to the outputs; its time counts as stage `publish`. */
  readonly publish: (analysis: Analysis, health: Health, accounts: AccountCounters, advice: Advice) => Promise<void>;
  readonly runStage?: StageRunner;
  /** What an earlier process remembered, as far as it is still valid at the time of the first cycle; absent: nothing. */
  readonly memory?: (at: number) => Memory;
  /** What the ledger remembers; absent where no ledger is kept. */
  readonly remembered?: readonly Remembered[];
  /** Pods that ended lately, by shape, as the ledger has them; absent where no ledger is kept. */
  readonly endedShapes?: readonly EndedOnDay[];
  /** The time of idle nodes in the last days, as the ledger has it; `null` or absent where it has none. */
  readonly idleTime?: PastIdleTime | null;
  /** Receives each step that was accrued, and with it what must survive a restart. */
  readonly onStep?: (
    step: AccruedStep,
    memory: Memory,
    advice: readonly StoredAdvice[],
    withheld: readonly StoredWithheld[],
    habits: readonly HabitRow[],
  ) => void;
  /** The adviser; absent if there is none. */
  readonly adviser?: Adviser;
}

/** The exporter's heartbeat: reads the sources, joins, analyses, publishes, and remembers what the next cycle needs. */
export interface Cycle {
  /** Runs one cycle. Never throws: a fault inside is a problem, and the last answers stay. */
  run(): Promise<void>;
  health(): Health;
  /** The last complete answers; `null` before the first cycle. */
  latest(): Analysis | null;
  /** The time that is in the accounts; `null` before the first cycle. */
  accountedTime(): AccountedTime | null;
  /** What workloads have served since they were first seen. */
  servedWork(): readonly ServedWork[];
  /** Waits that have ended because the work started, the oldest first. */
  pastStarts(): readonly PastStart[];
}

const untraced: StageRunner = async (_stage, work) => await work();

/** Creates a cycle over the sources of these options. */
export function createCycle(options: CycleOptions): Cycle {
  const { config, kubernetes, dcgm, now, runStage = untraced, serving = [] } = options;
  const startedAt = now();
  const accounts = createAccounting({
    intervalSeconds: config.interval,
    limits: config.limits,
    queues: config.queues,
    co2GramsPerKwh: config.cost.co2GramsPerKwh,
    ...(options.remembered === undefined ? {} : { remembered: options.remembered }),
    ...(options.endedShapes === undefined ? {} : { endedShapes: options.endedShapes }),
    ...(options.idleTime == null ? {} : { idleTime: options.idleTime }),
  });
  const settings = analysisSettings(config);
  let memory: Memory | null = null;
  let analysis: Analysis | null = null;
  let priced: readonly Problem[] = [];
  const joinCache = createJoinCache();
  const placementCache = createPlacementCache();
  const priceCache = createPriceCache();
  const levelsCache = createLevelsCache();
  let clocks: { readonly wall: number; readonly monotonic: number } | null = null;
  let outcome: Outcome = { lastCycleAt: null, fault: null, stageSeconds: {}, cycles: { ok: 0, failed: 0 } };

  /** By how much the wall clock was set since the last cycle, seconds; 0 for the little that clocks drift. */
  function clockJump(wall: number, monotonic: number): number {
    const jump = clocks === null ? 0 : wall - clocks.wall - (monotonic - clocks.monotonic);
    clocks = { wall, monotonic };
    return Math.abs(jump) > config.interval ? jump : 0;
  }

  const telemetryProblems = (): readonly Problem[] => dcgm.flatMap((source) => source.problems());

  /** `unseen`: the problems of GPU telemetry, to find which is a walk over all its targets. */
  function healthAfter(
    { lastCycleAt, fault, stageSeconds, cycles }: Outcome,
    unseen: readonly Problem[] = telemetryProblems(),
  ): Health {
    const parts = [
      ...kubernetes.problems(),
      ...unseen,
      ...serving.flatMap((source) => source.problems()),
      ...(options.prices?.problems() ?? []),
    ];
    const joined = analysis?.snapshot.problems ?? [];
    return {
      cluster: config.cluster,
      version: options.version,
      replicas: config.replicas,
      startedAt,
      intervalSeconds: config.interval,
      sources: [
        sourceHealth(kubernetes, ["nodes", "pods"], false),
        ...dcgm.map((source) => sourceHealth(source, [], true)),
        ...serving.map((source) => sourceHealth(source, [], false)),
        // The price table that Fairlead brings along is not read from anywhere.
        ...(options.prices === undefined || options.prices.freshness().length === 0
          ? []
          : [sourceHealth(options.prices, [], false)]),
      ],
      problems: [...(fault === null ? [] : [fault]), ...parts, ...joined, ...priced, ...accounts.problems()],
      lastCycleAt,
      stageSeconds,
      cycles,
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
      const monotonic = options.monotonic();
      const jump = clockJump(at, monotonic);
      if (memory !== null && jump !== 0) memory = afterClockJump(memory, jump);
      const before = memory ?? options.memory?.(at) ?? emptyMemory;
      const state = await timed("collect", () =>
        collect(
          kubernetes.read(),
          dcgm.map((source) => source.read()),
          options.prices?.read() ?? noPrices,
          serving.map((source) => source.read()),
        ),
      );
      const joined = await timed("join", () => join(state, before, config, at, joinCache));
      const answers = await timed("analyse", () =>
        analyse(joined.snapshot, {
          ...settings,
          history: accounts.usageHistory(),
          shortSince: before.shortSince,
          blockedSince: before.blockedSince,
          idleNodeSince: before.idleNodeSince,
          ended: accounts.endedShapes(),
          placementCache,
          priceCache,
          levelsCache,
        }),
      );
      const step = await timed("accrue", () => accounts.account(answers, { wall: at, monotonic }));
      memory = withFindings(
        joined.memory,
        {
          shortSince: answers.shortSince,
          blockedSince: answers.blocked.since,
          idleNodeSince: answers.idleNodes.since,
        },
        joinCache,
      );
      analysis = answers;
      priced = priceProblems(answers.snapshot, answers.prices);
      const unseen = telemetryProblems();
      const { advice, failure } = await timed("advise", () => adviseOn(options.adviser, answers, unseen));
      if (step !== null && options.onStep !== undefined) {
        const { adviser } = options;
        const habits = habitRows(adviser?.takeHabits() ?? new Map());
        options.onStep(step, memory, adviser?.takeChanges() ?? [], adviser?.takeWithheld() ?? [], habits);
      }
      const cycles = { ...outcome.cycles, ok: outcome.cycles.ok + 1 };
      const complete: Outcome = { lastCycleAt: at, fault: failure, stageSeconds: timings, cycles };
      await timed("publish", () =>
        options.publish(answers, healthAfter(complete, unseen), accounts.counters(), advice),
      );
      outcome = complete;
    } catch (error) {
      const cycles = { ...outcome.cycles, failed: outcome.cycles.failed + 1 };
      outcome = { ...outcome, fault: cycleFault(error), stageSeconds: timings, cycles };
    }
  }

  return {
    run,
    health: () => healthAfter(outcome),
    latest: () => analysis,
    accountedTime: accounts.accountedTime,
    servedWork: accounts.servedWork,
    pastStarts: accounts.pastStarts,
  };
}

/** How cycles ended so far. */
interface Outcome extends Pick<Health, "lastCycleAt" | "stageSeconds" | "cycles"> {
  /** Why the last cycle failed, or gave no advice; `null` if all went well. */
  readonly fault: Problem | null;
}

/** A fault in the making of advice does not affect the numbers: earlier advice remains until it is no longer valid. */
function adviseOn(
  adviser: Adviser | undefined,
  analysis: Analysis,
  sourceProblems: readonly Problem[],
): { readonly advice: Advice; readonly failure: Problem | null } {
  if (adviser === undefined) return { advice: noAdvice, failure: null };
  try {
    return { advice: adviser.advise(analysis, sourceProblems), failure: null };
  } catch (error) {
    return { advice: adviser.latest(), failure: adviceFault(error) };
  }
}

function sourceHealth(source: Source<unknown>, required: readonly string[], telemetry: boolean): SourceHealth {
  return { source: source.name, parts: source.freshness(), required, telemetry };
}

const errorWords = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

function cycleFault(error: unknown): Problem {
  return {
    source: "cycle",
    code: "cycle-failed",
    severity: "error",
    subject: null,
    message: `the last cycle failed (${errorWords(error)}); the answers before it stay until they are too old`,
    nextStep: "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json.",
  };
}

function adviceFault(error: unknown): Problem {
  return {
    source: "cycle",
    code: "advice-failed",
    severity: "error",
    subject: null,
    message: `no recommendations could be worked out (${errorWords(error)}); all other answers are complete`,
    nextStep:
      "This is a fault in Fairlead: please report it with the output of fairlead inspect --output json; advice.enabled: false switches recommendations off until it is fixed.",
  };
}
