import { type LatencyBucket, latencyKinds, type ServingRecord } from "../../model/serving.ts";

/** How far back latencies are measured. */
export const latencyWindowSeconds = 300;

/** The time between two moments that are remembered. */
const stepSeconds = 60;

/** More buckets than any server has; if a page has more, only this many are followed. */
const mostBuckets = 1000;

/** Requests (tokens) that took no longer than each bound in seconds, cumulative as the server has them. */
export type LatencyCounts = Readonly<Record<LatencyBucket["of"], ReadonlyMap<number, number>>>;

/** What the histograms of a server have counted since it was first seen. */
export interface LatencyMemory {
  /** The last reading of each bucket of each engine or model, by its key. */
  readonly readings: ReadonlyMap<string, number>;
  readonly counted: LatencyCounts;
  /** The same at earlier moments of the window, a minute apart, the oldest first. */
  readonly past: readonly { readonly at: number; readonly counted: LatencyCounts }[];
}

const nothingCounted: LatencyCounts = { firstToken: new Map(), perToken: new Map() };

/**
 * What is remembered after a page that came at `at`; `null` without histograms. Each bucket is followed by itself: one that is new
 * or that fell (a restart) adds nothing at this look.
 */
export function latencyAfter(
  before: LatencyMemory | undefined,
  { latencies = [] }: Pick<ServingRecord, "latencies">,
  at: number,
): LatencyMemory | null {
  if (latencies.length === 0) return null;
  const isKnown = before !== undefined && latencies.some(({ key }) => before.readings.has(key));
  const {
    readings: known,
    counted: earlier,
    past,
  } = isKnown ? before : { readings: [], counted: nothingCounted, past: [] };
  const readings = new Map(known);
  const counted = { firstToken: new Map(earlier.firstToken), perToken: new Map(earlier.perToken) };
  for (const { of, key, bound, value } of latencies) {
    const last = readings.get(key);
    if (last === undefined && readings.size >= mostBuckets) continue;
    counted[of].set(bound, (counted[of].get(bound) ?? 0) + Math.max(0, value - (last ?? value)));
    readings.set(key, value);
  }
  return { readings, counted, past: pastAt(past, counted, at) };
}

/** Of the moments before the window, the last one stays: what came since then is measured. */
function pastAt(past: LatencyMemory["past"], counted: LatencyCounts, at: number): LatencyMemory["past"] {
  const known = past.filter((one) => one.at <= at);
  const next = at - (known.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= stepSeconds ? [...known, { at, counted }] : known;
  const begin = next.findLastIndex((one) => one.at <= at - latencyWindowSeconds);
  return next.slice(Math.max(0, begin));
}

/** What was counted in the window that ends with the last look. */
export function countsInWindow({ counted, past: [first] }: LatencyMemory): LatencyCounts {
  const since = (of: LatencyBucket["of"]) =>
    new Map([...counted[of]].map(([bound, count]) => [bound, count - (first?.counted[of].get(bound) ?? 0)] as const));
  const [firstToken, perToken] = latencyKinds.map(since);
  return { firstToken: firstToken ?? new Map(), perToken: perToken ?? new Map() };
}
