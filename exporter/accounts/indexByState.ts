import { gpuStates, stateIds } from "../model/gpuStates.ts";

export const activeId = stateIds.get("active") ?? 0;
export const underutilizedId = stateIds.get("underutilized") ?? 0;

/** Indices by state. Most holders only ever need two of them. */
export interface IndexByState {
  active: number;
  underutilized: number;
  /** For all other states; `null` while there are none. */
  others: Int32Array | null;
}

export const noIndices = (): IndexByState => ({ active: -1, underutilized: -1, others: null });

/** The index for a state; -1 where there is none. */
export function indexIn(indices: IndexByState, stateId: number): number {
  if (stateId === activeId) return indices.active;
  if (stateId === underutilizedId) return indices.underutilized;
  return indices.others?.[stateId] ?? -1;
}

/** Keeps the index for a state. */
export function setIndex(indices: IndexByState, stateId: number, index: number): void {
  if (stateId === activeId) indices.active = index;
  else if (stateId === underutilizedId) indices.underutilized = index;
  else {
    indices.others ??= new Int32Array(gpuStates.length).fill(-1);
    indices.others[stateId] = index;
  }
}
