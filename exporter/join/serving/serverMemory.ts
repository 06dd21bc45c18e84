import type { ServingRecord } from "../../model/serving.ts";

/** What was last seen of the counters of a server: they prove that no request came, also over time in which nobody looked. */
export interface ServerMemory {
  readonly finished: number;
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
  /** Since when these counters have stood still while every gauge read 0, seconds since the epoch; `null`: requests are inside. */
  readonly since: number | null;
}

/** What is remembered after a page that came at `at`; `null` without a counter of requests, because gauges alone prove nothing. */
export function memoryAfter(before: ServerMemory | undefined, page: ServingRecord, at: number): ServerMemory | null {
  const { finished, promptTokens, generatedTokens, isEmpty } = page;
  if (finished === null) return null;
  const counters = { finished, promptTokens, generatedTokens };
  if (isEmpty !== true) return { ...counters, since: null };
  const isStill = before !== undefined && before.since !== null && isSame(before, counters);
  if (!isStill) return { ...counters, since: at };
  return before;
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

/** What a server has done between two looks. */
export interface Served {
  readonly requests: number;
  /** `null`: it does not count them. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
}

/** What was done since the look before; `null` without one, or without counters. A counter that fell began again at 0. */
export function servedSince(before: ServerMemory | undefined, page: ServingRecord): Served | null {
  if (before === undefined || page.finished === null) return null;
  return {
    requests: increase(before.finished, page.finished),
    promptTokens: increaseOf(before.promptTokens, page.promptTokens),
    generatedTokens: increaseOf(before.generatedTokens, page.generatedTokens),
  };
}

const increase = (before: number, after: number): number => (after < before ? after : after - before);

const increaseOf = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : increase(before, after);
