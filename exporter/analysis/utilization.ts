import type { PodView, Snapshot } from "../join/snapshot.ts";
import { inRanges, keepShape } from "../kernel/inRanges.ts";
import { type GpuState, gpuStates, observedStates } from "../model/gpuStates.ts";
import { type AccountingEntries, noEntries } from "./accountingEntries.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";

const allocatedAt = gpuStates.length;
const estimatedAt = gpuStates.length + 1;

/** Sums of amounts by state. */
class StateSums {
  /** In the order of `gpuStates`, then what is allocated and what of it is estimated; NaN: nothing was added. */
  readonly #amounts = new Float64Array(gpuStates.length + 2).fill(Number.NaN);

  add(stateId: number, gpus: number, isAllocated: boolean, isEstimated: boolean): void {
    this.#addAt(stateId, gpus);
    if (!isAllocated) return;
    this.#addAt(allocatedAt, gpus);
    if (isEstimated) this.#addAt(estimatedAt, gpus);
  }

  get allocated(): number {
    return this.#amounts[allocatedAt] || 0;
  }

  get estimated(): number {
    return this.#amounts[estimatedAt] || 0;
  }

  /** A state that nothing is in has no amount. */
  states(): Partial<Record<GpuState, number>> {
    const states: Partial<Record<GpuState, number>> = {};
    for (const [id, state] of gpuStates.entries()) {
      const amount = this.#amounts[id] ?? Number.NaN;
      if (!Number.isNaN(amount)) states[state] = amount;
    }
    return states;
  }

  #addAt(place: number, gpus: number): void {
    const amount = this.#amounts[place] ?? Number.NaN;
    this.#amounts[place] = Number.isNaN(amount) ? gpus : amount + gpus;
  }
}

keepShape(new StateSums());

function sumOf(sums: Map<string, StateSums>, name: string): StateSums {
  const sum = sums.get(name) ?? new StateSums();
  sums.set(name, sum);
  return sum;
}

/**
 * active / (held - unobserved - gang_wait - starting - unavailable), whose denominator is what could have been used; `null` if
 * the denominator is 0.
 */
function utilizationOf(active: number, states: Partial<Record<GpuState, number>>): number | null {
  const usable = observedStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return usable > 1e-9 ? Math.min(1, active / usable) : null;
}

type Held = Pick<Snapshot, "pods" | "devices">;

/** What each team holds, by state; and what of it is idle but opted out. */
class HeldByTeam {
  readonly sums = new Map<string, StateSums>();
  readonly idleOptedOut = new Map<string, number>();
  readonly #snapshot: Held;
  readonly #entries: AccountingEntries;
  #lastPod = -1;
  #pod: PodView | undefined;
  #sum: StateSums | null = null;

  constructor(snapshot: Held, entries: AccountingEntries) {
    this.#snapshot = snapshot;
    this.#entries = entries;
    entries.addTo(this);
  }

  addRange(from: number, to: number): void {
    const { pod, gpus, state, estimated } = this.#entries;
    for (let i = from; i < to; i++) {
      const index = pod[i] ?? -1;
      if (index < 0) continue;
      // Neighbouring entries are mostly of one pod.
      if (index !== this.#lastPod) this.#moveTo(index);
      this.#sum?.add(state[i] ?? 0, gpus[i] ?? 0, true, estimated[i] === 1);
      if (this.#pod?.idleOptOut) this.#addOptedOut(this.#pod, i);
    }
  }

  #moveTo(index: number): void {
    this.#lastPod = index;
    this.#pod = this.#snapshot.pods[index];
    this.#sum = this.#pod === undefined ? null : sumOf(this.sums, this.#pod.team);
  }

  #addOptedOut({ team }: PodView, i: number): void {
    const { device, gpus } = this.#entries;
    if (this.#snapshot.devices[device[i] ?? -1]?.idleNow)
      this.idleOptedOut.set(team, (this.idleOptedOut.get(team) ?? 0) + (gpus[i] ?? 0));
  }
}

keepShape(new HeldByTeam({ pods: [], devices: [] }, noEntries));

/** Totals of every team that holds or waits for GPUs, ordered by name. */
export function totalTeams(snapshot: Snapshot, entries: AccountingEntries): readonly TeamTotals[] {
  const { sums, idleOptedOut } = new HeldByTeam(snapshot, entries);
  const pending = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.status === "pending") pending.set(pod.team, (pending.get(pod.team) ?? 0) + (pod.gpus ?? 0));
  }
  const names = [...new Set([...sums.keys(), ...pending.keys()])].sort();
  return names.map((team) => {
    const held = sums.get(team) ?? new StateSums();
    const states = held.states();
    const active = states.active ?? 0;
    return {
      team,
      allocated: held.allocated,
      active,
      utilization: utilizationOf(active, states),
      states,
      estimated: held.estimated,
      idleOptedOut: idleOptedOut.get(team) ?? 0,
      pending: pending.get(team) ?? 0,
    };
  });
}

