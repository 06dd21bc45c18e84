import type { Snapshot } from "../join/snapshot.ts";
import { type GpuState, observedStates } from "../model/gpuStates.ts";
import type { AccountingEntry } from "./accountingEntry.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";

/** Sums amounts by state. */
class StateSums {
  readonly states: Partial<Record<GpuState, number>> = {};
  allocated = 0;
  estimated = 0;

  add(accountingEntry: AccountingEntry): void {
    this.states[accountingEntry.state] = (this.states[accountingEntry.state] ?? 0) + accountingEntry.gpus;
    if (accountingEntry.pod === null) return;
    this.allocated += accountingEntry.gpus;
    if (accountingEntry.estimated) this.estimated += accountingEntry.gpus;
  }
}

/** Creates sums by name. Neighbouring accounting entries mostly have the same name, so only the first of them looks it up. */
function createSums() {
  const sums = new Map<string, StateSums>();
  let lastName: string | null = null;
  let last = new StateSums();
  return {
    sums,
    of(name: string): StateSums {
      if (name === lastName) return last;
      lastName = name;
      last = sums.get(name) ?? new StateSums();
      sums.set(name, last);
      return last;
    },
  };
}

/**
 * active / (held - unobserved - gang_wait - starting - unavailable), whose denominator is what could have been used; `null` if
 * the denominator is 0.
 */
function utilizationOf(active: number, states: Partial<Record<GpuState, number>>): number | null {
  const usable = observedStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return usable > 1e-9 ? Math.min(1, active / usable) : null;
}

/** Totals of every team that holds or waits for GPUs, ordered by name. */
export function totalTeams(snapshot: Snapshot, accountingEntries: readonly AccountingEntry[]): readonly TeamTotals[] {
  const { sums, of: sumOf } = createSums();
  const idleOptedOut = new Map<string, number>();
  for (let i = 0; i < accountingEntries.length; i++) {
    const accountingEntry = accountingEntries[i];
    if (accountingEntry === undefined) continue;
    const pod = accountingEntry.pod === null ? undefined : snapshot.pods[accountingEntry.pod];
    if (pod === undefined) continue;
    sumOf(pod.team).add(accountingEntry);
    if (!pod.idleOptOut || accountingEntry.device === null) continue;
    if (snapshot.devices[accountingEntry.device]?.idleNow)
      idleOptedOut.set(pod.team, (idleOptedOut.get(pod.team) ?? 0) + accountingEntry.gpus);
  }
  const pending = new Map<string, number>();
  for (const pod of snapshot.pods) {
    if (pod.status === "pending") pending.set(pod.team, (pending.get(pod.team) ?? 0) + (pod.gpus ?? 0));
  }
  const names = [...new Set([...sums.keys(), ...pending.keys()])].sort();
  return names.map((team) => {
    const sum = sums.get(team) ?? new StateSums();
    const active = sum.states.active ?? 0;
    return {
      team,
      allocated: sum.allocated,
      active,
      utilization: utilizationOf(active, sum.states),
      states: sum.states,
      estimated: sum.estimated,
      idleOptedOut: idleOptedOut.get(team) ?? 0,
      pending: pending.get(team) ?? 0,
    };
  });
}

/** Totals of every pool, ordered by name; the states of each add up to its physical GPUs. */
export function totalPools(snapshot: Snapshot, accountingEntries: readonly AccountingEntry[]): readonly PoolTotals[] {
  const { sums, of: sumOf } = createSums();
  for (let i = 0; i < accountingEntries.length; i++) {
    const accountingEntry = accountingEntries[i];
    if (accountingEntry !== undefined) sumOf(accountingEntry.pool).add(accountingEntry);
  }
  const parts = partsOfPools(snapshot);
  const imbalance = imbalanceByPool(snapshot);
  const nodes = nodesByPool(snapshot);
  return [...sums.keys()].sort().map((pool) => {
    const { states, allocated, estimated } = sums.get(pool) ?? new StateSums();
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
  const pools = new Map<string, PoolParts>();
  let [lastPool, lastModel, last] = ["", "", noParts];
  const add = (pool: string, model: string, weight: number): PoolParts => {
    if (pool !== lastPool || model !== lastModel || last === noParts) {
      last = pools.get(pool) ?? { models: new Set(), weight: 0, active: 0, observed: 0 };
      pools.set(pool, last);
      last.models.add(model);
      lastPool = pool;
      lastModel = model;
    }
    last.weight += weight;
    return last;
  };
  for (const { pool, model, weight, activity } of snapshot.devices) {
    const parts = add(pool, model, weight);
    if (activity === null) continue;
    parts.active += activity * weight;
    parts.observed += weight;
  }
  for (const { pool, model, weight } of snapshot.unpartitioned) add(pool, model, weight);
  return pools;
}

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
