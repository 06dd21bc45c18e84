import type { PodNeeds } from "./queues/podNeeds.ts";

/** What one pod asks for, and from which nodes: pods with the same shape are placed alike. */
export interface PodShape {
  /** Physical GPUs; 0 for a pod that asks for none. */
  readonly gpus: number;
  readonly needs: PodNeeds;
  /** Canonical GPU models that its node may have; absent: any model. */
  readonly models?: readonly string[];
}

/** A shape, and how common it is. */
export interface PopularShape extends PodShape {
  /** Part of all pods of the target workload, above 0; those of a workload add up to 1. */
  readonly popularity: number;
  /** Number of pods that were counted; `null` where the configuration sets the popularity. */
  readonly pods: number | null;
}

/** Pods that have ended, by shape: what the recent past adds to the target workload. */
export interface EndedShape extends PodShape {
  readonly pods: number;
}
