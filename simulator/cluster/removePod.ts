import { nameSuffix } from "../random.ts";
import { removeWorkload } from "./lifecycle.ts";
import { noteLostWork } from "./lostWork.ts";
import { release } from "./placement.ts";
import { type SimDisruption, type SimNode, type SimPod, type Workload, type World, wallClock } from "./world.ts";

/** Removes a pod for good; its owner reacts in the next step. `why` is written into the pod before. */
export function removePod(world: World, pod: SimPod, why: SimDisruption | null): void {
  const { workload } = pod;
  world.removedPods.add(pod);
  // A pod that has ended is not made again.
  if (pod.endedAt !== null) return;
  if (why !== null) pod.disruption = why;
  noteLostWork(world, pod);
  release(world, pod);
  world.waiting.delete(pod);
  world.dirtyPods.delete(pod);
  workload.pods = workload.pods.filter((other) => other !== pod);
  // The other pods of the workload are published again, because budgets no longer count this one.
  for (const other of workload.pods) world.dirtyPods.add(other);
  world.unsettled.add(workload);
}

/**
 * Removes a pod that someone evicted or deleted, or whose node is gone. For a Job, this is a failure unless its policy says
 * otherwise.
 */
export function disruptPod(
  world: World,
  pod: SimPod,
  reason: "EvictionByEvictionAPI" | "DeletionByPodGC" | null,
): void {
  const message = reason === "DeletionByPodGC" ? "PodGC: node no longer exists" : "Eviction API: evicting";
  const isOver = pod.endedAt !== null;
  removePod(world, pod, reason === null ? null : { at: wallClock(world), reason, message });
  const { workload } = pod;
  if (!isOver && countsFailures(workload) && workload.spec.onDisruption !== "Ignore") {
    workload.failed += 1;
    world.newWorkloads.add(workload);
  }
}

/** Deletes a workload with all its pods; `false` where there is none of this name. */
export function letGo(world: World, namespace: string, name: string): boolean {
  for (const workload of world.workloads) {
    if (workload.spec.namespace !== namespace || workload.name !== name) continue;
    const { pods } = workload;
    for (const pod of pods) removePod(world, pod, null);
    world.unsettled.delete(workload);
    removeWorkload(world, workload);
    return true;
  }
  return false;
}

/** Kinds that are batch/v1 Jobs, or made of one. */
export function countsFailures({ spec }: Workload): boolean {
  return spec.kind === "Job" || spec.kind === "JobSet";
}

/** Removes a machine, together with the pods on it. */
export function removeNode(world: World, node: SimNode): void {
  node.lost = true;
  for (const workload of world.workloads) {
    for (const pod of workload.pods)
      if (pod.node === node && pod.endedAt === null) disruptPod(world, pod, "DeletionByPodGC");
  }
  world.nodes = world.nodes.filter((other) => other !== node);
  world.nodesByName = new Map(world.nodes.map((each) => [each.spec.name, each]));
  world.dirtyNodes.delete(node);
  world.removedNodes.add(node);
  world.spareNodes.add(node);
}

/** Lets the DaemonSet make a new exporter pod on a node. */
export function restartExporter(world: World, node: SimNode): void {
  world.removedExporterPods.add(node.exporterPodName);
  node.exporterRestarts += 1;
  node.exporterPodName = `${node.exporterPodName.slice(0, -5)}${nameSuffix(`${node.uid}/${node.exporterRestarts}`)}`;
  node.exporterStartedAt = wallClock(world);
  for (const physicalGpu of node.physicalGpus) physicalGpu.shownXid = 0;
  world.dirtyNodes.add(node);
}
