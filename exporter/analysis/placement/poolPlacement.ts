import type { FragmentationCause, StrandedReason } from "../../model/fragmentation.ts";
import type { PlacedSize } from "../../model/placedSizes.ts";
import type { PopularShape } from "../../model/podShape.ts";

/** What a pod of one size is assumed to ask for. */
export interface TypicalRequest {
  readonly size: number;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
  /**
   * `median`: that of the pods of this size; `scaled`: the median per GPU of all pods with whole GPUs, times the size; `none`:
   * there are no pods.
   */
  readonly basis: "median" | "scaled" | "none";
}

/** Where the target workload comes from. */
export type TargetSource =
  /** The configuration. */
  | "configured"
  /** Pods that run, wait or ended in the last seven days. */
  | "pods"
  /** Fewer than 20 pods: a fixed mix of 1, 2, 4 and 8 GPUs. */
  | "fixed";

/** How well the free GPUs of one pool can be used. All amounts are physical GPUs on its ready and schedulable nodes. */
export interface PoolPlacement {
  readonly pool: string;
  /** Fully free whole GPUs. */
  readonly freeGpus: number;
  /** Free parts of GPUs that are partly allocated, which only pods that ask for a share can use. */
  readonly sharedFreeGpus: number;
  /** Free MIG instances, free replicas of shared GPUs, and unpartitioned parts of MIG GPUs. */
  readonly partitionedFreeGpus: number;
  /**
   * Unallocated GPUs of nodes that are not ready or not schedulable, and GPUs that are unhealthy or kept by a left-over
   * reservation.
   */
  readonly unavailableFreeGpus: number;
  /** Whole GPUs of the largest pod that one node could take now. */
  readonly largestPlaceablePod: number;
  /** Pods of each size that could be placed now, one after the other. */
  readonly placeablePods: Readonly<Record<PlacedSize, number>>;
  /** 1 - size x placeable / free; 0 where less than the size is free. */
  readonly shapeFragmentation: Readonly<Record<PlacedSize, number>>;
  readonly typicalRequests: readonly TypicalRequest[];
  /** Nodes whose GPUs are all free, and how many there could be if what is allocated were moved together. */
  readonly wholeFreeNodes: number;
  readonly possibleWholeFreeNodes: number;
  /** Fully free GPUs that no typical pod can use, by reason; a reason that is absent is 0. */
  readonly strandedGpus: Readonly<Partial<Record<StrandedReason, number>>>;
  /** Expected GPUs that a typical pod could not use; `ratio` is their part of what is free, `null` when nothing is free. */
  readonly expected: {
    readonly gpus: number;
    readonly ratio: number | null;
    readonly byCause: Readonly<Partial<Record<FragmentationCause, number>>>;
  };
  /**
   * By legal profile of MIG GPUs whose layout is known: `physicalGpus` with enough free slices for an instance, and the part of
   * them that has no place for it. Empty where no layout is known.
   */
  readonly migFragmentation: readonly {
    readonly profile: string;
    readonly physicalGpus: number;
    readonly ratio: number;
  }[];
}

/** The pods for which placement is judged (design: placement and fragmentation). */
export interface TargetWorkload {
  readonly source: TargetSource;
  /** The smallest set of shapes that covers 95 % of the pods, at most 200; popularities add up to 1. */
  readonly shapes: readonly PopularShape[];
  /** Pods that were counted, those beyond the 95 % included; 0 where the shapes are configured. */
  readonly pods: number;
}

/** How well free GPUs can be used, by pool, and for which pods that was measured. */
export interface Placement {
  /** Pools, ordered by name. */
  readonly pools: readonly PoolPlacement[];
  /** The target workload: one for the whole cluster, most popular first. */
  readonly target: TargetWorkload;
}

/** The value for a moment without any node. */
export const noPlacement: Placement = { pools: [], target: { source: "fixed", shapes: [], pods: 0 } };
