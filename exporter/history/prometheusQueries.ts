import { aggregate, type Duration, increase, type Matchers, metric, oneOf, scrapedWith } from "../catalogue/promql.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { TotalsDimension, TotalsQuestion } from "./history.ts";

/** The scope that series must be in to be queried. */
export interface SeriesScope {
  /** The name of the cluster; `null` for all that the server has, and more than one is an error then. */
  readonly cluster: string | null;
  /** Labels with the exact values that a series must have. */
  readonly matchers: Readonly<Record<string, string>>;
}

/** The dimensions that are labels. */
type LabelDimension = Exclude<TotalsDimension, "day">;

/** The label of each dimension. */
export const labelOf = {
  state: "state",
  team: "team",
  queue: "queue",
  pool: "pool",
  capacityType: "capacity_type",
  priorityClass: "priority_class",
} as const satisfies Record<LabelDimension, string>;

/** The two counters that count by every dimension. */
export type TotalsCounter = "fairlead_gpu_seconds_total" | "fairlead_cost_total";

/** The value of the label of a capacity type that is not known; other labels are empty where they are not known. */
const unknownCapacityType = "unknown";

/** The value of a label as totals contain it. */
export function valueFrom(dimension: LabelDimension, text: string): string {
  return dimension === "capacityType" && text === unknownCapacityType ? "" : text;
}

/** A query for the growth of one counter within the last `seconds`, by the labels of the question (costs also by currency). */
export function growthQuery(
  counter: TotalsCounter,
  scope: SeriesScope,
  process: Readonly<Record<string, string>> | null,
  { by, where }: Pick<TotalsQuestion, "by" | "where">,
  seconds: number,
): string {
  const labels = ["cluster" as const, ...by.filter((name) => name !== "day").map((name) => labelOf[name])];
  const chosen = scrapedWith(metric(counter, matchersOf(scope, where)), { ...scope.matchers, ...process });
  const growth = increase(chosen, lengthOf(seconds));
  return counter === "fairlead_cost_total"
    ? aggregate("sum", growth, [...labels, "currency"]).text
    : aggregate("sum", growth, labels).text;
}

/** A query for the growth of the time without a price within the last `seconds`; this time is counted by pool alone. */
export function unpricedQuery(
  scope: SeriesScope,
  process: Readonly<Record<string, string>> | null,
  { by, where: { pool } }: Pick<TotalsQuestion, "by" | "where">,
  seconds: number,
): string {
  const chosen = metric("fairlead_unpriced_gpu_seconds_total", {
    ...ofCluster(scope),
    ...(pool === undefined ? {} : { pool: oneOf(pool.map(labelValue)) }),
  });
  const growth = increase(scrapedWith(chosen, { ...scope.matchers, ...process }), lengthOf(seconds));
  return aggregate("sum", growth, by.includes("pool") ? ["cluster", "pool"] : ["cluster"]).text;
}

/** The counters of queues. */
export type QueueCounter =
  | "fairlead_queue_judged_seconds_total"
  | "fairlead_queue_allocated_gpu_seconds_total"
  | "fairlead_queue_judged_allocated_gpu_seconds_total"
  | "fairlead_queue_entitled_gpu_seconds_total"
  | "fairlead_queue_excess_gpu_seconds_total"
  | "fairlead_queue_shortfall_gpu_seconds_total"
  | "fairlead_queue_absent_capacity_gpu_seconds_total"
  | "fairlead_queue_pending_gpu_seconds_total";

/**
 * A query for the growth of a counter of queues within the last `seconds`, by team; shortfalls are also by cause, and absent
 * capacity by owner.
 */
export function queueGrowthQuery(
  counter: QueueCounter,
  scope: SeriesScope,
  process: Readonly<Record<string, string>> | null,
  team: string | null,
  seconds: number,
): string {
  const chosen = { ...ofCluster(scope), ...(team === null ? {} : { team: oneOf([labelValue(team)]) }) };
  const scraped = { ...scope.matchers, ...process };
  if (counter === "fairlead_queue_shortfall_gpu_seconds_total")
    return aggregate("sum", increase(scrapedWith(metric(counter, chosen), scraped), lengthOf(seconds)), [
      "cluster",
      "team",
      "cause",
    ]).text;
  if (counter === "fairlead_queue_absent_capacity_gpu_seconds_total")
    return aggregate("sum", increase(scrapedWith(metric(counter, chosen), scraped), lengthOf(seconds)), [
      "cluster",
      "team",
      "owner",
    ]).text;
  return aggregate("sum", increase(scrapedWith(metric(counter, chosen), scraped), lengthOf(seconds)), [
    "cluster",
    "team",
  ]).text;
}

/** Whether counters have the time without a price by the dimensions of a question. */
export function isUnpricedCounted({ by, where }: Pick<TotalsQuestion, "by" | "where">): boolean {
  return [...by, ...Object.keys(where)].every((name) => name === "day" || name === "pool");
}

/** A query for the seconds that each process counted within the last `seconds`, with all labels that distinguish processes. */
export function coveredQuery(scope: SeriesScope, seconds: number): string {
  const all = metric("fairlead_covered_seconds_total", ofCluster(scope));
  return increase(scrapedWith(all, scope.matchers), lengthOf(seconds)).text;
}

const ofCluster = ({ cluster }: SeriesScope) => (cluster === null ? {} : { cluster });

function matchersOf(scope: SeriesScope, where: TotalsQuestion["where"]): Matchers<TotalsCounter> {
  const { state, team, queue, pool, capacityType, priorityClass } = where;
  return {
    ...ofCluster(scope),
    ...(state === undefined ? {} : { state: oneOf(state) }),
    ...(team === undefined ? {} : { team: oneOf(team.map(labelValue)) }),
    ...(queue === undefined ? {} : { queue: oneOf(queue.map(labelValue)) }),
    ...(pool === undefined ? {} : { pool: oneOf(pool.map(labelValue)) }),
    ...(capacityType === undefined
      ? {}
      : { capacity_type: oneOf(capacityType.map((type) => (type === "" ? unknownCapacityType : type))) }),
    ...(priorityClass === undefined ? {} : { priority_class: oneOf(priorityClass.map(labelValue)) }),
  };
}

function lengthOf(seconds: number): Duration {
  return `${Math.max(1, Math.round(seconds))}s`;
}
