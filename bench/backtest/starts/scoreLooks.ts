import { type EndedLook, firstLookSeconds, replayWaits } from "../../../exporter/analysis/startTimes/replayWaits.ts";
import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";

/** The shapes that are shown; together they are all. */
export const shownShapes = ["1 GPU or less", "2 to 7 GPUs", "8 GPUs and more"] as const;

export type ShownShape = (typeof shownShapes)[number];

/** What became of the intervals of one shape, added up. */
export interface LookSums {
  /** Looks, of which so many had an interval that is shown. */
  looks: number;
  shown: number;
  held: number;
  /** The starts before and after the interval are `shown - held`; these came before. */
  early: number;
  /** The sum of logarithms of the end of each interval over its begin, in seconds from the look on. */
  logWidth: number;
  /** Of the looks at which a plain history has an interval, so many held. */
  plain: number;
  plainHeld: number;
}

/** The first look at each work, and all later ones. */
export interface ScoredLooks {
  readonly first: ReadonlyMap<ShownShape, LookSums>;
  readonly later: ReadonlyMap<ShownShape, LookSums>;
}

const shapeOf = (gpus: number): ShownShape =>
  gpus < 2 ? "1 GPU or less" : gpus < 8 ? "2 to 7 GPUs" : "8 GPUs and more";

/**
 * Replays the starts as production does, and scores the looks in the later half of them: by then, the first half has been seen.
 * `add` takes several plays into the same sums. Pure but for the sums.
 */
export function scoreLooks(starts: readonly PastStart[], sums: ScoredLooks): void {
  const begins = starts.map(({ since }) => since).sort((a, b) => a - b);
  const half = begins[begins.length >> 1] ?? 0;
  const plain = createPlainHistory(starts);
  const onEnded = (look: EndedLook): void => {
    if (look.lookedAt < half) return;
    const isFirst = Math.abs(look.lookedAt - look.work.since - firstLookSeconds) < 1e-3;
    const of = (isFirst ? sums.first : sums.later).get(shapeOf(look.work.gpus));
    if (of !== undefined) addLook(of, look);
    if (of !== undefined && isFirst) addPlain(of, look, plain);
  };
  replayWaits(starts, [], Infinity, { onEnded });
}

/** Sums in which nothing is counted yet. */
export const emptyScores = (): ScoredLooks => {
  const empty = (): ReadonlyMap<ShownShape, LookSums> =>
    new Map(
      shownShapes.map((shape) => [
        shape,
        { looks: 0, shown: 0, held: 0, early: 0, logWidth: 0, plain: 0, plainHeld: 0 },
      ]),
    );
  return { first: empty(), later: empty() };
};

function addLook(sums: LookSums, { work, lookedAt, interval, held, isShown }: EndedLook): void {
  sums.looks += 1;
  if (interval === null || !isShown) return;
  sums.shown += 1;
  if (held) sums.held += 1;
  else if (work.startedAt - lookedAt < interval.from) sums.early += 1;
  sums.logWidth += Math.log(interval.to / interval.from);
}

function addPlain(sums: LookSums, { work, lookedAt }: EndedLook, plain: PlainHistory): void {
  const interval = plain(work, lookedAt);
  if (interval === null) return;
  sums.plain += 1;
  const waited = work.startedAt - work.since;
  if (waited >= interval[0] && waited <= interval[1]) sums.plainHeld += 1;
}

type PlainHistory = (work: PastStart, at: number) => readonly [from: number, to: number] | null;

const plainStarts = 100;

/** The baseline: p10 and p90 of the last hundred waits of the queue and shape, whatever is in the line. */
function createPlainHistory(starts: readonly PastStart[]): PlainHistory {
  const key = ({ queue, gpus }: PastStart): string => `${queue} ${shapeOf(gpus)}`;
  const waited = starts.filter(({ since, startedAt }) => startedAt - since > firstLookSeconds);
  const groups = new Map(
    [...Map.groupBy(waited, key)].map(([name, list]) => [name, list.toSorted((a, b) => a.startedAt - b.startedAt)]),
  );
  return (work, at) => {
    const group = groups.get(key(work)) ?? [];
    let [low, high] = [0, group.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((group[middle]?.startedAt ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    if (low < plainStarts) return null;
    const waits = group.slice(low - plainStarts, low).map(({ since, startedAt }) => startedAt - since);
    waits.sort((a, b) => a - b);
    return [waits[plainStarts / 10 - 1] ?? 0, waits[(9 * plainStarts) / 10] ?? 0];
  };
}
