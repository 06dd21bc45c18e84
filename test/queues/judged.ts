import type { DomainFairness, QueueFairness } from "../../exporter/analysis/fairness/fairness.ts";

/** A queue that is entitled to nothing and has nothing. */
export function queueFairness(parts: Partial<QueueFairness> = {}): QueueFairness {
  return {
    demand: 0,
    entitled: 0,
    deviation: 0,
    shortfall: 0,
    excess: 0,
    shortfallByBorrowers: 0,
    shortfallByIdleGap: 0,
    shortfallByAbsentCapacity: [],
    shortfallByIndivisible: 0,
    heldBackBy: null,
    actionableShortfall: 0,
    ...parts,
  };
}

/** A domain in which nobody has anything. */
export function domainFairness(parts: Partial<DomainFairness> = {}): DomainFairness {
  return {
    allocated: 0,
    pending: 0,
    entitled: 0,
    excess: 0,
    shortfall: 0,
    idleGap: 0,
    misallocatedRatio: 0,
    jainIndex: null,
    pairs: [],
    heldBack: [],
    ...parts,
  };
}
