import type { TargetShape } from "../../config/moneySchema.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { bareRecord } from "../../kernel/bareRecord.ts";
import { type FragmentationCause, fragmentationCauses, type StrandedReason } from "../../model/fragmentation.ts";
import type { EndedShape } from "../../model/podShape.ts";
import { toleratesAll } from "../../model/queues/nodeMatch.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { gpuResources } from "../../model/wellKnown.ts";
import {
  createFreeCapacitiesCache,
  type FreeCapacities,
  type FreeCapacitiesCache,
  findFreeCapacities,
} from "../freeCapacity/freeCapacities.ts";
import { type AccessCache, accessOf, createAccessCache, knowRules } from "./access.ts";
import {
  type CountedShapes,
  countShapes,
  createShapeCache,
  type JudgedShape,
  judgedShape,
  type ShapeCache,
} from "./countShapes.ts";
import {
  createFragmentationTable,
  createStranding,
  type FragmentationTable,
  judgeShapes,
  lastRows,
  sumByPool,
} from "./fragmentationTable.ts";
import { freeGpus, placeable, type UnpartitionedGpus, unpartitionedByPool, wholeNodes } from "./freeGpus.ts";
import { migFragmentation } from "./migFragmentation.ts";
import type { Placement, PoolPlacement, TargetWorkload } from "./poolPlacement.ts";
import { type PoolRows, rowsByPool, type TableRows, tableRows } from "./tableRows.ts";
import { typicalRequests, type WholeShapes, wholeShapes } from "./typicalRequests.ts";

/** What placement depends on besides the moment. */
export interface PlacementSettings {
  /** Configured shapes; empty: the shapes of pods count. */
  readonly targetWorkload: readonly TargetShape[];
  /** Pods with GPUs that ended in the last seven days; `null`: they are not known. */
  readonly ended: readonly EndedShape[] | null;
}

/** What is kept from one moment to the next to save work; the answer is the same with a new one. */
export interface PlacementCache {
  readonly freeCapacities: FreeCapacitiesCache;
  readonly shapes: ShapeCache;
  readonly access: AccessCache;
  readonly table: FragmentationTable;
}

/** Creates an empty cache. */
export const createPlacementCache = (): PlacementCache => ({
  freeCapacities: createFreeCapacitiesCache(),
  shapes: createShapeCache(),
  access: createAccessCache(),
  table: createFragmentationTable(),
});

/**
 * Measures how well the free GPUs of every pool can be used. Pure except for the cache, which changes no answer;
 * `freeCapacities` are those of the snapshot.
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
    const own = rowsOfPool[index] ?? noRows;
    // Nothing can be measured for a pool whose GPUs are unknown.
    if (parts === null && own.freeCapacities.every(({ isUncounted }) => isUncounted)) continue;
    const measured = { pool, index, own, parts: parts ?? noParts, migFragmentation: mig.get(pool) ?? [] };
    pools.push(measurePool(measured, measuring));
  }
  return { pools: pools.sort((a, b) => (a.pool < b.pool ? -1 : 1)), target: workload.target };
}

/** With fewer pods than this, no shape counts as typical. */
const fewestPods = 20;
/** The percentage of all pods that the shapes of the target workload represent. */
const coveredPercent = 95;
/** Anyone who can create pods can create ever new shapes: only the most common ones are judged. */
const mostShapes = 200;

/** The pods for which placement is judged, and the shapes by which typical requests of CPU and memory are reported. */
interface JudgedWorkload {
  readonly target: TargetWorkload;
  /** The shapes of the target workload, in its order; their weights are popularities and add up to 1. */
  readonly shapes: readonly JudgedShape[];
  /** All shapes that were counted, or that are configured. */
  readonly all: readonly JudgedShape[];
}

/**
 * The configured shapes; else the smallest set of counted shapes (most common first) that covers 95 % of the pods, at most 200;
 * else, with fewer than 20 pods, 1, 2, 4 and 8 whole GPUs, equally popular, without CPU and memory.
 */
function judgedWorkload(configured: readonly TargetShape[], { shapes: all, pods }: CountedShapes): JudgedWorkload {
  if (configured.length > 0) {
    const shapes = configured.map(configuredShape);
    return { target: targetOf("configured", shapes, 0), shapes: withPopularity(shapes), all: shapes };
  }
  if (pods < fewestPods) return { target: targetOf("fixed", fixedMix, pods), shapes: withPopularity(fixedMix), all };
  const chosen: JudgedShape[] = [];
  let covered = 0;
  for (const shape of all) {
    if (covered * 100 >= pods * coveredPercent || chosen.length === mostShapes) break;
    chosen.push(shape);
    covered += shape.weight;
  }
  return { target: targetOf("pods", chosen, pods), shapes: withPopularity(chosen), all };
}

