import { changedDevice, changedHolding } from "../../join/joinedDevice.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import type { Holding, NodeView } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import { type ClusterCopy, tidy } from "./clusterCopy.ts";
import { letReclaim } from "./letReclaim.ts";
import { movePods } from "./movePods.ts";
import type { Places } from "./places.ts";
import type { Change, PlacementRule } from "./plan.ts";
import { leave } from "./podHoldings.ts";
import { accountAllocated, countInQueue } from "./queueAccounts.ts";
import type { MovedPod } from "./trial.ts";

/** Makes one change and returns the pods that it moved. */
export function applyChange(
  copy: ClusterCopy,
  places: Places,
  change: Change,
  rule: PlacementRule,
): readonly MovedPod[] {
  switch (change.kind) {
    case "stop":
      stopWork(copy, change.workload);
      return [];
    case "move":
      return movePods(copy, places, change, rule);
    case "removeNode":
      removeNode(copy, change.node);
      return [];
    case "setQueue":
      setQueue(copy, change);
      return [];
    case "letReclaim":
      letReclaim(copy, places, change, rule);
      return [];
    case "shrink":
      shrink(copy, change.workload, change.gpusPerPod);
      return [];
    case "observe":
      observe(copy, change.node);
      return [];
  }
}

/**
 * Gives a queue another guarantee or limit. Its guarantee is part of the guarantees of the cohorts and the root above it.
 * Kueue's limit is the quota plus what may be borrowed: unless the plan sets one, it changes with the guarantee.
 */
function setQueue(copy: ClusterCopy, { queue: index, guaranteed, limit }: Extract<Change, { kind: "setQueue" }>): void {
  const queue = copy.queues[index];
  if (queue === undefined) return;
  const sure = Math.max(0, guaranteed ?? queue.guaranteed);
  const more = sure - queue.guaranteed;
  const follows = queue.scheduler === "kueue" ? queue.limit + more : queue.limit;
  copy.setQueue(index, { ...queue, guaranteed: sure, limit: Math.max(0, limit ?? follows) });
  for (let next = queue.parent; next !== null; ) {
    const above: QueueView | undefined = copy.queues[next];
    if (above === undefined || !(above.kind === "Scheduler" || above.kind === "Cohort")) break;
    const { declaredGuarantee: declared } = above;
    copy.setQueue(next, {
      ...above,
      guaranteed: Math.max(0, above.guaranteed + more),
      limit: above.kind === "Cohort" ? Math.max(0, above.limit + more) : limitOfAll(copy, above),
      ...(declared === undefined ? {} : { declaredGuarantee: Math.max(0, declared + more) }),
    });
    next = above.parent;
  }
  admitBelow(copy, index);
}

const limitOfAll = ({ queues }: ClusterCopy, { children }: QueueView): number =>
  children.reduce((sum, child) => sum + (queues[child]?.limit ?? 0), 0);

/**
 * Turns gangs of the queue, and of the queues below it, into demand again if they never could run because they asked for more
 * than a limit, and now ask for no more than all limits on their way.
 */
function admitBelow(copy: ClusterCopy, top: number): void {
  // There is no recursion, because a configuration may contain a chain of thousands of queues.
  const open = [top];
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    admitIn(copy, index);
    for (const child of (copy.queues[index]?.children ?? []).toReversed()) open.push(child);
  }
}

function admitIn(copy: ClusterCopy, index: number): void {
  const { gangs = [] } = copy.queues[index] ?? {};
  if (gangs.length === 0) return;
  let limit = Number.POSITIVE_INFINITY;
  for (let next: number | null = index; next !== null; ) {
    const queue: QueueView | undefined = copy.queues[next];
    limit = Math.min(limit, queue?.limit ?? 0);
    next = queue?.parent ?? null;
  }
  for (const place of gangs) {
    const gang = copy.gangs[place];
    if (gang?.never !== "above-limit" || gang.gpus === null || gang.gpus > limit + gpuTolerance) continue;
    if (gang.parts.some(({ queue }) => queue !== index)) continue;
    copy.setGang(place, { ...gang, never: null });
    countInQueue(copy, index, { team: gang.team, pending: gang.gpus });
  }
}

/**
 * Stops a workload: its pods no longer hold anything, and its waiting part is paused. The pods stay in the list, on no node.
 */
function stopWork(copy: ClusterCopy, index: number): void {
  const workload = copy.workloads[index];
  if (workload === undefined) return;
  for (const pod of workload.pods) if (copy.pods[pod]?.status === "allocated") leave(copy, pod, true);
  for (const place of copy.index.gangsOf(workload)) {
    const gang = copy.gangs[place];
    if (gang === undefined || gang.never !== null) continue;
    copy.setGang(place, { ...gang, never: "paused" });
    for (const { queue, pods, gpusPerPod } of gang.parts)
      if (queue !== null) countInQueue(copy, queue, { team: gang.team, pending: -pods * (gpusPerPod ?? 0) });
  }
}

