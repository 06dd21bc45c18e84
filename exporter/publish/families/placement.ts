import { blockedByPool } from "../../analysis/blocked/blocked.ts";
import type { PoolPlacement } from "../../analysis/placement/poolPlacement.ts";
import type { placementMetrics } from "../../catalogue/placement.ts";
import { fragmentationCauses, strandedReasons } from "../../model/fragmentation.ts";
import { placedSizeNames } from "../../model/placedSizes.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { combined } from "./combined.ts";

/** How well the free GPUs of each pool are placed, and the work that is blocked although enough are free. */
export const placementProducers: Producers<keyof typeof placementMetrics> = {
  fairlead_pool_free_gpus: (input) =>
    ofPools(input, ({ freeGpus, sharedFreeGpus, partitionedFreeGpus }) => [
      { part: "whole", value: freeGpus },
      { part: "shared", value: sharedFreeGpus },
      { part: "partitioned", value: partitionedFreeGpus },
    ]),
  fairlead_pool_unavailable_free_gpus: (input) => ofPools(input, (pool) => [{ value: pool.unavailableFreeGpus }]),
  fairlead_largest_placeable_pod_gpus: (input) => ofPools(input, (pool) => [{ value: pool.largestPlaceablePod }]),
  fairlead_placeable_pods: (input) =>
    ofPools(input, ({ placeablePods }) => placedSizeNames.map((size) => ({ size, value: placeablePods[size] }))),
  fairlead_shape_fragmentation_ratio: (input) =>
    ofPools(input, ({ shapeFragmentation }) =>
      placedSizeNames.map((size) => ({ size, value: shapeFragmentation[size] })),
    ),
  fairlead_whole_free_nodes: (input) => ofPools(input, (pool) => [{ value: pool.wholeFreeNodes }]),
  fairlead_possible_whole_free_nodes: (input) => ofPools(input, (pool) => [{ value: pool.possibleWholeFreeNodes }]),
  fairlead_stranded_gpus: (input) =>
    ofPools(input, ({ strandedGpus }) =>
      strandedReasons.map((reason) => ({ reason, value: strandedGpus[reason] ?? 0 })),
    ),
  fairlead_expected_fragmentation_gpus: (input) =>
    ofPools(input, ({ expected }) =>
      fragmentationCauses.map((cause) => ({ cause, value: expected.byCause[cause] ?? 0 })),
    ),
  fairlead_expected_fragmentation_ratio: (input) => ofPools(input, ({ expected }) => [{ value: expected.ratio }]),
  fairlead_mig_fragmentation_ratio: (input) =>
    ofPools(input, ({ migFragmentation }) => migFragmentation.map(({ profile, ratio }) => ({ profile, value: ratio }))),
  fairlead_target_workload_pods: ({ moment }) => {
    if (!moment?.analysis.snapshot.coverage.objects) return [];
    const { source, pods } = moment.analysis.placement.target;
    return [{ labels: { target_source: source }, value: pods }];
  },
  fairlead_blocked_gpus: (input) => ofBlocked(input, ({ gpus }) => gpus),
  fairlead_blocked_gangs: (input) => ofBlocked(input, ({ gangs }) => gangs),
  fairlead_longest_blocked_seconds: ({ moment }) => {
    const blocked = moment === null ? [] : blockedByPool(moment.analysis);
    const samples = blocked.map(({ pool, longestSeconds }) => ({ labels: { pool }, value: longestSeconds }));
    return combined(samples, Math.max);
  },
};

type OwnLabels = Readonly<Partial<Record<"part" | "size" | "reason" | "cause" | "profile", string>>>;

/** Samples of each pool; `of` returns their labels besides the pool, and their values. */
function ofPools<Labels extends OwnLabels>(
  { moment }: FamilyInput,
  of: (pool: PoolPlacement) => readonly (Labels & { readonly value: number | null })[],
) {
  return moment?.analysis.placement.pools.flatMap((pool) =>
    of(pool).map(({ value, ...labels }) => ({ labels: { ...labels, pool: pool.pool }, value })),
  );
}

function ofBlocked({ moment }: FamilyInput, of: (blocked: ReturnType<typeof blockedByPool>[number]) => number) {
  if (!moment?.analysis.snapshot.coverage.objects) return [];
  return blockedByPool(moment.analysis).map((blocked) => ({
    labels: { pool: blocked.pool, blocker: blocked.blocker },
    value: of(blocked),
  }));
}
