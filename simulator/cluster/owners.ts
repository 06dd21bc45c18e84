import { isSuspended } from "../queues/membership.ts";
import type { WorkloadKind } from "../scenario.ts";
import { createPod, removeWorkload } from "./lifecycle.ts";
import { release } from "./placement.ts";
import { countsFailures, removePod } from "./removePod.ts";
import { type SimPod, type Workload, type World, wallClock } from "./world.ts";

/** Kinds whose pods are not made again. */
const bareKinds: ReadonlySet<WorkloadKind> = new Set(["Pod", "PodGroup"]);

/**
 * Kinds whose processes restart together when one is lost: LeaderWorkerSet by its default restart policy; JobSet and
 * PyTorchJob as people run them, since collective operations fail with the lost process.
 */
const restartedWhole: ReadonlySet<WorkloadKind> = new Set(["LeaderWorkerSet", "JobSet", "PyTorchJob"]);

/** The `backoffLimit` of a Job that does not set one. */
const usualBackoffLimit = 6;

/** How many pods the owner wants now. */
export function wantedPods({ spec, suspended, stopped }: Workload): number {
  return suspended || stopped ? 0 : spec.pods;
}

/** Controllers react to what happened since the last step: they make new pods, take surplus ones, or give up. */
export function settleOwners(world: World): void {
  for (const workload of [...world.unsettled]) {
    if (world.workloads.has(workload) && workload.endedTime === null) settle(world, workload);
    world.unsettled.delete(workload);
  }
}

function settle(world: World, workload: Workload): void {
  const { spec } = workload;
  if (bareKinds.has(spec.kind)) {
    if (workload.pods.length === 0) removeWorkload(world, workload);
    return;
  }
  if (hasFailed(workload)) {
    fail(world, workload);
    return;
  }
  const live = workload.pods.filter(({ endedAt }) => endedAt === null);
  const wanted = wantedPods(workload);
  const isBroken = restartedWhole.has(spec.kind) && workload.pods.length < spec.pods;
  for (const pod of isBroken ? live : surplus(live, wanted)) removePod(world, pod, null);
  if (workload.pods.every(({ node, endedAt }) => node === null || endedAt !== null)) requeue(workload, wanted);
  // Kueue's jobs get their pods when they are admitted.
  if (wanted > 0 && !(isSuspended(world.scenario, spec) && workload.admittedAt === null)) makeMissing(world, workload);
}

/** Puts a workload that has no GPUs any more back into its queue: KAI and Volcano decide anew about every pod. */
function requeue(workload: Workload, wanted: number): void {
  if (workload.system === null || (workload.system === "kueue" && wanted > 0)) return;
  workload.admittedAt = null;
  workload.admittedTime = null;
}

/** The pods that a controller removes first: a StatefulSet the highest index, a Deployment those that do not run. */
function surplus(live: readonly SimPod[], wanted: number): readonly SimPod[] {
  const inOrder = [...live].sort((a, b) =>
    a.workload.spec.kind === "Deployment"
      ? Number(a.phase === "Running") - Number(b.phase === "Running") || b.createdAt - a.createdAt || b.index - a.index
      : b.index - a.index,
  );
  return inOrder.slice(0, Math.max(0, live.length - wanted));
}

function makeMissing(world: World, workload: Workload): void {
  const taken = new Set(workload.pods.map(({ index }) => index));
  const pods = [...workload.pods];
  for (let index = 0; pods.length < workload.spec.pods; index++) {
    if (taken.has(index)) continue;
    const pod = createPod(world, workload, index, null, wallClock(world));
    pods.push(pod);
    world.waiting.add(pod);
  }
  if (pods.length === workload.pods.length) return;
  workload.pods = pods.sort((a, b) => a.index - b.index);
  for (const pod of pods) world.dirtyPods.add(pod);
  if (workload.failed > 0) world.newWorkloads.add(workload);
  // New pods are behind those that were already waiting.
  world.serial += 1;
  workload.order = world.serial;
}

function hasFailed(workload: Workload): boolean {
  if (!countsFailures(workload) || workload.failed === 0) return false;
  const { onDisruption, backoffLimit } = workload.spec;
  return onDisruption === "FailJob" || workload.failed > (backoffLimit ?? usualBackoffLimit);
}

/** Ends a failed Job, which takes its pods down. */
function fail(world: World, workload: Workload): void {
  workload.fails = true;
  workload.endedTime = world.time;
  for (const pod of workload.pods) {
    if (pod.endedAt !== null) continue;
    release(world, pod);
    world.waiting.delete(pod);
    pod.phase = "Failed";
    pod.endedAt = wallClock(world);
  }
  world.newWorkloads.add(workload);
}
