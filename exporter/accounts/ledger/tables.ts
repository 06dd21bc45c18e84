import { type StrandedReason, strandedReasons } from "../../model/fragmentation.ts";
import { type GangSize, gangSizes } from "../../model/topology.ts";
import { absentAmounts, type QueueAmount, queueAmounts } from "../posting.ts";

/**
 * The names that sums refer to by id: the columns of each table, without its id and the day on which it was last used. Rows
 * that no sum refers to any more are pruned by that day.
 */
export const dimensions = {
  accounts: ["pool", "node_pool", "capacity_type", "team", "queue", "namespace", "priority_class", "state", "currency"],
  workloads: ["kind", "namespace", "name"],
  node_groups: ["pool", "node_pool", "capacity_type", "state", "currency"],
  queues: ["scheduler", "kind", "queue", "domain", "team"],
  health_groups: ["pool", "node_pool", "team", "cause", "currency"],
  served_groups: ["kind", "namespace", "name", "team", "currency"],
  wait_groups: ["queue", "team", "priority_class", "size_class", "phase"],
  shapes: ["shape"],
  domain_pools: ["domain", "pool"],
  pool_models: ["pool", "model"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A table of names that sums refer to by id. */
export type Dimension = keyof typeof dimensions;

/** How the values of two rows with the same key become one. With `sumOfKnown`, NULL is unknown and adds nothing. */
type Combination = "sum" | "sumOfKnown" | "min" | "max";

/** A table of sums, in which each row has a key of its own. */
interface SumTable {
  /** The period of a row. `folded` means by hour, and later by day (column `daily`). */
  readonly keptBy: "folded" | "hour" | "day";
  /**
   * The columns that identify a row within its hour or day, and the dimension whose id each of them holds; `null` if the column
   * holds a name.
   */
  readonly keys: Readonly<Record<string, Dimension | null>>;
  readonly sums: Readonly<Record<string, Combination>>;
}

/** The column of each amount in `queue_time`, in the order of `queueAmounts`. */
export const queueColumns: Readonly<Record<QueueAmount, string>> = {
  seconds: "seconds",
  judgedSeconds: "judged_seconds",
  allocated: "allocated_gpu_seconds",
  entitled: "entitled_gpu_seconds",
  excess: "excess_gpu_seconds",
  shortfallByBorrowers: "short_by_others_gpu_seconds",
  shortfallByIdleGap: "short_by_idle_gap_gpu_seconds",
  shortfallByLostNode: "short_by_lost_node_gpu_seconds",
  shortfallByNodeToCome: "short_by_node_to_come_gpu_seconds",
  shortfallByPastQueues: "short_by_past_queues_gpu_seconds",
  shortfallByPromisedTwice: "short_by_promised_twice_gpu_seconds",
  shortfallByIndivisible: "short_indivisible_gpu_seconds",
  pending: "pending_gpu_seconds",
  judgedAllocated: "judged_allocated_gpu_seconds",
  guaranteedSeconds: "guaranteed_seconds",
  guaranteed: "guaranteed_gpu_seconds",
};

/** The amounts that are NULL, which is not 0, in rows that do not have them. */
const maybeUnknown: ReadonlySet<QueueAmount> = new Set<QueueAmount>([
  ...Object.values(absentAmounts),
  "shortfallByIndivisible",
  "guaranteed",
]);

/** The column of a reason in `placement_time`. */
export const strandedColumn = (reason: StrandedReason): string => `stranded_${reason}_gpu_seconds`;

/** The column of a size of gangs in `topology_time`. */
export const fittedColumn = (gang: GangSize): string => `fitted_${gang}_seconds`;

const ofPostings = {
  gpu_seconds: "sum",
  estimated_gpu_seconds: "sum",
  unmetered_gpu_seconds: "sum",
  energy_joules: "sumOfKnown",
  cost: "sumOfKnown",
} as const;

const combined = (columns: readonly string[], combination: Combination): Record<string, Combination> =>
  Object.fromEntries(columns.map((column) => [column, combination]));

/** Every table of sums. Rows are only added to; all code that writes, folds, merges or checks them uses this list. */
export const sumTables = {
  gpu_time: { keptBy: "folded", keys: { account: "accounts" }, sums: ofPostings },
  pool_time: { keptBy: "folded", keys: { pool: null }, sums: { physical_gpu_seconds: "sum" } },
  node_time: {
    keptBy: "folded",
    keys: { node_group: "node_groups" },
    sums: { node_seconds: "sum", cost: "sumOfKnown" },
  },
  queue_time: {
    keptBy: "folded",
    keys: { queue: "queues" },
    sums: Object.fromEntries(
      queueAmounts.map((name) => [queueColumns[name], maybeUnknown.has(name) ? "sumOfKnown" : "sum"] as const),
    ),
  },
  domain_time: {
    keptBy: "hour",
    keys: { domain: null },
    sums: {
      seconds: "sum",
      capacity_gpu_seconds: "sum",
      allocated_gpu_seconds: "sum",
      pending_gpu_seconds: "sum",
      guaranteed_seconds: "sum",
      guaranteed_gpu_seconds: "sumOfKnown",
    },
  },
  placement_time: {
    keptBy: "hour",
    keys: { pool: null },
    sums: {
      seconds: "sum",
      free_gpu_seconds: "sum",
      ...combined(strandedReasons.map(strandedColumn), "sum"),
      blocked_gpu_seconds: "sum",
      largest_placeable_gpu_seconds: "sum",
      largest_placeable_min: "min",
      largest_placeable_max: "max",
    },
  },
  topology_time: {
    keptBy: "hour",
    keys: { pool: null, level: null },
    sums: { seconds: "sum", ...combined(gangSizes.map(fittedColumn), "sum") },
  },
  health_time: {
    keptBy: "hour",
    keys: { health_group: "health_groups" },
    sums: { gpu_seconds: "sum", cost: "sumOfKnown" },
  },
  workload_time: { keptBy: "day", keys: { workload: "workloads", account: "accounts" }, sums: ofPostings },
  served_time: {
    keptBy: "day",
    keys: { served_group: "served_groups" },
    sums: {
      requests: "sum",
      prompt_tokens: "sumOfKnown",
      generated_tokens: "sumOfKnown",
      gpu_seconds: "sum",
      uncounted_gpu_seconds: "sum",
      cost: "sumOfKnown",
    },
  },
  waits: { keptBy: "day", keys: { wait_group: "wait_groups", bucket: null }, sums: { waits: "sum", seconds: "sum" } },
  pod_shapes: { keptBy: "day", keys: { shape: "shapes" }, sums: { pods: "sum" } },
} as const satisfies Readonly<Record<string, SumTable>>;

export type SumTableName = keyof typeof sumTables;

/** Every table with its name. */
export const allSumTables: readonly (SumTable & { readonly name: string })[] = Object.entries(sumTables).map(
  ([name, table]) => ({ name, ...table }),
);

/** The columns of the sums of a table. */
export function sumsOf(name: SumTableName): readonly string[] {
  return Object.keys(sumTables[name].sums);
}

/** A condition that is true for rows in which one of the sums is below 0. */
export function isBelowZero(name: SumTableName): string {
  return `min(${sumsOf(name)
    .map((column) => `coalesce(${column}, 0)`)
    .join(", ")}) < 0`;
}

/** The end of an INSERT statement: an existing row with the same key is combined with the new one. */
export function addToExisting(name: string, { sums }: SumTable): string {
  const sets = Object.entries(sums).map(([column, how]) => {
    const [old, added] = [`${name}.${column}`, `excluded.${column}`];
    if (how === "sum") return `${column} = ${old} + ${added}`;
    if (how === "sumOfKnown")
      return `${column} = CASE WHEN ${added} IS NULL THEN ${old} ELSE coalesce(${old}, 0) + ${added} END`;
    return `${column} = ${how}(${old}, ${added})`;
  });
  return `ON CONFLICT DO UPDATE SET ${sets.join(", ")}`;
}

/** A statement that adds a row: its hour or day, its keys and its sums are the parameters, in this order. */
export function addRowSql(name: SumTableName): string {
  const table: SumTable = sumTables[name];
  const columns = [table.keptBy === "day" ? "day" : "hour", ...Object.keys(table.keys), ...Object.keys(table.sums)];
  const isFolded = table.keptBy === "folded";
  return `INSERT INTO ${name} (${isFolded ? "daily, " : ""}${columns.join(", ")})
    VALUES (${isFolded ? "0, " : ""}${placesFor(columns)}) ${addToExisting(name, table)}`;
}

/** The parameters of a statement, one for each column. */
export const placesFor = (columns: readonly unknown[]): string => columns.map(() => "?").join(", ");
