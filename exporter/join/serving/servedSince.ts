import { type ServingCounter, type ServingRecord, servedKinds } from "../../model/serving.ts";

/** What a server has done between two looks. */
export interface Served {
  readonly requests: number;
  /** Tokens of prompts and generated tokens; `null`: the server does not count them. */
  readonly promptTokens: number | null;
  readonly generatedTokens: number | null;
}

/** What each counter of a server last read, by its key: those of engines and models that are not on the page for a while stay. */
export type CounterReadings = ReadonlyMap<string, number>;

/** More counters than any server has; if a page has more, only this many are followed. */
const mostCounters = 1000;

/** Counters by key: a page that does not show which counters its sums consist of has one counter for each sum. */
function countersOf({ counters, finished, promptTokens, generatedTokens }: ServingRecord): readonly ServingCounter[] {
  if (counters !== undefined) return counters;
  const sums = { requests: finished, prompt: promptTokens, generated: generatedTokens } as const;
  return servedKinds.flatMap((counts) => {
    const value = sums[counts];
    return value === null ? [] : [{ counts, key: counts, value }];
  });
}

/**
 * What was done since the look before, and what the next one must know. `null`: the server was not seen before, or does not count
 * requests. Each counter is followed by itself, so that one that is missing for a while is not counted twice; one that is new or
 * that fell (a restart) adds nothing at this look. Where none is known, the page comes from another place, and is a first look.
 */
export function servedSince(
  before: CounterReadings | undefined,
  page: ServingRecord,
): { readonly served: Served | null; readonly readings: CounterReadings } {
  const counters = countersOf(page);
  const isKnown = before !== undefined && counters.some(({ key }) => before.has(key));
  const readings = new Map(isKnown ? before : []);
  const sums = { requests: 0, prompt: 0, generated: 0 };
  for (const { counts, key, value } of counters) {
    const last = readings.get(key);
    if (last === undefined && readings.size >= mostCounters) continue;
    sums[counts] += Math.max(0, value - (last ?? value));
    readings.set(key, value);
  }
  const served: Served = {
    requests: sums.requests,
    promptTokens: page.promptTokens === null ? null : sums.prompt,
    generatedTokens: page.generatedTokens === null ? null : sums.generated,
  };
  return { served: isKnown && page.finished !== null ? served : null, readings };
}
