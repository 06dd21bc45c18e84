import type { Snapshot } from "../join/snapshot.ts";
import type { Booking, GpuState } from "./booking.ts";
import type { PoolTotals, TeamTotals } from "./totals.ts";

/** Sums amounts by state. */
class StateSums {
  readonly states: Partial<Record<GpuState, number>> = {};
  held = 0;
  estimated = 0;

  add(booking: Booking): void {
    this.states[booking.state] = (this.states[booking.state] ?? 0) + booking.gpus;
    if (booking.pod === null) return;
    this.held += booking.gpus;
    if (booking.estimated) this.estimated += booking.gpus;
  }
}

const bookingsPerStep = 20_000;

function sumOf(sums: Map<string, StateSums>, name: string): StateSums {
  const known = sums.get(name);
  if (known !== undefined) return known;
  const sum = new StateSums();
  sums.set(name, sum);
  return sum;
}

const observedStates: readonly GpuState[] = ["active", "underused", "held_idle"];

/** active / (held - unobserved - gang_wait - starting - unavailable): what could have been used; `null` if nothing was. */
function utilizationOf(active: number, states: Partial<Record<GpuState, number>>): number | null {
  const usable = observedStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return usable > 1e-9 ? Math.min(1, active / usable) : null;
}

/** Totals of every team that holds or waits for GPUs, by name. */
export function* totalTeams(snapshot: Snapshot, bookings: readonly Booking[]): Generator<void, readonly TeamTotals[]> {
  const sums = new Map<string, StateSums>();
  const idleOptedOut = new Map<string, number>();
  for (const [i, booking] of bookings.entries()) {
    if (i % bookingsPerStep === bookingsPerStep - 1) yield;
    const pod = booking.pod === null ? undefined : snapshot.pods[booking.pod];
    if (pod === undefined) continue;
    sumOf(sums, pod.team).add(booking);
    const device = booking.device === null ? undefined : snapshot.devices[booking.device];
    if (pod.idleOptOut && device?.idleNow) idleOptedOut.set(pod.team, (idleOptedOut.get(pod.team) ?? 0) + booking.gpus);
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
      held: sum.held,
      active,
      utilization: utilizationOf(active, sum.states),
      states: sum.states,
      estimated: sum.estimated,
      idleOptedOut: idleOptedOut.get(team) ?? 0,
      pending: pending.get(team) ?? 0,
    };
  });
}

/** Totals of every pool, by name; the states of each add up to its physical GPUs. */
export function* totalPools(snapshot: Snapshot, bookings: readonly Booking[]): Generator<void, readonly PoolTotals[]> {
  const sums = new Map<string, StateSums>();
  for (const [i, booking] of bookings.entries()) {
    if (i % bookingsPerStep === bookingsPerStep - 1) yield;
    sumOf(sums, booking.pool).add(booking);
  }
  yield;
  const parts = partsOfPools(snapshot);
  const activity = meanActivity(snapshot);
  const imbalance = imbalanceByPool(snapshot);
  return [...sums.keys()].sort().map((pool) => {
    const { states, held, estimated } = sums.get(pool) ?? new StateSums();
    const members = snapshot.nodes.filter((node) => node.pools.includes(pool));
    const { models, weight } = parts.get(pool) ?? { models: [], weight: 0 };
    return {
      pool,
      gpuModels: [...models].sort(),
      nodes: members.length,
      physicalGpus: weight,
      held,
      states,
      estimated,
      activity: activity.get(pool) ?? null,
      utilization: utilizationOf(states.active ?? 0, states),
      imbalance: imbalance.get(pool) ?? 0,
    };
  });
}

function partsOfPools(snapshot: Snapshot): ReadonlyMap<string, { models: Set<string>; weight: number }> {
  const pools = new Map<string, { models: Set<string>; weight: number }>();
  for (const parts of [snapshot.devices, snapshot.unpartitioned]) {
    for (const { pool, model, weight } of parts) {
      let known = pools.get(pool);
      if (known === undefined) {
        known = { models: new Set(), weight: 0 };
        pools.set(pool, known);
      }
      known.models.add(model);
      known.weight += weight;
    }
  }
  return pools;
}

function meanActivity(snapshot: Snapshot): ReadonlyMap<string, number> {
  const sums = new Map<string, { active: number; observed: number }>();
  for (const device of snapshot.devices) {
    if (device.activity === null) continue;
    let sum = sums.get(device.pool);
    if (sum === undefined) {
      sum = { active: 0, observed: 0 };
      sums.set(device.pool, sum);
    }
    sum.active += device.activity * device.weight;
    sum.observed += device.weight;
  }
  const means = [...sums]
    .filter(([, sum]) => sum.observed > 0)
    .map(([pool, sum]) => [pool, sum.active / sum.observed] as const);
  return new Map(means);
}

/** A node's difference counts for its first pool: what a pod holds by request names no pool. */
function imbalanceByPool(snapshot: Snapshot): ReadonlyMap<string, number> {
  const byPool = new Map<string, number>();
  for (const node of snapshot.nodes) {
    const pool = node.pools[0];
    const difference = Math.abs(node.heldByDevices - node.heldByPods);
    if (pool !== undefined && difference > 1e-6) byPool.set(pool, (byPool.get(pool) ?? 0) + difference);
  }
  return byPool;
}
