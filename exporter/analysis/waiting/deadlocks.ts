import type { Snapshot } from "../../join/snapshot.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { isUsable } from "../freeCapacity/nodeFreeCapacity.ts";
import type { GangDeadlock, PartialGang } from "./waiting.ts";

/**
 * Pools in which two or more partial gangs wait for each other: what their missing members ask for together is more than
 * is free. A gang of which it is not known counts as one that misses nothing: the truth is no better.
 */
export function findDeadlocks(snapshot: Snapshot, gangs: readonly PartialGang[]): readonly GangDeadlock[] {
  const byPool = Map.groupBy(gangs, ({ pool }) => pool);
  for (const [pool, { length }] of byPool) if (length < 2) byPool.delete(pool);
  if (byPool.size === 0) return [];
  const free = freeByPool(snapshot, byPool);
  const deadlocks: GangDeadlock[] = [];
  for (const [pool, members] of byPool) {
    const missingGpus = members.reduce((sum, gang) => sum + (gang.missingGpus ?? 0), 0);
    const freeGpus = free.get(pool) ?? 0;
    if (missingGpus <= freeGpus + gpuTolerance) continue;
    const allocatedGpus = members.reduce((sum, gang) => sum + gang.allocatedGpus, 0);
    deadlocks.push({ pool, gangs: members.map(({ id }) => id), allocatedGpus, missingGpus, freeGpus });
  }
  return deadlocks.sort((a, b) => (a.pool < b.pool ? -1 : 1));
}

function freeByPool({ nodes, devices }: Snapshot, pools: ReadonlyMap<string, unknown>): ReadonlyMap<string, number> {
  const usable = new Set(nodes.filter(isUsable).map(({ name }) => name));
  const free = new Map<string, number>();
  for (const { pool, node, weight, holders, unhealthy, orphanReservation } of devices) {
    if (unhealthy || orphanReservation || !pools.has(pool) || !usable.has(node)) continue;
    const allocated = holders.reduce((sum, { share }) => sum + share, 0);
    free.set(pool, (free.get(pool) ?? 0) + Math.max(0, weight - allocated));
  }
  return free;
}
