import type { cycleResults, cycleStages, otlpItems, otlpResults } from "../catalogue/labels.ts";
import type { Problem } from "../model/problem.ts";
import type { restartReasons } from "../model/restartReasons.ts";

export type CycleStage = (typeof cycleStages)[number];
type CycleResult = (typeof cycleResults)[number];
export type OtlpItem = (typeof otlpItems)[number];
export type OtlpResult = (typeof otlpResults)[number];

/** Data points and spans since the start, by how their export ended. */
export type OtlpCounts = Readonly<Record<OtlpItem, Readonly<Record<OtlpResult, number>>>>;

/** The age of one part of what a source knows, such as an object kind or a telemetry target. */
export interface PartFreshness {
  readonly part: string;
  /** Seconds since the part was last known to be right; `null` if it never was. */
  readonly ageSeconds: number | null;
  readonly fresh: boolean;
}

/** How the objects of one kind have been read since the start. */
export interface KindReads {
  /** The resource, as it is named in paths of the API. */
  readonly resource: string;
  readonly lists: number;
  readonly watches: number;
  /** How often a watch or a list was begun anew, by reason. */
  readonly restarts: Readonly<Record<(typeof restartReasons)[number], number>>;
  /** Seconds of the slowest answer in the last two minutes; `null` without any. */
  readonly answerSeconds: number | null;
}

/** How one source is doing. */
export interface SourceHealth {
  readonly source: string;
  readonly parts: readonly PartFreshness[];
  /**
   * Parts without which the source is not up, and without which `/readyz` fails until they were read once. Empty: the
   * source is up when any part is fresh, and never keeps Fairlead from being ready.
   */
  readonly required: readonly string[];
  /** Whether the parts are telemetry targets, counted in `fairlead_targets`. */
  readonly telemetry: boolean;
}

/** What Fairlead knows of itself at one moment: data that the cycle hands to every output. */
export interface Health {
  readonly cluster: string;
  /** Version of Fairlead. */
  readonly version: string;
  /** How many replicas the configuration asks for. */
  readonly replicas: number;
  /** When the process started, seconds since the epoch. */
  readonly startedAt: number;
  /** Seconds between two cycles. */
  readonly intervalSeconds: number;
  readonly sources: readonly SourceHealth[];
  /** Everything that is wrong now, from sources, join and cycle. */
  readonly problems: readonly Problem[];
  /** When the last complete cycle ended, seconds since the epoch; `null` before the first one. */
  readonly lastCycleAt: number | null;
  /** Seconds that each stage of the last complete cycle took. */
  readonly stageSeconds: Readonly<Partial<Record<CycleStage, number>>>;
  /** Cycles since the start, by their result. */
  readonly cycles: Readonly<Record<CycleResult, number>>;
  /** What was exported by OTLP since the start; absent without it. */
  readonly otlp?: OtlpCounts;
  /** How objects have been read; absent where no Kubernetes API is read. */
  readonly kubernetesReads?: readonly KindReads[];
}

/** A page older than this many intervals is not served as if it were fresh. */
export const staleAfterIntervals = 3;

/** Without a complete cycle for this many intervals the process counts as hanging. */
const deadAfterIntervals = 10;

/** Whether all required parts of a source are fresh; where none is required, whether any part is. */
export function isUp(source: SourceHealth): boolean {
  if (source.required.length === 0) return source.parts.some((part) => part.fresh);
  const fresh = new Set(source.parts.filter((part) => part.fresh).map((part) => part.part));
  return source.required.every((part) => fresh.has(part));
}

/** How a source is doing: `partly` where its required parts are fresh and others are not. */
export type SourceState = "up" | "partly" | "down";

export function sourceState(source: SourceHealth): SourceState {
  if (!isUp(source)) return "down";
  return source.parts.every((part) => part.fresh) ? "up" : "partly";
}

/** Age of the oldest part in use; `null` if none is. */
export function ageInUse(source: SourceHealth): number | null {
  let oldest: number | null = null;
  for (const { fresh, ageSeconds } of source.parts) {
    if (fresh && ageSeconds !== null && (oldest === null || ageSeconds > oldest)) oldest = ageSeconds;
  }
  return oldest;
}

/** Whether numbers of the moment `at` are too old to be shown as the present. */
export function isTooOld(at: number, { intervalSeconds }: Pick<Health, "intervalSeconds">, now: number): boolean {
  return now - at > staleAfterIntervals * intervalSeconds;
}

/** Whether the process has not completed a cycle for so long that it should be restarted. */
export function isDead(health: Pick<Health, "lastCycleAt" | "startedAt" | "intervalSeconds">, now: number): boolean {
  return now - (health.lastCycleAt ?? health.startedAt) > deadAfterIntervals * health.intervalSeconds;
}

/** What is still missing before answers are complete, in words; empty when ready. */
export function missingForReadiness(health: Health): string[] {
  const missing: string[] = [];
  for (const source of health.sources) {
    const read = new Set(source.parts.filter((part) => part.ageSeconds !== null).map((part) => part.part));
    for (const part of source.required) if (!read.has(part)) missing.push(`${source.source}: ${part} not read yet`);
  }
  if (health.lastCycleAt === null) missing.push("the first cycle is not complete yet");
  return missing;
}
