import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import { rounded } from "../intervals.ts";
import { type Arrival, drawJobs } from "./phillyArrivals.ts";
import { playQueues, policies } from "./playQueues.ts";
import { emptyScores, type LookSums, type ScoredLooks, scoreLooks, shownShapes } from "./scoreLooks.ts";
import type { StartsResult, StartsRow } from "./startsResult.ts";
import type { StartsTraces } from "./startsTrace.ts";

/** How much is replayed. */
export interface StartsOptions {
  readonly seeds: number;
  readonly progress: (text: string) => void;
}

/** The part of the GPUs that the work takes up: the first seed has the lowest, the last one the highest. */
const loads = [0.6, 0.8] as const;

/** Plays Philly's arrivals under every policy, and takes the waits of the other traces as they are. The same options give the same result. */
export function startsStudy(
  { arrivals, openb, helios }: StartsTraces,
  { seeds, progress }: StartsOptions,
): StartsResult {
  const rows: StartsRow[] = [];
  for (const policy of policies) {
    progress(policy);
    const scores = emptyScores();
    for (const starts of plays(arrivals, policy, seeds)) scoreLooks(starts, scores);
    rows.push(...rowsOf(`Philly's arrivals, ${policy}`, scores));
  }
  for (const [name, starts] of [
    ["openb, creation to scheduling", openb],
    ["Helios Earth, starts inferred", helios],
  ] as const) {
    progress(name);
    const scores = emptyScores();
    scoreLooks(starts, scores);
    rows.push(...rowsOf(name, scores));
  }
  return { trace: "starts", arrivals: arrivals.length, seeds, loads: [...loads], rows };
}

/** The starts of one play for each seed. */
function* plays(
  arrivals: readonly Arrival[],
  policy: (typeof policies)[number],
  seeds: number,
): Generator<readonly PastStart[]> {
  const [lowest, highest] = loads;
  for (let seed = 1; seed <= seeds; seed++) {
    const load = lowest + ((highest - lowest) * (seed - 1)) / Math.max(1, seeds - 1);
    yield playQueues(drawJobs(arrivals, seed), policy, load);
  }
}

function rowsOf(queues: string, { first, later }: ScoredLooks): readonly StartsRow[] {
  return shownShapes.flatMap((shape) => {
    const [one, more] = [first.get(shape), later.get(shape)];
    if (one === undefined || more === undefined || one.looks === 0) return [];
    const plain = { shown: one.plain, hits: one.plainHeld };
    return [{ queues, shape, first: scoreOf(one), later: scoreOf(more), plain }];
  });
}

const scoreOf = ({ looks, shown, held, early, logWidth }: LookSums): StartsRow["first"] => ({
  looks,
  shown,
  hits: held,
  early,
  width: shown === 0 ? null : rounded(Math.exp(logWidth / shown)),
});
