import type { Analysis } from "../../analysis/analysis.ts";
import type { GpusByState } from "../../analysis/totals.ts";
import { type GpuState, gpuStates } from "../../model/gpuStates.ts";

/** A part of a pool that is in one state, physical GPUs. */
export interface PoolPart {
  readonly state: GpuState;
  readonly gpus: number;
}

/** Where the GPUs of one pool are: its parts add up to `physicalGpus`. */
export interface PoolRow {
  readonly pool: string;
  readonly physicalGpus: number;
  /** Its parts in the order of the states; states without GPUs are left out. */
  readonly parts: readonly PoolPart[];
}

/** The rows of all pools, and the sum of their GPUs. */
interface PoolRows {
  readonly rows: readonly PoolRow[];
  readonly physicalGpus: number;
}

/** The pools of a moment as every overview shows them. Pure. */
export function poolRows({ pools }: Pick<Analysis, "pools">): PoolRows {
  const rows = pools.map(({ pool, physicalGpus, states }) => ({
    pool,
    physicalGpus,
    parts: partsOf(states),
  }));
  return { rows, physicalGpus: rows.reduce((sum, row) => sum + row.physicalGpus, 0) };
}

/** The states that have GPUs, in the order of the states. */
function partsOf(states: GpusByState): readonly PoolPart[] {
  return gpuStates.map((state) => ({ state, gpus: states[state] ?? 0 })).filter(({ gpus }) => gpus > 1e-9);
}

/** Adds up parts of GPUs by state, and returns the states that have GPUs in the order of the states. */
export function poolPartsOf(parts: readonly { readonly states: GpusByState }[]): readonly PoolPart[] {
  const sums: { -readonly [State in keyof GpusByState]: GpusByState[State] } = {};
  for (const { states } of parts)
    for (const state of gpuStates) sums[state] = (sums[state] ?? 0) + (states[state] ?? 0);
  return partsOf(sums);
}

/** The cluster as the head of every overview shows it. */
interface ClusterRow {
  readonly nodes: number;
  readonly physicalGpus: number;
  /** The pools; those with the most GPUs are first. */
  readonly pools: readonly { readonly pool: string; readonly physicalGpus: number }[];
  /** The part of the GPUs that is observed, 0..1; `null` without GPUs. */
  readonly observed: number | null;
  /** The signal by which the cluster's activity is judged; `null` without one. */
  readonly signal: Analysis["snapshot"]["signal"];
}

/** What the cluster has, and how much of it is observed. Pure. */
export function clusterRow({ snapshot, pools, accountingEntries }: Analysis): ClusterRow {
  const physicalGpus = pools.reduce((sum, pool) => sum + pool.physicalGpus, 0);
  let unobserved = 0;
  for (let i = 0; i < accountingEntries.length; i++)
    if ((snapshot.devices[accountingEntries.device[i] ?? -1]?.activity ?? null) === null)
      unobserved += accountingEntries.gpus[i] ?? 0;
  return {
    nodes: snapshot.nodes.length,
    physicalGpus,
    pools: pools.toSorted((a, b) => b.physicalGpus - a.physicalGpus),
    observed: physicalGpus > 0 ? 1 - unobserved / physicalGpus : null,
    signal: snapshot.signal,
  };
}
