import { type FragmentationCause, fragmentationCauses, type StrandedReason } from "../../model/fragmentation.ts";
import type { PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import { type AccessCache, accessOf } from "./access.ts";
import type { JudgedShape } from "./countShapes.ts";
import { freeGpus, placeable, type UnpartitionedGpus } from "./freeGpus.ts";
import type { PoolPlacement } from "./poolPlacement.ts";
import type { createStranding } from "./stranded.ts";
import type { TableRows } from "./tableRows.ts";
import { typicalRequests, type WholeShapes } from "./typicalRequests.ts";
import { wholeNodes } from "./wholeNodes.ts";

/** A pool that is measured. */
export interface MeasuredPool {
  readonly pool: string;
  readonly index: number;
  /** Its rows in the table. */
  readonly rows: readonly number[];
  readonly parts: UnpartitionedGpus;
  readonly migFragmentation: PoolPlacement["migFragmentation"];
}

/** What is the same for all pools of a moment. */
export interface PoolMeasuring {
  readonly access: AccessCache;
  readonly rows: TableRows;
  /** As `sumByPool` gives them. */
  readonly sums: Float64Array;
  readonly whole: WholeShapes;
  readonly strandingOf: ReturnType<typeof createStranding>;
}

/** All measures of one pool. */
export function measurePool(measured: MeasuredPool, measuring: PoolMeasuring): PoolPlacement {
  const { pool, index, rows: own, parts, migFragmentation } = measured;
  const { rows, sums, whole, strandingOf } = measuring;
  const freeCapacities = freeCapacitiesOf(own, rows);
  const typical = typicalRequests(whole, mayGoTo(own, measuring));
  const stranded: Partial<Record<StrandedReason, number>> = {};
  let free = 0;
  for (const row of own) {
    const freeCapacity = rows.freeCapacities[row];
    if (freeCapacity === undefined || freeCapacity.now === null) continue;
    free += freeCapacity.now.gpus;
    const physicalGpus = freeCapacity.fullyFreeGpus;
    const reason = physicalGpus === 0 ? null : strandingOf(row);
    if (reason !== null) stranded[reason] = (stranded[reason] ?? 0) + physicalGpus;
  }
  return {
    pool,
    ...freeGpus(freeCapacities, parts),
    ...placeable(freeCapacities, typical),
    typicalRequests: typical.sizes,
    ...wholeNodes(freeCapacities),
    strandedGpus: stranded,
    expected: expectedOf(sums, index, free),
    migFragmentation,
  };
}

function freeCapacitiesOf(own: readonly number[], rows: TableRows): readonly PoolFreeCapacity[] {
  const freeCapacities: PoolFreeCapacity[] = [];
  for (const row of own) {
    const freeCapacity = rows.freeCapacities[row];
    if (freeCapacity !== undefined) freeCapacities.push(freeCapacity);
  }
  return freeCapacities;
}

/** Whether a shape may go to some node of these rows. */
function mayGoTo(own: readonly number[], { rows, access: cache }: PoolMeasuring): (shape: JudgedShape) => boolean {
  const classes = [...new Set(own.map((row) => rows.classes[row] ?? -1))];
  const known = new Map<string, boolean>();
  return ({ access }) => {
    const before = known.get(access.key);
    if (before !== undefined) return before;
    const mayGo = classes.some(accessOf(cache, access));
    known.set(access.key, mayGo);
    return mayGo;
  };
}

const causes = fragmentationCauses.length;

function expectedOf(sums: Float64Array, pool: number, free: number): PoolPlacement["expected"] {
  const byCause: Partial<Record<FragmentationCause, number>> = {};
  let gpus = 0;
  for (const [code, cause] of fragmentationCauses.entries()) {
    const unusable = sums[pool * causes + code] ?? 0;
    if (unusable === 0) continue;
    byCause[cause] = unusable;
    gpus += unusable;
  }
  // Popularities may add up to a little more than 1.
  gpus = Math.min(gpus, free);
  return { gpus, ratio: free === 0 ? null : gpus / free, byCause };
}
