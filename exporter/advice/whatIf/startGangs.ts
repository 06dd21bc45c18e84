import { neededParts } from "../../analysis/freeCapacity/gangFreeCapacities.ts";
import { podDemand } from "../../analysis/freeCapacity/podDemand.ts";
import { createQueueAllowance } from "../../analysis/waiting/queueAllowance.ts";
import type { WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { classesOf, firstPlaceOf } from "../../join/queues/waitingPlaces.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { ClusterCopy } from "./clusterCopy.ts";
import { type GangDomains, gangDomains, type Outside } from "./gangDomains.ts";
import { newPod, newWorkload } from "./newWork.ts";
import type { Places } from "./places.ts";
import type { PlacementRule } from "./plan.ts";
import { bind, chooseShares } from "./podHoldings.ts";
import { countInQueue } from "./queueAccounts.ts";

/**
 * Starts a waiting gang: the pods that bring it to its minimum start together or not at all, then as many of the others start
 * as fit. Entitlement does not matter, but the limits of its queue and of all queues above must hold. Returns `false` if it
 * does not start; nothing has changed then.
 */
export function startGang(copy: ClusterCopy, places: Places, index: number, rule: PlacementRule): boolean {
  const gang = copy.gangs[index];
  if (gang === undefined || gang.never !== null || gang.pods === 0) return false;
  const needed = withinLimits(copy, gang, neededParts(gang));
  if (needed === null) return false;
  const starting = startNeeded(copy, places, gang, rule, needed);
  if (starting === null) return false;
  const { begun } = starting;
  startRest(copy, places, starting);
  leaveQueue(copy, index, gang, begun);
  const workload = copy.workloads[begun.workload];
  if (workload !== undefined && begun.created.length > 0)
    copy.setWorkload(begun.workload, { ...workload, pods: [...workload.pods, ...begun.created] });
  return true;
}

/** Places the needed pods of a gang, in the first domain that takes all of them; `null`, with nothing changed: none does. */
function startNeeded(
  copy: ClusterCopy,
  places: Places,
  gang: WaitingGang,
  rule: PlacementRule,
  needed: readonly StandingPart[],
): Starting | null {
  const domains = gangDomains(copy.analysis, gang);
  for (const outside of domains.whole) {
    const mark = copy.mark();
    const starting: Starting = { gang, begun: beginWorkload(copy, gang), rule, domains, outside };
    if (startParts(copy, places, starting, needed)) return starting;
    copy.rollback(mark);
  }
  return null;
}

/** A part of a gang as it is counted, and as it would be in the place where it would start. */
interface StandingPart {
  readonly part: WaitingPart;
  readonly at: WaitingPart;
}

/**
 * Places the parts of a gang where they fit below every limit on their way. This is the place where a part is counted, or else
 * the first possible one in the order of its queue, as Kueue tries one flavor after the other (v0.19, `flavorassigner`). Only
 * quota decides: work that has quota where no node takes it waits there. Work that has its quota already stays in its place.
 * `null`: a part fits nowhere.
 */
export function withinLimits(
  copy: ClusterCopy,
  gang: WaitingGang,
  parts: readonly WaitingPart[],
): readonly StandingPart[] | null {
  if (gang.reservedAt !== null) return parts.map((part) => ({ part, at: part }));
  const taken = new Map<number, number>();
  const freeCapacityOf = createQueueAllowance(copy.live.queueing);
  const found: StandingPart[] = [];
  for (const part of parts) {
    const at = firstPlaceOf(part, ({ queue, gpusPerPod }) => {
      if (queue === null) return true;
      return (taken.get(queue) ?? 0) + part.pods * (gpusPerPod ?? 0) <= freeCapacityOf(queue) + gpuTolerance;
    });
    if (at === null) return null;
    if (at.queue !== null) taken.set(at.queue, (taken.get(at.queue) ?? 0) + at.pods * (at.gpusPerPod ?? 0));
    found.push({ part, at });
  }
  return found;
}

/** A gang that is being started. */
interface Starting {
  readonly gang: WaitingGang;
  readonly begun: BegunWork;
  readonly rule: PlacementRule;
  readonly domains: GangDomains;
  /** Nodes outside of the domain in which the whole gang is to be. */
  readonly outside: Outside;
}

/** The number of pods of a part that were placed (`pods`), and how many of them existed before (`created`). */
interface PlacedPods {
  readonly at: WaitingPart;
  readonly pods: number;
  readonly created: number;
}

/** The workload of a gang, and the pods of the gang that were placed so far. */
interface BegunWork {
  readonly workload: number;
  /** Indices of pods that exist and wait, and that have not been placed yet. */
  readonly waiting: number[];
  /** The placed pods by part of the gang. */
  readonly placed: Map<WaitingPart, PlacedPods>;
  /** Nodes outside of the domain in which all pods of a part are. */
  readonly outside: Map<WaitingPart, Outside>;
  /** Indices of the pods that were created. */
  readonly created: number[];
}

function beginWorkload(copy: ClusterCopy, gang: WaitingGang): BegunWork {
  const known = copy.index.workloadsOf(gang);
  const workload = known[0] ?? copy.workloads.length;
  if (known.length === 0) copy.setWorkload(workload, newWorkload(gang));
  const own = known.flatMap((one) => copy.workloads[one]?.pods ?? []);
  const waiting = own.filter((pod) => copy.pods[pod]?.status === "pending");
  // Several gangs may belong to one workload: its own pods come first.
  const isOwn = (pod: number): number => (copy.pods[pod]?.gang?.id === gang.uid ? 0 : 1);
  return {
    workload,
    waiting: waiting.sort((a, b) => isOwn(a) - isOwn(b)),
    placed: new Map(),
    outside: new Map(),
    created: [],
  };
}

const largestFirst = (a: WaitingPart, b: WaitingPart): number => (b.gpusPerPod ?? 0) - (a.gpusPerPod ?? 0);

function startParts(copy: ClusterCopy, places: Places, starting: Starting, parts: readonly StandingPart[]): boolean {
  for (const { part, at } of parts.toSorted((a, b) => largestFirst(a.at, b.at))) {
    const whole = wholePart(starting.gang, part);
    if (at.gpusPerPod === null || !startPart(copy, places, starting, whole, { part, at })) return false;
  }
  return true;
}

/** Starts the pods of a part in the first domain that takes all of them. */
function startPart(
  copy: ClusterCopy,
  places: Places,
  starting: Starting,
  whole: WaitingPart,
  { part, at }: StandingPart,
): boolean {
  const { begun, domains } = starting;
  const { waiting, created, placed } = begun;
  const before = { waiting: [...waiting], created: created.length, placed: placed.get(whole) };
  for (const outside of domains.ofPart(whole)) {
    const mark = copy.mark();
    begun.outside.set(whole, outside);
    let pods = 0;
    while (pods < part.pods && startPod(copy, places, starting, { part: whole, at })) pods += 1;
    if (pods === part.pods) return true;
    copy.rollback(mark);
    waiting.splice(0, waiting.length, ...before.waiting);
    created.length = before.created;
    if (before.placed === undefined) placed.delete(whole);
    else placed.set(whole, before.placed);
  }
  return false;
}

/** The part of a gang from which another one, with fewer pods, was made. */
const wholePart = ({ parts }: WaitingGang, part: WaitingPart): WaitingPart =>
  parts.includes(part)
    ? part
    : (parts.find(
        ({ needs, gpusPerPod, queue, domain }) =>
          needs === part.needs && gpusPerPod === part.gpusPerPod && queue === part.queue && domain === part.domain,
      ) ?? part);

function startRest(copy: ClusterCopy, places: Places, starting: Starting): void {
  const { gang, begun } = starting;
  for (const part of gang.parts.toSorted(largestFirst)) {
    while ((begun.placed.get(part)?.pods ?? 0) < part.pods) {
      const mark = copy.mark();
      // A part is in one place: its other pods go where its first pod is.
      const [one] = withinLimits(copy, gang, [{ ...(begun.placed.get(part)?.at ?? part), pods: 1 }]) ?? [];
      if (one !== undefined && startPod(copy, places, starting, { part, at: one.at })) continue;
      copy.rollback(mark);
      break;
    }
  }
}

/** Starts one pod of a part. Returns whether it has started. */
function startPod(copy: ClusterCopy, places: Places, starting: Starting, { part, at }: StandingPart): boolean {
  const { gang, begun, rule } = starting;
  const { gpusPerPod, needs, domain: counted } = at;
  if (gpusPerPod === null) return false;
  const { pods = 0, created = 0 } = begun.placed.get(part) ?? {};
  if (gpusPerPod <= gpuTolerance) {
    begun.placed.set(part, { at, pods: pods + 1, created });
    return true;
  }
  const demand = podDemand(gpusPerPod, needs);
  const domain = gang.scheduler === "none" ? null : counted;
  const classes = classesOf(at);
  const existing = created < part.createdPods ? takeWaiting(copy, begun, part) : null;
  // The rules about the pods around it are known for a pod that exists.
  const own = existing === null ? {} : { pod: existing };
  const outside = begun.outside.get(part) ?? starting.outside;
  const avoid = outside === null ? {} : { avoid: outside };
  const node = places.find(copy, { demand, needs, domain, rule, classes, ...own, ...avoid });
  const shares = node === null ? null : chooseShares(copy, node, demand, places.isIn(domain, classes));
  if (node === null || shares === null) return false;
  const pod = existing ?? copy.pods.length;
  if (existing === null) begun.created.push(pod);
  const made = { workload: begun.workload, number: begun.created.length };
  const before = existing === null ? newPod(copy, gang, made, at) : copy.pods[existing];
  if (before === undefined) return false;
  const now = copy.analysis.snapshot.at;
  const member = before.gang === null ? null : { ...before.gang, partialSince: null };
  copy.setPod(pod, { ...before, status: "allocated", starting: true, boundAt: now, pendingSince: null, gang: member });
  copy.setQueueOf(pod, at.queue ?? -1);
  const reserves = gang.reservedAt === null;
  bind(copy, pod, node, shares, { activity: null, idleSince: null }, reserves);
  begun.placed.set(part, { at, pods: pods + 1, created: created + (existing === null ? 0 : 1) });
  // The pod is pending where it is counted, wherever it starts.
  if (part.queue !== null) countInQueue(copy, part.queue, { team: gang.team, pending: -(part.gpusPerPod ?? 0) });
  return true;
}

/** Index of the first waiting pod that asks for the same as the part, or else for as many GPUs; `null`: there is none. */
function takeWaiting(copy: ClusterCopy, { waiting }: BegunWork, part: WaitingPart): number | null {
  const alike = (pod: number): boolean => {
    const view = copy.pods[pod];
    return view !== undefined && Math.abs((view.gpus ?? -1) - (part.gpusPerPod ?? 0)) <= gpuTolerance;
  };
  const same = waiting.findIndex((pod) => copy.pods[pod]?.needs === part.needs && alike(pod));
  const place = same >= 0 ? same : waiting.findIndex(alike);
  return place < 0 ? null : (waiting.splice(place, 1)[0] ?? null);
}

/**
 * Removes from the queue what has started. The rest of the gang keeps waiting; a gang that was placed as a whole stays in the
 * list without pods, so that all others keep their indices.
 */
function leaveQueue(copy: ClusterCopy, index: number, gang: WaitingGang, { placed }: BegunWork): void {
  const parts = gang.parts.flatMap((part) => {
    const { pods = 0, created = 0 } = placed.get(part) ?? {};
    return pods >= part.pods
      ? []
      : [{ ...part, pods: part.pods - pods, createdPods: Math.max(0, part.createdPods - created) }];
  });
  const pods = parts.reduce((sum, part) => sum + part.pods, 0);
  const gpus = parts.reduce((sum, part) => sum + part.pods * (part.gpusPerPod ?? 0), 0);
  copy.setGang(index, { ...gang, bound: gang.bound + gang.pods - pods, pods, gpus, parts });
  for (const { queue } of gang.parts) {
    const leaf = queue === null ? undefined : copy.queues[queue];
    if (queue === null || leaf === undefined || parts.some((part) => part.queue === queue)) continue;
    copy.setQueue(queue, { ...leaf, gangs: leaf.gangs.filter((one) => one !== index) });
  }
}
