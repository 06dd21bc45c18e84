import type { DatabaseSync } from "node:sqlite";
import { strandedReasons } from "../../model/fragmentation.ts";
import { createDimensionIds } from "./dimensionIds.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { hoursPerDay, secondsPerHour } from "./schema.ts";
import { addRowSql } from "./tables.ts";

/**
 * Creates the writer of the time of domains and pools, the streaks of nodes, and outages; its `forget` drops the ids that a
 * rolled back transaction has made.
 */
export function createCapacityWriter(db: DatabaseSync) {
  const domainPoolIds = createDimensionIds(db, "domain_pools");
  const poolModelIds = createDimensionIds(db, "pool_models");
  const addDomain = db.prepare(addRowSql("domain_time"));
  const addPlacement = db.prepare(addRowSql("placement_time"));
  const addTopology = db.prepare(addRowSql("topology_time"));
  // A node is in one state at a time. If the end of a state could not be kept, the state ended at the latest when the next one
  // began.
  const endOlder = db.prepare(
    "UPDATE node_streaks SET ends = max(begins, ?) WHERE node = ? AND ends IS NULL AND begins <> ?",
  );
  const putStreak = db.prepare(
    `INSERT INTO node_streaks (node, begins, ends, node_pool, pool, state, gpus) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ends = excluded.ends, node_pool = excluded.node_pool, pool = excluded.pool,
       state = excluded.state, gpus = coalesce(excluded.gpus, node_streaks.gpus)`,
  );

  const endOlderOutage = db.prepare(
    "UPDATE outages SET ends = max(begins, ?) WHERE node = ? AND gpu = ? AND ends IS NULL AND begins <> ?",
  );
  const putOutage = db.prepare(
    `INSERT INTO outages (node, gpu, begins, ends, node_pool, pool, cause, gpus, teams) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ends = excluded.ends, node_pool = excluded.node_pool, pool = excluded.pool,
       cause = excluded.cause, gpus = excluded.gpus, teams = excluded.teams`,
  );

  return {
    write({ capacity, intervals }: PackedEntry): void {
      for (const row of capacity.domains) {
        const { hour, domain, seconds, capacity: whole, allocated, pending, guaranteedSeconds } = row;
        const guaranteed = guaranteedSeconds > 0 ? row.guaranteed : null;
        addDomain.run(hour / secondsPerHour, domain, seconds, whole, allocated, pending, guaranteedSeconds, guaranteed);
      }
      for (const row of capacity.placement) {
        const stranded = strandedReasons.map((reason) => row.stranded[reason]);
        const largest = [row.largestPlaceable, row.largestPlaceableMin, row.largestPlaceableMax];
        const sums = [row.seconds, row.free, ...stranded, row.blocked, ...largest];
        addPlacement.run(row.hour / secondsPerHour, row.pool, ...sums);
      }
      for (const { hour, pool, level, seconds, fitted } of capacity.topology)
        addTopology.run(hour / secondsPerHour, pool, level, seconds, ...fitted);
      for (const { node, begins, ends, nodePool, pool, state, gpus } of capacity.nodeStreaks) {
        endOlder.run(begins, node, begins);
        putStreak.run(node, begins, ends, nodePool, pool, state, gpus);
      }
      for (const { node, gpu, begins, ends, nodePool, pool, cause, gpus, teams } of capacity.outages) {
        endOlderOutage.run(begins, node, gpu, begins);
        putOutage.run(node, gpu, begins, ends, nodePool, pool, cause, gpus, teams);
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
