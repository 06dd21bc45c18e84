import type { TargetShape } from "../../config/moneySchema.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { EndedShape } from "../../model/podShape.ts";
import {
  createFreeCapacitiesCache,
  type FreeCapacities,
  type FreeCapacitiesCache,
  findFreeCapacities,
} from "../freeCapacity/freeCapacities.ts";
import { type AccessCache, createAccessCache, knowRules } from "./access.ts";
import { type CountedShapes, countShapes, createShapeCache, type ShapeCache } from "./countShapes.ts";
import {
  createFragmentationTable,
  type FragmentationTable,
  judgeShapes,
  lastRows,
  sumByPool,
} from "./fragmentationTable.ts";
import { type UnpartitionedGpus, unpartitionedByPool } from "./freeGpus.ts";
import { measurePool } from "./measurePool.ts";
import { migFragmentation } from "./migFragmentation.ts";
import type { Placement, PoolPlacement } from "./poolPlacement.ts";
import { createStranding } from "./stranded.ts";
import { rowsByPool, tableRows } from "./tableRows.ts";
import { judgedWorkload } from "./targetWorkload.ts";
import { wholeShapes } from "./typicalRequests.ts";

/** What placement depends on beside the moment. */
export interface PlacementSettings {
  /** Configured shapes; empty: those of pods. */
  readonly targetWorkload: readonly TargetShape[];
  /** Pods with GPUs that ended in the last seven days; `null`: that is not known. */
  readonly ended: readonly EndedShape[] | null;
}

/** What is kept from one moment to the next to save work; with a new one the answer is equal. */
export interface PlacementCache {
  readonly freeCapacities: FreeCapacitiesCache;
  readonly shapes: ShapeCache;
  readonly access: AccessCache;
  readonly table: FragmentationTable;
}

/** A cache that has seen nothing yet. */
export const createPlacementCache = (): PlacementCache => ({
  freeCapacities: createFreeCapacitiesCache(),
  shapes: createShapeCache(),
  access: createAccessCache(),
  table: createFragmentationTable(),
});

/**
 * Measures how well the free GPUs of every pool lie. Pure but for the cache, which changes no answer; `rooms` are those of
 * the snapshot.
 */
export function measurePlacement(
  snapshot: Snapshot,
  { targetWorkload, ended }: PlacementSettings,
  cache: PlacementCache = createPlacementCache(),
  freeCapacities: FreeCapacities = findFreeCapacities(snapshot, cache.freeCapacities),
): Placement {
  const isConfigured = targetWorkload.length > 0;
  const counted = isConfigured ? nothingCounted : countShapes(snapshot, ended ?? [], cache.shapes);
  const workload = judgedWorkload(targetWorkload, counted);
  knowRules(
    cache.access,
    [...workload.all, ...workload.shapes].map(({ access }) => access),
  );
  const unpartitioned = unpartitionedByPool(snapshot);
  const last = lastRows(cache.table, cache.access);
  const { rows, changes } = tableRows(freeCapacities, [...unpartitioned.keys()], cache.access, last);
  judgeShapes(cache.table, rows, changes, workload.shapes, cache.access);
  const measuring = {
    access: cache.access,
    rows,
    sums: sumByPool(cache.table, rows, workload.shapes),
    whole: wholeShapes(workload.all),
    strandingOf: createStranding(cache.table, workload.shapes),
  };
  const rowsOfPool = rowsByPool(rows);
  const mig = migFragmentation(snapshot, freeCapacities);
  const pools: PoolPlacement[] = [];
  for (const [index, pool] of rows.names.entries()) {
    const parts = unpartitioned.get(pool) ?? null;
    const own = rowsOfPool[index] ?? [];
    // Of a pool of which nobody knows the GPUs nothing can be said.
    if (parts === null && own.every((row) => rows.freeCapacities[row]?.isUncounted)) continue;
    const measured = { pool, index, rows: own, parts: parts ?? noParts, migFragmentation: mig.get(pool) ?? [] };
    pools.push(measurePool(measured, measuring));
  }
  return { pools: pools.sort((a, b) => (a.pool < b.pool ? -1 : 1)), target: workload.target };
}

const nothingCounted: CountedShapes = { shapes: [], pods: 0 };
const noParts: UnpartitionedGpus = { usable: 0, unavailable: 0 };
