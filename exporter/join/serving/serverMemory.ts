import type { ServingRecord } from "../../model/serving.ts";
import type { LatencyMemory } from "./latencyWindow.ts";
import type { CounterReadings } from "./servedSince.ts";

/** What was last seen of the counters of a server: they prove that no request came, also over time in which nobody looked. */
export interface ServerMemory {
  readonly finished: number;
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  /** Since when these counters have stood still while every gauge read 0, seconds since the epoch; `null`: requests are inside. */
  readonly since: number | null;
  /** What each counter read, for what was done since; absent after a restart of Fairlead: no ledger keeps it. */
  readonly readings?: CounterReadings;
  /** Its histograms of latencies; likewise. */
  readonly latency?: LatencyMemory;
}

/**
 * What is remembered after a page that came at `at`, and whose counters read this; `null` without a counter of requests, because
 * gauges alone prove nothing.
 */
export function memoryAfter(
  before: ServerMemory | undefined,
  page: ServingRecord,
  at: number,
  readings: CounterReadings,
): ServerMemory | null {
  const { finished, promptTokens, generatedTokens, isEmpty } = page;
  if (finished === null) return null;
  const counters = { finished, promptTokens, generatedTokens, readings };
  if (isEmpty !== true) return { ...counters, since: null };
  const isStill = before !== undefined && before.since !== null && isSame(before, counters);
  if (!isStill) return { ...counters, since: at };
  return hasOthers(readings, before.readings) ? { ...before, readings } : before;
}

/** A counter that appears at 0 moves no sum, and its first increase counts only if it is known by then. */
function hasOthers(readings: CounterReadings, before: CounterReadings | undefined): boolean {
  return before === undefined || [...readings.keys()].some((key) => !before.has(key));
}

function isSame(one: ServerMemory, other: Omit<ServerMemory, "since">): boolean {
  return (
    one.finished === other.finished &&
    one.promptTokens === other.promptTokens &&
    one.generatedTokens === other.generatedTokens
  );
}

/** Counters of 0 prove nothing over time in which nobody looked: the server may have worked and been restarted. */
export const provesGaps = ({ finished }: ServerMemory): boolean => finished > 0;