function withPopularity(shapes: readonly JudgedShape[]): readonly JudgedShape[] {
  const total = shapes.reduce((sum, { weight }) => sum + weight, 0);
  return shapes.map((shape) => ({ ...shape, weight: shape.weight / total }));
}

function targetOf(source: TargetWorkload["source"], shapes: readonly JudgedShape[], pods: number): TargetWorkload {
  const total = shapes.reduce((sum, { weight }) => sum + weight, 0);
  return {
    source,
    shapes: shapes.map(({ gpus, needs, models, weight }) => ({
      gpus,
      needs,
      popularity: weight / total,
      pods: source === "pods" ? weight : null,
      ...(models === undefined ? {} : { models }),
    })),
    pods,
  };
}

const fixedMix: readonly JudgedShape[] = [1, 2, 4, 8].map((gpus) => judgedShape({ gpus, needs: wholeGpus(gpus) }, 1));

function wholeGpus(gpus: number): PodNeeds {
  return { requests: { [gpuResources.nvidia]: gpus }, nodeSelector: {}, nodeAffinity: [], tolerations: toleratesAll };
}

/** A configured shape; it tolerates every taint, because it names none. */
function configuredShape({ gpus, cpu, memoryBytes, migProfile, nodeSelector, models, popularity }: TargetShape) {
  const requests = bareRecord<number>();
  if (cpu > 0) requests.cpu = cpu;
  if (memoryBytes > 0) requests.memory = memoryBytes;
  if (migProfile !== undefined) requests[`${gpuResources.nvidiaMigPrefix}${migProfile}`] = 1;
  else if (gpus >= 1) requests[gpuResources.nvidia] = gpus;
  const labels = bareRecord<string>();
  for (const [label, value] of Object.entries(nodeSelector)) labels[label] = value;
  const needs: PodNeeds = { requests, nodeSelector: labels, nodeAffinity: [], tolerations: toleratesAll };
  return judgedShape({ gpus, needs, ...(models.length === 0 ? {} : { models }) }, popularity);
}

/** A pool that is measured. */
interface MeasuredPool {
  readonly pool: string;
  readonly index: number;
  /** Its rows in the table. */
  readonly own: PoolRows;
  readonly parts: UnpartitionedGpus;
  readonly migFragmentation: PoolPlacement["migFragmentation"];
}

/** What is the same for all pools of a moment. */
interface PoolMeasuring {
  readonly access: AccessCache;
  readonly rows: TableRows;
  /** The result of `sumByPool`. */
  readonly sums: Float64Array;
  readonly whole: WholeShapes;
  readonly strandingOf: ReturnType<typeof createStranding>;
}

/** All measures of one pool. */
function measurePool(measured: MeasuredPool, measuring: PoolMeasuring): PoolPlacement {
  const { pool, index, own, parts, migFragmentation } = measured;
  const { sums, whole, strandingOf } = measuring;
  const { freeCapacities } = own;
  const typical = typicalRequests(whole, mayGoTo(own.rows, measuring));
  const stranded: Partial<Record<StrandedReason, number>> = {};
  let free = 0;
  let at = -1;
  for (const { now, fullyFreeGpus: physicalGpus } of freeCapacities) {
    at += 1;
    if (now === null) continue;
    free += now.gpus;
    const reason = physicalGpus === 0 ? null : strandingOf(own.rows[at] ?? -1);
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

/** Whether a shape may go to some node of these rows. */
function mayGoTo(own: readonly number[], { rows, access: cache }: PoolMeasuring): (shape: JudgedShape) => boolean {
  const found = new Set<number>();
  for (const row of own) found.add(rows.classes[row] ?? -1);
  const classes = [...found];
  const known = new Map<string, boolean>();
  return ({ access }) => {
    const before = known.get(access.key);
    if (before !== undefined) return before;
    const mayGo = classes.some(accessOf(cache, access));
    known.set(access.key, mayGo);
    return mayGo;
  };
}

const causeCount = fragmentationCauses.length;

function expectedOf(sums: Float64Array, pool: number, free: number): PoolPlacement["expected"] {
  const byCause: Partial<Record<FragmentationCause, number>> = {};
  let gpus = 0;
  for (const [code, cause] of fragmentationCauses.entries()) {
    const unusable = sums[pool * causeCount + code] ?? 0;
    if (unusable === 0) continue;
    byCause[cause] = unusable;
    gpus += unusable;
  }
  // Popularities may add up to a little more than 1.
  gpus = Math.min(gpus, free);
  return { gpus, ratio: free === 0 ? null : gpus / free, byCause };
}

const nothingCounted: CountedShapes = { shapes: [], pods: 0 };
const noRows: PoolRows = { rows: [], freeCapacities: [] };
const noParts: UnpartitionedGpus = { usable: 0, unavailable: 0 };
