import { askedGpus, isSuspended, podGroupName, systemOf } from "../queues/membership.ts";
import { hashText, nameSuffix } from "../random.ts";
import type { Habit, WorkloadKind, WorkloadSpec } from "../scenario.ts";
import { computes, noteLostWork } from "./lostWork.ts";
import { release } from "./placement.ts";
import { firstSession } from "./sessions.ts";
import { nextUid, type SimClaim, type SimPod, type Workload, type World, wallClock } from "./world.ts";

/** Kinds whose pods end by themselves; those of the other kinds are deleted when their time is over. */
export const batchKinds: ReadonlySet<WorkloadKind> = new Set(["Job", "JobSet", "PyTorchJob", "PodGroup", "Pod"]);

/** Seconds for which ended pods stay in the API. */
const keepSucceededSeconds = 300;
const keepFailedSeconds = 1800;

/** How a new workload begins. */
export interface WorkloadStart {
  readonly name: string;
  readonly spec: WorkloadSpec;
  readonly habit: Habit | null;
  readonly runSeconds: number | null;
  readonly fails: boolean;
  /** How long ago the workload was created, seconds by the wall clock. */
  readonly ageSeconds: number;
  /** Name of the only pod of a bare Pod; `null`: names of pods are derived from the workload's name. */
  readonly podName: string | null;
}

/** Makes a workload and its pods, all of them waiting. */
export function createWorkload(world: World, start: WorkloadStart): Workload {
  const createdAt = wallClock(world) - start.ageSeconds;
  const system = systemOf(world.scenario, start.spec);
  const uid = nextUid(world);
  const workload: Workload = {
    uid,
    name: start.name,
    serial: world.serial,
    order: world.serial,
    spec: start.spec,
    habit: start.habit,
    team: world.teams.get(start.spec.namespace) ?? null,
    createdAt,
    runSeconds: start.runSeconds,
    fails: start.fails,
    failed: 0,
    suspended: false,
    stopped: false,
    active: true,
    boost: 0,
    tried: false,
    progress: new Map(),
    pods: [],
    system,
    ...(system === "kai" ? { nodePool: world.scenario.queueing.kai?.nodePool ?? null } : {}),
    queuedAt: createdAt,
    admittedAt: system === null ? createdAt : null,
    admittedTime: system === null ? world.time : null,
    eviction: null,
    evictions: 0,
    claim: null,
    endedTime: null,
    session: firstSession(world, uid, start.spec.activity, world.time - start.ageSeconds),
  };
  const { request } = start.spec;
  if (request.kind === "claim" && request.shared) workload.claim = createClaim(world, `${start.name}-gpus`);
  if (!isSuspended(world.scenario, start.spec)) createPods(world, workload, start.podName);
  world.workloads.add(workload);
  world.newWorkloads.add(workload);
  return workload;
}

function createPods(world: World, workload: Workload, fixedName: string | null): void {
  workload.pods = Array.from({ length: workload.spec.pods }, (_, index) =>
    createPod(world, workload, index, fixedName, createdAtOf(world, workload)),
  );
  for (const pod of workload.pods) {
    world.waiting.add(pod);
    world.dirtyPods.add(pod);
  }
}

/** Lets a workload go on from its queue to the scheduler; a suspended job gets its pods. */
export function admit(world: World, workload: Workload): void {
  workload.admittedAt = wallClock(world);
  workload.admittedTime = world.time;
  if (workload.pods.length === 0) createPods(world, workload, null);
  for (const pod of workload.pods) world.dirtyPods.add(pod);
}

/**
 * Takes a workload's GPUs away and puts it back into its queue; its owner makes new pods when they may exist. KAI and Volcano
 * take nothing from a workload that has no GPUs yet: it only waits again.
 */
export function evict(world: World, workload: Workload, reason: string, by: Workload | null): void {
  const at = wallClock(world);
  const { system } = workload;
  if (system !== "kueue" && !workload.pods.some(({ node, endedAt }) => node !== null && endedAt === null)) {
    workload.admittedAt = null;
    workload.admittedTime = null;
    return;
  }
  const key = `${system}/${workload.spec.queue}`;
  world.evictions.set(key, (world.evictions.get(key) ?? 0) + 1);
  for (const pod of workload.pods) {
    if (pod.endedAt === null) {
      noteLostWork(world, pod);
      if (pod.node !== null && system !== "kueue" && by !== null)
        pod.disruption = { at, message: disruptionMessage(pod, by) };
      release(world, pod);
    }
    world.waiting.delete(pod);
    world.dirtyPods.delete(pod);
    world.removedPods.add(pod);
  }
  workload.pods = [];
  workload.eviction = { at, admittedAt: workload.admittedAt ?? at, reason, by };
  workload.evictions += 1;
  workload.queuedAt = at;
  workload.admittedAt = null;
  workload.admittedTime = null;
  if (!isSuspended(world.scenario, workload.spec)) createPods(world, workload, null);
}

/** The message of a preemption. KAI names the workload that takes the place, and Volcano does not. */
function disruptionMessage(pod: SimPod, by: Workload): string {
  const { spec, system } = pod.workload;
  if (system !== "kai") return "Preempted by the scheduler to make room";
  return `Pod ${spec.namespace}/${pod.name} was preempted by workload ${by.spec.namespace}/${podGroupName(by)}.`;
}

