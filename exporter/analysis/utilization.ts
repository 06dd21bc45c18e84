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

const observedStates: readonly GpuState[] = ["active", "underused", "held_idle"];

/** active / (held - unobserved - gang_wait - starting - unavailable): what could have been used; `null` if nothing was. */
function utilizationOf(active: number, states: Partial<Record<GpuState, number>>): number | null {
  const usable = observedStates.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  return usable > 1e-9 ? Math.min(1, active / usable) : null;
}

/** Totals of every team that holds or waits for GPUs, by name. */
export function totalTeams(snapshot: Snapshot, bookings: readonly Booking[]): readonly TeamTotals[] {
  const sums = new Map<string, StateSums>();
  const idleOptedOut = new Map<string, number>();
  for (const booking of bookings) {
    const pod = booking.pod === null ? undefined : snapshot.pods[booking.pod];
    if (pod === undefined) continue;
    const team = sums.get(pod.team) ?? new StateSums();
    sums.set(pod.team, team);
    team.add(booking);
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
export function totalPools(snapshot: Snapshot, bookings: readonly Booking[]): readonly PoolTotals[] {
  const sums = new Map<string, StateSums>();
  for (const booking of bookings) {
    const pool = sums.get(booking.pool) ?? new StateSums();
    sums.set(booking.pool, pool);
    pool.add(booking);
  }
  const activity = meanActivity(snapshot);
  const imbalance = imbalanceByPool(snapshot);
  return [...sums.keys()].sort().map((pool) => {
    const { states, held, estimated } = sums.get(pool) ?? new StateSums();
    const members = snapshot.nodes.filter((node) => node.pools.includes(pool));
    const parts = [...snapshot.devices, ...snapshot.unpartitioned].filter((part) => part.pool === pool);
    return {
      pool,
      gpuModels: [...new Set(parts.map((part) => part.model))].sort(),
      nodes: members.length,
      physicalGpus: parts.reduce((sum, part) => sum + part.weight, 0),
      held,
      states,
      estimated,
      activity: activity.get(pool) ?? null,
      utilization: utilizationOf(states.active ?? 0, states),
      imbalance: imbalance.get(pool) ?? 0,
    };
  });
}

function meanActivity(snapshot: Snapshot): ReadonlyMap<string, number> {
  const sums = new Map<string, { active: number; observed: number }>();
  for (const device of snapshot.devices) {
    if (device.activity === null) continue;
    const sum = sums.get(device.pool) ?? { active: 0, observed: 0 };
    sums.set(device.pool, sum);
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
