import type { DatabaseSync } from "node:sqlite";
import { type StrandedReason, strandedReasons } from "../../model/fragmentation.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";

/** The column of a reason in `placement_time`. */
export const strandedColumn = (reason: StrandedReason): string => `stranded_${reason}_gpu_seconds`;

/** All of them. */
export const strandedColumns = strandedReasons.map(strandedColumn);

const domainSums = [
  "seconds",
  "capacity_gpu_seconds",
  "allocated_gpu_seconds",
  "pending_gpu_seconds",
  "guaranteed_seconds",
];
const placementSums = [
  "seconds",
  "free_gpu_seconds",
  ...strandedColumns,
  "blocked_gpu_seconds",
  "largest_placeable_gpu_seconds",
];

/** Amounts that cannot be below 0, by table. */
export const capacityAmounts = { domain_time: domainSums, placement_time: placementSums };

const added = (table: string, columns: readonly string[]): string =>
  columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(", ");

const places = (columns: readonly unknown[]): string => columns.map(() => "?").join(", ");

/**
 * Writes the time of domains and pools, and the streaks of nodes; `forget` drops the ids that a rolled back transaction has
 * made.
 */
export function createCapacityWriter(db: DatabaseSync) {
  const domainPoolIds = createDimensionIds(db, "domain_pools", ["domain", "pool"]);
  const poolModelIds = createDimensionIds(db, "pool_models", ["pool", "model"]);
  const addDomain = db.prepare(
    `INSERT INTO domain_time (hour, domain, ${domainSums.join(", ")}, guaranteed_gpu_seconds)
     VALUES (?, ?, ${places(domainSums)}, ?) ON CONFLICT DO UPDATE SET ${added("domain_time", domainSums)},
       guaranteed_gpu_seconds = CASE WHEN excluded.guaranteed_gpu_seconds IS NULL THEN domain_time.guaranteed_gpu_seconds
         ELSE coalesce(domain_time.guaranteed_gpu_seconds, 0) + excluded.guaranteed_gpu_seconds END`,
  );
  const addPlacement = db.prepare(
    `INSERT INTO placement_time (hour, pool, ${placementSums.join(", ")}, largest_placeable_min, largest_placeable_max)
     VALUES (?, ?, ${places(placementSums)}, ?, ?) ON CONFLICT DO UPDATE SET ${added("placement_time", placementSums)},
       largest_placeable_min = min(placement_time.largest_placeable_min, excluded.largest_placeable_min),
       largest_placeable_max = max(placement_time.largest_placeable_max, excluded.largest_placeable_max)`,
  );
  // A node is in one state at a time: if its end could not be kept, the state ended at the latest when the next one
  // began.
  const endOlder = db.prepare(
    "UPDATE node_streaks SET ends = max(begins, ?) WHERE node = ? AND ends IS NULL AND begins <> ?",
  );
  const putStreak = db.prepare(
    `INSERT INTO node_streaks (node, begins, ends, node_pool, pool, state, gpus) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ends = excluded.ends, node_pool = excluded.node_pool, pool = excluded.pool,
       state = excluded.state, gpus = coalesce(excluded.gpus, node_streaks.gpus)`,
  );

  return {
    write({ capacity, intervals }: PackedEntry): void {
      for (const row of capacity.domains) {
        const sums = [row.seconds, row.capacity, row.allocated, row.pending, row.guaranteedSeconds];
        const guaranteed = row.guaranteedSeconds > 0 ? row.guaranteed : null;
        addDomain.run(row.hour / secondsPerHour, row.domain, ...sums, guaranteed);
      }
      for (const row of capacity.placement) {
        const stranded = strandedReasons.map((reason) => row.stranded[reason]);
        const sums = [row.seconds, row.free, ...stranded, row.blocked, row.largestPlaceable];
        addPlacement.run(
          row.hour / secondsPerHour,
          row.pool,
          ...sums,
          row.largestPlaceableMin,
          row.largestPlaceableMax,
        );
      }
      for (const { node, begins, ends, nodePool, pool, state, gpus } of capacity.nodeStreaks) {
        endOlder.run(begins, node, begins);
        putStreak.run(node, begins, ends, nodePool, pool, state, gpus);
      }
      const day = Math.floor(Math.max(0, ...intervals.map(({ from }) => from)) / secondsPerHour / hoursPerDay);
      for (const { domain, pool } of capacity.domainPools) domainPoolIds.idOf([domain, pool], day);
      for (const { pool, model } of capacity.poolModels) poolModelIds.idOf([pool, model], day);
    },
    forget(): void {
      domainPoolIds.reload();
      poolModelIds.reload();
    },
  };
}
