import type { WorkloadKind } from "../scenario.ts";
import { isWaitingTime } from "../waits.ts";
import { batchKinds } from "./lifecycle.ts";
import type { SimPod, World } from "./world.ts";

/** Whether a pod computes. If it needs all pods of its workload, it waits until the last of them runs. */
export function computes(pod: SimPod): boolean {
  const { spec, pods } = pod.workload;
  if (pod.phase !== "Running") return false;
  if (spec.needsAll !== true) return true;
  return pods.length === spec.pods && pods.every(({ phase }) => phase === "Running");
}

/** Whether a pod looks busy but has stopped computing for good. */
export function hangs(world: Pick<World, "time">, pod: SimPod): boolean {
  return hasHung(world, pod) && !isTheOne(pod);
}

/** Whether a pod looks busy but computes nothing: it hangs, or waits for a while. */
export function spins(world: Pick<World, "time">, pod: SimPod): boolean {
  return standsStill(world, pod) && !isTheOne(pod);
}

/** Whether a pod is the silent one of its workload at this moment: nothing runs in it, and the other pods wait for it. */
export function isSilent(world: Pick<World, "time">, pod: SimPod): boolean {
  return pod.workload.spec.firstPod === "silent" && isTheOne(pod) && standsStill(world, pod);
}

const isTheOne = ({ index, workload }: SimPod): boolean => index === 0 && workload.spec.firstPod !== undefined;

function hasHung({ time }: Pick<World, "time">, pod: SimPod): boolean {
  const { hangsAfterSeconds } = pod.workload.spec;
  return hangsAfterSeconds !== undefined && computes(pod) && time - pod.startedTime >= hangsAfterSeconds;
}

function standsStill(world: Pick<World, "time">, pod: SimPod): boolean {
  if (hasHung(world, pod)) return true;
  const { waits } = pod.workload.spec;
  return waits !== undefined && computes(pod) && isWaitingTime(waits, world.time - pod.startedTime);
}

/** Whether a pod has begun to work. If pods need each other, all begin when the last of them runs. */
function hasBegun({ phase, endsTime, workload }: SimPod): boolean {
  return phase === "Running" && (workload.spec.needsAll !== true || endsTime !== null);
}

/** How much running time the last checkpoint of a pod holds, seconds since it started; 0 before the first one. */
export function checkpointed(world: Pick<World, "time">, pod: SimPod): number {
  const { checkpointSeconds, hangsAfterSeconds = Number.POSITIVE_INFINITY } = pod.workload.spec;
  if (checkpointSeconds === undefined || !hasBegun(pod)) return 0;
  const worked = Math.min(world.time - pod.startedTime, hangsAfterSeconds);
  return Math.floor(worked / checkpointSeconds) * checkpointSeconds;
}

/**
 * Records the work that a pod loses when it is taken off its GPUs now: batch work since its last checkpoint, or since its
 * start. Services and notebooks have no progress to lose.
 */
export function noteLostWork(world: World, pod: SimPod): void {
  const { workload } = pod;
  if (!hasBegun(pod) || !isBatch(workload.spec.kind)) return;
  const kept = checkpointed(world, pod);
  if (kept > 0) workload.progress.set(pod.index, (workload.progress.get(pod.index) ?? 0) + kept);
  let gpus = 0;
  for (const { share } of pod.allocations) gpus += share;
  const key = `${workload.spec.namespace}/${workload.name}`;
  const lost = (world.time - pod.startedTime - kept) * gpus;
  world.lostGpuSeconds.set(key, (world.lostGpuSeconds.get(key) ?? 0) + lost);
}

function isBatch(kind: WorkloadKind): boolean {
  return batchKinds.has(kind);
}

/** Marks the pods that made a checkpoint since `before`, so that their annotation is published. */
export function noteCheckpoints(world: World, before: number): void {
  for (const pod of world.running) {
    if (pod.workload.spec.checkpointSeconds === undefined) continue;
    if (checkpointed(world, pod) > checkpointed({ time: before }, pod)) world.dirtyPods.add(pod);
  }
}