/** Makes a pod of a workload that is not placed yet. The caller must put it into the sets of the world. */
export function createPod(
  world: World,
  workload: Workload,
  index: number,
  fixedName: string | null,
  createdAt: number,
): SimPod {
  const uid = nextUid(world);
  const name = fixedName ?? podName(workload, index, uid);
  const { request } = workload.spec;
  return {
    uid,
    name,
    index,
    workload,
    key: hashText(`${workload.spec.namespace}/${name}`, world.seed >>> 0),
    createdAt,
    phase: "Pending",
    node: null,
    allocations: [],
    claim: request.kind === "claim" && !request.shared ? createClaim(world, `${name}-gpu-${nameSuffix(uid)}`) : null,
    scheduledAt: null,
    scheduledTime: 0,
    startedAt: null,
    startedTime: 0,
    endsTime: null,
    endedAt: null,
  };
}

/**
 * When a workload's pods are created: those of a suspended job when it is admitted, those of an evicted workload when they are
 * made anew, and all others together with the workload.
 */
function createdAtOf(world: World, workload: Workload): number {
  const isLater = workload.eviction !== null || isSuspended(world.scenario, workload.spec);
  return isLater ? wallClock(world) : workload.createdAt;
}

function createClaim(world: World, name: string): SimClaim {
  return { name, uid: nextUid(world), createdAt: wallClock(world), allocatedAt: null };
}

function podName(workload: Workload, index: number, uid: string): string {
  const { name } = workload;
  switch (workload.spec.kind) {
    case "Job":
      return `${name}-${nameSuffix(uid)}`;
    case "JobSet":
      return `${name}-workers-0-${index}-${nameSuffix(uid)}`;
    case "PyTorchJob":
      return index === 0 ? `${name}-master-0` : `${name}-worker-${index - 1}`;
    case "Deployment":
      return `${name}-${nameSuffix(workload.uid, 9)}-${nameSuffix(uid)}`;
    case "LeaderWorkerSet":
      return index === 0 ? `${name}-0` : `${name}-0-${index}`;
    case "StatefulSet":
    case "Notebook":
    case "PodGroup":
      return `${name}-${index}`;
    case "Pod":
      return workload.spec.pods === 1 ? name : `${name}-${index}`;
  }
}

/** Starts containers some seconds after their pod was bound. Claims are allocated together with the binding. */
export function startPods(world: World): void {
  const together = new Set<Workload>();
  for (const pod of world.starting) {
    if (world.time - pod.scheduledTime < 10) continue;
    world.starting.delete(pod);
    world.running.add(pod);
    pod.phase = "Running";
    pod.startedAt = wallClock(world);
    pod.startedTime = world.time;
    if (pod.workload.spec.needsAll === true) together.add(pod.workload);
    else pod.endsTime = endOf(world, pod);
    world.dirtyPods.add(pod);
  }
  for (const { pods } of together) {
    if (!pods.every(computes)) continue;
    for (const pod of pods) {
      pod.startedTime = world.time;
      pod.endsTime = endOf(world, pod);
    }
  }
}

/**
 * When a pod that begins to work now will be done: work that checkpoints kept is not done again. `null`: it never ends by
 * itself.
 */
function endOf({ time }: World, { workload, index }: SimPod): number | null {
  const { runSeconds, progress } = workload;
  return runSeconds === null ? null : time + Math.max(1, runSeconds - (progress.get(index) ?? 0));
}

/** Records when claims were allocated, and makes the claims that the scheduler makes itself. */
export function settleClaims(world: World): void {
  for (const pod of world.starting) {
    if (pod.workload.spec.request.kind === "extended-resource" && pod.claim === null) {
      pod.claim = createClaim(world, `${pod.name}-extended-resources-${nameSuffix(pod.uid)}`);
    }
    const claim = pod.claim ?? pod.workload.claim;
    if (claim !== null) claim.allocatedAt ??= wallClock(world);
  }
}

/** Ends pods whose time is over, and forgets workloads that ended long enough ago. */
export function endPods(world: World): void {
  for (const pod of world.running) {
    if (pod.endsTime !== null && pod.endsTime <= world.time) endPod(world, pod);
  }
  for (const workload of world.workloads) {
    if (workload.endedTime === null) {
      const hasEnded = workload.pods.length > 0 && workload.pods.every((pod) => pod.endedAt !== null);
      if (!hasEnded) continue;
      workload.endedTime = world.time;
      noteFinished(world, workload);
    }
    const keep = workload.fails ? keepFailedSeconds : keepSucceededSeconds;
    const isBatch = batchKinds.has(workload.spec.kind);
    if (!isBatch || world.time - workload.endedTime >= keep) removeWorkload(world, workload);
  }
}

/** Counts a job that has done its work. */
function noteFinished(world: World, { spec, fails, runSeconds }: Workload): void {
  if (fails || runSeconds === null || !batchKinds.has(spec.kind)) return;
  world.finished.workloads += 1;
  world.finished.gpuSeconds += runSeconds * askedGpus(spec);
}

function endPod(world: World, pod: SimPod): void {
  release(world, pod);
  // A gang that fails takes one pod down for its own reason, and the others with it: all of them fail.
  pod.phase = pod.workload.fails ? "Failed" : "Succeeded";
  pod.endedAt = wallClock(world);
}

/** Forgets a workload with all that belongs to it. */
export function removeWorkload(world: World, workload: Workload): void {
  world.workloads.delete(workload);
  world.removedWorkloads.add(workload);
}