/** The GPUs of each pool by state, in the order of `AccountingEntries.pools`. */
class PoolSums {
  readonly sums: readonly StateSums[];
  readonly #entries: AccountingEntries;

  constructor(entries: AccountingEntries) {
    this.sums = entries.pools.map(() => new StateSums());
    this.#entries = entries;
    entries.addTo(this);
  }

  addRange(from: number, to: number): void {
    const { pod, pool, gpus, state, estimated } = this.#entries;
    for (let i = from; i < to; i++)
      this.sums[pool[i] ?? -1]?.add(state[i] ?? 0, gpus[i] ?? 0, (pod[i] ?? -1) >= 0, estimated[i] === 1);
  }
}

keepShape(new PoolSums(noEntries));

/** Totals of every pool, ordered by name; the states of each add up to its physical GPUs. */
export function totalPools(snapshot: Snapshot, entries: AccountingEntries): readonly PoolTotals[] {
  const { sums } = new PoolSums(entries);
  const parts = partsOfPools(snapshot);
  const imbalance = imbalanceByPool(snapshot);
  const nodes = nodesByPool(snapshot);
  const byName = [...entries.pools.entries()].sort(([, a], [, b]) => (a < b ? -1 : 1));
  return byName.map(([id, pool]) => {
    const sum = sums[id] ?? new StateSums();
    const { allocated, estimated } = sum;
    const states = sum.states();
    const { models, weight, active, observed } = parts.get(pool) ?? noParts;
    return {
      pool,
      gpuModels: [...models].sort(),
      nodes: nodes.get(pool) ?? 0,
      physicalGpus: weight,
      allocated,
      states,
      estimated,
      activity: observed > 0 ? active / observed : null,
      utilization: utilizationOf(states.active ?? 0, states),
      imbalance: imbalance.get(pool) ?? 0,
    };
  });
}

/** What the devices and unpartitioned parts of a pool add up to. */
interface PoolParts {
  readonly models: Set<string>;
  /** Physical GPUs. */
  weight: number;
  /** Effective GPUs, over those that are observed. */
  active: number;
  observed: number;
}

const noParts: PoolParts = { models: new Set(), weight: 0, active: 0, observed: 0 };

function partsOfPools(snapshot: Snapshot): ReadonlyMap<string, PoolParts> {
  const parts = new PartSums(snapshot.devices);
  inRanges(snapshot.devices.length, parts);
  for (const { pool, model, weight } of snapshot.unpartitioned) parts.add(pool, model, weight);
  return parts.pools;
}

class PartSums {
  readonly pools = new Map<string, PoolParts>();
  readonly #devices: Snapshot["devices"];
  #lastPool = "";
  #lastModel = "";
  #last = noParts;

  constructor(devices: Snapshot["devices"]) {
    this.#devices = devices;
  }

  addRange(from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const device = this.#devices[i];
      if (device === undefined) continue;
      const { pool, model, weight, activity } = device;
      const parts = this.add(pool, model, weight);
      if (activity === null) continue;
      parts.active += activity * weight;
      parts.observed += weight;
    }
  }

  add(pool: string, model: string, weight: number): PoolParts {
    if (pool !== this.#lastPool || model !== this.#lastModel || this.#last === noParts) {
      this.#last = this.pools.get(pool) ?? { models: new Set(), weight: 0, active: 0, observed: 0 };
      this.pools.set(pool, this.#last);
      this.#last.models.add(model);
      this.#lastPool = pool;
      this.#lastModel = model;
    }
    this.#last.weight += weight;
    return this.#last;
  }
}

keepShape(new PartSums([]));

/**
 * The imbalance of each pool. The difference of a node counts for its first pool: what a pod holds by request names no pool.
 */
function imbalanceByPool(snapshot: Snapshot): ReadonlyMap<string, number> {
  const byPool = new Map<string, number>();
  for (const node of snapshot.nodes) {
    const pool = node.pools[0];
    const difference = Math.abs(node.allocatedByDevices - node.allocatedByPods);
    if (pool !== undefined && difference > 1e-6) byPool.set(pool, (byPool.get(pool) ?? 0) + difference);
  }
  return byPool;
}

function nodesByPool(snapshot: Snapshot): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { pools } of snapshot.nodes) for (const pool of pools) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return counts;
}
