import type { Analysis } from "../../analysis/analysis.ts";

/** The cluster as the head of every overview shows it. */
export interface ClusterRow {
  readonly nodes: number;
  readonly physicalGpus: number;
  /** Pools with the most GPUs first. */
  readonly pools: readonly { readonly pool: string; readonly physicalGpus: number }[];
  /** The part of the GPUs that is observed, 0..1; `null` without GPUs. */
  readonly observed: number | null;
  /** By which the cluster's activity is judged; `null` without one. */
  readonly signal: Analysis["snapshot"]["signal"];
}

/** What the cluster has, and how much of it is observed. Pure. */
export function clusterRow({ snapshot, pools, accountingEntries }: Analysis): ClusterRow {
  const physicalGpus = pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  const unobserved = accountingEntries
    .filter(({ device }) => device === null || snapshot.devices[device]?.activity === null)
    .reduce((sum, { gpus }) => sum + gpus, 0);
  return {
    nodes: snapshot.nodes.length,
    physicalGpus,
    pools: pools.toSorted((a, b) => b.physicalGpus - a.physicalGpus),
    observed: physicalGpus > 0 ? 1 - unobserved / physicalGpus : null,
    signal: snapshot.signal,
  };
}
