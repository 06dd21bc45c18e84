import type { Analysis } from "../../analysis/analysis.ts";
import { createCostAdder, type HolderCost } from "../../analysis/sums/costSums.ts";
import type { GpuState } from "../../model/gpuStates.ts";

/** Physical GPUs by state, being added up. */
export type StateSums = Partial<Record<GpuState, number>>;

/** The bookings of a moment, added up for the records of a document. */
export interface Booked {
  /** Held GPUs by node. */
  readonly heldByNode: ReadonlyMap<string, number>;
  /** By index of the device. */
  readonly statesByDevice: ReadonlyMap<number, StateSums>;
  /** By index of the workload. */
  readonly statesByWorkload: ReadonlyMap<number, StateSums>;
  /** What is held costs; empty where nothing has a price. */
  readonly holders: readonly HolderCost[];
}

/** Adds up the bookings once, in all the ways that records need. */
export function addUpBookings(analysis: Analysis): Booked {
  const { bookings, snapshot } = analysis;
  const costs = createCostAdder(analysis);
  const heldByNode = new Map<string, number>();
  const statesByDevice = new Map<number, StateSums>();
  const statesByWorkload = new Map<number, StateSums>();
  for (const booking of bookings) {
    if (booking.device !== null) add(statesByDevice, booking.device, booking.state, booking.gpus);
    costs.add(booking);
    if (booking.pod === null) continue;
    heldByNode.set(booking.node, (heldByNode.get(booking.node) ?? 0) + booking.gpus);
    const workload = snapshot.pods[booking.pod]?.workload;
    if (workload !== undefined) add(statesByWorkload, workload, booking.state, booking.gpus);
  }
  return { heldByNode, statesByDevice, statesByWorkload, holders: costs.sums().holders };
}

/** The sum over all states. */
export function totalOf(states: StateSums): number {
  return Object.values(states).reduce((sum, gpus) => sum + gpus, 0);
}

/** The state of the largest part; of equal parts the first that was booked. `null` without any. */
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
