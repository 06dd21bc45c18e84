import { placePod, unbind } from "./placement.ts";
import { type IsIn, placesFor } from "./topology.ts";
import type { SimPod, Workload, World } from "./world.ts";

/**
 * One round of a simple scheduler. Workloads are placed by priority, then by age; gangs are placed whole or not at all;
 * workloads that do not fit are passed over and tried again in the next round.
 */
export function schedule(world: World): void {
  const waiting = new Map<Workload, SimPod[]>();
  for (const pod of world.waiting) {
    if (pod.workload.admittedAt === null) continue;
    const pods = waiting.get(pod.workload);
    if (pods === undefined) waiting.set(pod.workload, [pod]);
    else pods.push(pod);
  }
  const order = [...waiting.keys()].sort((a, b) => priorityOf(world, b) - priorityOf(world, a) || a.order - b.order);
  for (const workload of order) {
    const pods = waiting.get(workload) ?? [];
    if (workload.spec.needsAll === true) continue;
    if (workload.spec.gang) placeGang(world, workload, pods);
    else for (const pod of pods) if (!placePod(world, pod)) break;
  }
  placeInTurn(
    world,
    order.flatMap(({ spec, pods }) => (spec.needsAll === true ? [pods.filter(({ node }) => node === null)] : [])),
  );
}

/**
 * Places pods that need each other but are bound one by one: their workloads take turns, like pods that were made at the same
 * time.
 */
function placeInTurn(world: World, groups: readonly (readonly SimPod[])[]): void {
  const open = new Set(groups);
  for (let turn = 0; open.size > 0; turn++) {
    for (const pods of open) {
      const pod = pods[turn];
      if (pod === undefined || !placePod(world, pod)) open.delete(pods);
    }
  }
}

/** The resolved integer priority of a workload's pods. */
export function priorityOf(world: World, workload: Workload): number {
  return world.scenario.priorityClasses[workload.spec.priorityClass ?? ""] ?? 0;
}

function placeGang(world: World, workload: Workload, pods: readonly SimPod[]): void {
  for (const isIn of placesFor(world, workload, pods.length)) if (placeAll(world, pods, isIn)) return;
  restoreOrder(world, pods);
}

/** Places all of these pods within a part of the cluster, or none of them. */
function placeAll(world: World, pods: readonly SimPod[], isIn: IsIn): boolean {
  const placed: SimPod[] = [];
  for (const pod of pods) {
    if (placePod(world, pod, isIn)) {
      placed.push(pod);
      continue;
    }
    for (const done of placed.reverse()) {
      unbind(world, done);
    }
    return false;
  }
  return true;
}

/** Restores the order of the pods of a gang, because a failed try must not change in which order they are tried next time. */
function restoreOrder(world: World, pods: readonly SimPod[]): void {
  for (const pod of pods) {
    world.waiting.delete(pod);
    world.waiting.add(pod);
  }
}
