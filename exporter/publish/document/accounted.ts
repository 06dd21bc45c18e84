import type { Analysis } from "../../analysis/analysis.ts";
import { createCostAdder, type HolderCost } from "../../analysis/sums/costSums.ts";
import type { GpuState } from "../../model/gpuStates.ts";

/** Physical GPUs by state, being added up. */
export type StateSums = Partial<Record<GpuState, number>>;

/** The accounting entries of a moment, added up for the records of a document. */
export interface Accounted {
  /** Allocated GPUs by node. */
  readonly allocatedByNode: ReadonlyMap<string, number>;
  /** By index of the device. */
  readonly statesByDevice: ReadonlyMap<number, StateSums>;
  /** By index of the workload. */
  readonly statesByWorkload: ReadonlyMap<number, StateSums>;
  /** What is allocated costs; empty where nothing has a price. */
  readonly holders: readonly HolderCost[];
}

/** Adds up the accounting entries once, in all the ways that records need. */
export function addUpAccountingEntries(analysis: Analysis): Accounted {
  const { accountingEntries, snapshot } = analysis;
  const costs = createCostAdder(analysis);
  const allocatedByNode = new Map<string, number>();
  const statesByDevice = new Map<number, StateSums>();
  const statesByWorkload = new Map<number, StateSums>();
  for (const accountingEntry of accountingEntries) {
    if (accountingEntry.device !== null)
      add(statesByDevice, accountingEntry.device, accountingEntry.state, accountingEntry.gpus);
    costs.add(accountingEntry);
    if (accountingEntry.pod === null) continue;
    allocatedByNode.set(accountingEntry.node, (allocatedByNode.get(accountingEntry.node) ?? 0) + accountingEntry.gpus);
    const workload = snapshot.pods[accountingEntry.pod]?.workload;
    if (workload !== undefined) add(statesByWorkload, workload, accountingEntry.state, accountingEntry.gpus);
  }
  return { allocatedByNode, statesByDevice, statesByWorkload, holders: costs.sums().holders };
}

/** The sum over all states. */
export function totalOf(states: StateSums): number {
  return Object.values(states).reduce((sum, gpus) => sum + gpus, 0);
}

/** The state of the largest part; of equal parts the first that was counted. `null` without any. */
export function largestState(states: StateSums): GpuState | null {
  let largest: GpuState | null = null;
  let gpus = 0;
  for (const state in states) {
    if (isState(states, state) && (states[state] ?? 0) > gpus) {
      largest = state;
      gpus = states[state] ?? 0;
    }
  }
  return largest;
}

function isState(states: StateSums, key: string): key is GpuState {
  return Object.hasOwn(states, key);
}

function add(sums: Map<number, StateSums>, key: number, state: GpuState, gpus: number): void {
  const states = sums.get(key) ?? {};
  states[state] = (states[state] ?? 0) + gpus;
  sums.set(key, states);
}