/**
 * Removes a node: it has no devices any more and is in no pool. It stays in the list, so that all others keep their indices.
 */
function removeNode(copy: ClusterCopy, index: number): void {
  const node = copy.nodes[index];
  if (node === undefined) return;
  for (const device of node.devices)
    for (const pod of new Set(copy.devices[device]?.holders.map((holder) => holder.pod))) leave(copy, pod, true);
  // Its devices are changed before the node itself, while its pools are still known.
  const gone: NodeView = {
    ...(copy.nodes[index] ?? node),
    pools: [],
    gpuModels: [],
    devices: [],
    physicalGpus: 0,
    allocatableGpus: 0,
    allocatedByDevices: 0,
    allocatedByPods: 0,
    ready: false,
  };
  for (const device of node.devices) {
    const view = copy.devices[device];
    if (view !== undefined) copy.setDevice(device, changedDevice(view, { weight: 0, activity: null, reading: null }));
  }
  copy.setNode(index, gone);
}

/** Lets each pod hold fewer GPUs. A pod keeps the parts that it uses most, and does with them what it did before. */
function shrink(copy: ClusterCopy, index: number, gpusPerPod: number): void {
  const scaled = new Map<PodNeeds, PodNeeds>();
  for (const pod of copy.workloads[index]?.pods ?? []) {
    const view = copy.pods[pod];
    if (view === undefined || view.status !== "allocated" || (view.gpus ?? 0) <= gpusPerPod + gpuTolerance) continue;
    const needs =
      view.needs === null ? null : (scaled.get(view.needs) ?? scaledNeeds(view.needs, gpusPerPod / (view.gpus ?? 1)));
    if (view.needs !== null && needs !== null) scaled.set(view.needs, needs);
    copy.setPod(pod, { ...view, gpus: gpusPerPod, needs });
    let left = gpusPerPod;
    for (const { device, share } of mostUsedFirst(copy, pod)) {
      const kept = Math.min(share, Math.max(0, left));
      left = tidy(left - kept);
      if (kept < share) keepShare(copy, pod, device, kept / share);
    }
  }
}

function scaledNeeds(needs: PodNeeds, part: number): PodNeeds {
  const requests: Record<string, number> = Object.create(null);
  for (const [resource, amount] of Object.entries(needs.requests))
    requests[resource] = gpuLikeResource(resource) ? amount * part : amount;
  return { ...needs, requests };
}

function mostUsedFirst(copy: ClusterCopy, pod: number) {
  const allocated = copy.devicesOf(pod).map((device) => {
    const own = (copy.devices[device]?.holders ?? []).filter((holder) => holder.pod === pod);
    return {
      device,
      share: own.reduce((sum, { share }) => sum + share, 0),
      used: own.reduce((sum, { share, activity }) => sum + share * (activity ?? 1), 0),
    };
  });
  return allocated.sort((a, b) => b.used / (b.share || 1) - a.used / (a.share || 1) || a.device - b.device);
}

/** Lets a pod keep only this part (0..1) of what it holds of a device. */
function keepShare(copy: ClusterCopy, pod: number, index: number, part: number): void {
  const device = copy.devices[index];
  if (device === undefined) return;
  const holders = device.holders.flatMap((holder): readonly Holding[] => {
    if (holder.pod !== pod) return [holder];
    if (part <= 0) return [];
    const activity = holder.activity === null ? null : Math.min(1, holder.activity / part);
    return [changedHolding(holder, { share: holder.share * part, activity })];
  });
  const lost = device.holders.reduce((sum, holder) => (holder.pod === pod ? sum + holder.share * (1 - part) : sum), 0);
  accountAllocated(copy, pod, index, -lost, true);
  copy.setHolders(index, holders);
}

/**
 * Makes the devices of a node observed. GPUs that were not observed are assumed to be in use, so that nobody gains from GPUs
 * that may be busy.
 */
function observe(copy: ClusterCopy, index: number): void {
  for (const place of copy.nodes[index]?.devices ?? []) {
    const device = copy.devices[place];
    if (device === undefined || device.holders.every(({ activity }) => activity !== null)) continue;
    const holders = device.holders.map((holder) =>
      holder.activity === null ? changedHolding(holder, { activity: 1, idleSince: null }) : holder,
    );
    const { activity, idleNow } = device;
    copy.setDevice(place, changedDevice(device, { holders, activity: activity ?? 1, idleNow: idleNow ?? false }));
  }
}
