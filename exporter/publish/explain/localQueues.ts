import type { Analysis } from "../../analysis/analysis.ts";
import { findLocalQueues } from "../../analysis/localQueues/findLocalQueues.ts";
import type { LocalQueueShare, LocalQueues } from "../../analysis/localQueues/localQueues.ts";
import type { NeverReason, WaitingGang } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { KueueClusterQueue, KueueLocalQueue } from "../../model/queues/kueue.ts";
import { localQueueRecords } from "../document/queueRecords.ts";
import { gpus } from "../terminal/columns.ts";
import type { LocalGang, LocalQueueExplanation } from "./entitlementSchema.ts";
import { localQueueSentences } from "./localQueueSentences.ts";
import type { Fact } from "./schema.ts";

/** The most LocalQueues that are reported: several namespaces may have LocalQueues of one name. */
export const mostLocalQueues = 50;
const shownGangs = 5;

/** A LocalQueue with everything that is known about it. */
export interface LocalQueueFacts {
  readonly analysis: Analysis;
  readonly object: KueueLocalQueue;
  readonly found: LocalQueues;
  /** Its own shares, by quota domain. */
  readonly shares: readonly LocalQueueShare[];
  /** Indices into `Queueing.gangs`: the gangs that wait in it, in its own order; those that are in no line come last. */
  readonly waiting: readonly number[];
  /**
   * Indices into `Queueing.gangs`: the gangs before its first one; `null` if they are not known, or if none of its gangs is in
   * a line.
   */
  readonly before: readonly number[] | null;
}

/** LocalQueues called `name` or `namespace/name`, by namespace. */
export function localQueuesNamed(name: string, { snapshot }: Pick<Analysis, "snapshot">): readonly KueueLocalQueue[] {
  return snapshot.queueObjects.kueueLocalQueues
    .filter((queue) => queue.name === name || `${queue.namespace}/${queue.name}` === name)
    .sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

/** Explains LocalQueues one by one. */
export function explainLocalQueues(
  queues: readonly KueueLocalQueue[],
  analysis: Analysis,
): readonly LocalQueueExplanation[] {
  if (queues.length === 0) return [];
  const { snapshot, fairness } = analysis;
  const found = findLocalQueues(snapshot, fairness);
  const causes = new Map(analysis.waiting.work.map(({ gang, cause }) => [gang, cause] as const));
  const record = (index: number): readonly LocalGang[] => {
    const gang = snapshot.queueing.gangs[index];
    if (gang === undefined) return [];
    const { namespace, kind, name, localQueue, gpus } = gang;
    const { inClusterQueue = null, inLocalQueue = null } = found.positions.get(index) ?? {};
    const cause = causes.get(index) ?? "unknown";
    return [
      { namespace, kind, name, localQueue, gpus, cause, position: inClusterQueue, positionInLocalQueue: inLocalQueue },
    ];
  };
  const explained: LocalQueueExplanation[] = [];
  for (const object of queues) {
    const facts = factsOf(object, analysis, found);
    explained.push({
      namespace: object.namespace,
      name: object.name,
      clusterQueue: object.clusterQueue,
      shares: localQueueRecords(snapshot.queueing, { ...found, shares: facts.shares }),
      waiting: facts.waiting.slice(0, shownGangs).flatMap(record),
      waitingGangs: facts.waiting.length,
      before: (facts.before ?? []).slice(0, shownGangs).flatMap(record),
      beforeGangs: facts.before?.length ?? null,
      sentences: [...localQueueSentences(facts), localQueueChange(facts)],
    });
  }
  return explained;
}

const namedHolders = 3;

/** What would have to change so that more of a LocalQueue's work runs. One or more whole sentences; names are untrusted. */
function localQueueChange(facts: LocalQueueFacts): string {
  const { object, waiting, analysis } = facts;
  const { queueing, queueObjects } = analysis.snapshot;
  const next = queueing.gangs[waiting[0] ?? -1];
  if (next === undefined) return "Nothing would have to change: none of its work waits.";
  const queue = queueObjects.kueueClusterQueues.find(({ name }) => name === object.clusterQueue);
  if (queue === undefined)
    return `To run it, create ClusterQueue ${object.clusterQueue}, or submit the work to a LocalQueue of another one.`;
  const stopped = stoppedBy(facts, queue);
  if (stopped !== null) return `To run it, set spec.stopPolicy of ${stopped} to None: until then nothing is admitted.`;
  if (next.never !== null) return `To run it, ${neverChanges[next.never](next, object.clusterQueue)}.`;
  if (next.reservedAt !== null)
    return `It has its quota. What would have to change is on the nodes: see what holds it back${next.reason === "" ? "" : ` (${next.reason})`}, and the ClusterQueue below.`;
  return [shareChange(facts, queue), turnChange(facts, queue)].filter((text) => text !== "").join(" ");
}

function stoppedBy({ object }: LocalQueueFacts, queue: KueueClusterQueue): string | null {
  if (object.stopPolicy !== "None") return `LocalQueue ${object.namespace}/${object.name}`;
  return queue.stopPolicy === "None" ? null : `ClusterQueue ${queue.name}`;
}

const behind = (reason: string): string => (reason === "" ? "" : ` (${reason})`);

const neverChanges: Readonly<Record<NeverReason, (gang: WaitingGang, clusterQueue: string) => string>> = {
  paused: () => "whoever paused it has to release it",
  "above-limit": (_, name) =>
    `it has to ask for fewer GPUs, or ClusterQueue ${name} needs more quota or a higher borrowing limit`,
  "no-node": () => "it has to ask for nodes that are there, or such nodes have to be added",
  "no-queue": (_, name) =>
    `ClusterQueue ${name} has to take work of its namespace (spec.namespaceSelector) and be active`,
  "limit-range": ({ reason }) => `the LimitRange or the request has to change${behind(reason)}`,
  elsewhere: () => "a cluster of MultiKueue has to take it",
  "no-scheduler": ({ reason }) => `its pods have to name a scheduler that is there${behind(reason)}`,
  unschedulable: ({ reason }) => `what its pods ask for has to be there${behind(reason)}`,
};

/** Says whether the ClusterQueue or other LocalQueues have what a LocalQueue lacks, and what would change that. */
function shareChange(facts: LocalQueueFacts, queue: KueueClusterQueue): string {
  const { object, shares, analysis, found } = facts;
  const { clusterQueue } = object;
  const reported = shares.filter(({ entitled }) => entitled !== null);
  if (reported.length === 0) return "";
  const short = reported.reduce((sum, { queue }) => sum + (analysis.fairness.queues[queue ?? -1]?.shortfall ?? 0), 0);
  const own = reported.reduce((sum, { deviation }) => sum + Math.max(0, -(deviation ?? 0)), 0);
  if (own > gpuTolerance && found.admission.get(clusterQueue)?.byWeight === true) {
    const above = aboveShare(facts);
    if (above !== "")
      return `It misses ${gpus(own)} GPUs of its share, and ${above}. Kueue takes nothing back between LocalQueues for their shares: that work has to end, and then this LocalQueue is served before those that have used more. A higher weight gives it a larger share.`;
  }
  const over = reported.reduce((sum, { deviation }) => sum + Math.max(0, deviation ?? 0), 0);
  if (over > gpuTolerance)
    return `It holds ${gpus(over)} GPUs more than its share already: the share would have to grow, by a higher weight, by more quota of ClusterQueue ${clusterQueue}, or by less work of others.`;
  if (short > gpuTolerance)
    return `ClusterQueue ${clusterQueue} itself misses ${gpus(short)} GPUs; what would have to change there is reported below.`;
  if (own > gpuTolerance)
    return `ClusterQueue ${clusterQueue} is entitled to ${gpus(own)} GPUs more for it, and what it waits for is reported below.`;
  return `ClusterQueue ${clusterQueue} has all that it is entitled to: other work of it has to end, or it needs more quota or other queues less demand; ${preemptionText(queue)}.`;
}

/** Says whether Kueue itself ends work of a ClusterQueue for other work in it. */
function preemptionText({ preemption: { withinClusterQueue } }: KueueClusterQueue): string {
  const ends = {
    Never: "none of it",
    LowerPriority: "only work of lower priority",
    LowerOrNewerEqualPriority: "only work of lower priority, or newer work of the same,",
  }[withinClusterQueue];
  return `Kueue ends ${ends ?? "of it what its rule says"} for this (spec.preemption.withinClusterQueue is ${withinClusterQueue})`;
}

/** Names the LocalQueues that hold more than their share, the largest surplus first; empty if there are none. */
function aboveShare({ shares, found }: LocalQueueFacts): string {
  const queues = new Set(shares.map(({ queue }) => queue));
  const over = new Map<string, number>();
  const add = ({ namespace, name, deviation }: LocalQueueShare): void => {
    const key = name === null ? "work without a known LocalQueue" : `LocalQueue ${namespace}/${name}`;
    if ((deviation ?? 0) > gpuTolerance) over.set(key, (over.get(key) ?? 0) + (deviation ?? 0));
  };
  for (const share of found.shares) if (share.queue !== null && queues.has(share.queue)) add(share);
  const holders = [...over].sort(([, a], [, b]) => b - a);
  const named = holders
    .slice(0, namedHolders)
    .map(([name, amount]) => `${name} holds ${gpus(amount)} more than its own`);
  return named.join(", ") + (holders.length > namedHolders ? `, and ${holders.length - namedHolders} others do` : "");
}

/** Says what has to become of the gangs before a LocalQueue's first one; empty if there are none, or they are not known. */
function turnChange({ before, found, object }: LocalQueueFacts, { queueingStrategy }: KueueClusterQueue): string {
  if (before === null || before.length === 0) return "";
  const byUsage = found.admission.get(object.clusterQueue)?.byUsage === true;
  const sooner = byUsage
    ? "less usage of this LocalQueue, or a higher weight"
    : "a WorkloadPriorityClass of higher value";
  const all = before.length === 1 ? "The gang before it" : `The ${before.length} gangs before it`;
  return queueingStrategy === "StrictFIFO"
    ? `${all} must start or be withdrawn first, for its ClusterQueue is StrictFIFO; ${sooner} would put it further ahead.`
    : `${all} ${before.length === 1 ? "is" : "are"} tried first, and passed over where ${before.length === 1 ? "it does" : "they do"} not fit; ${sooner} would put it further ahead.`;
}

function factsOf(object: KueueLocalQueue, analysis: Analysis, found: LocalQueues): LocalQueueFacts {
  const { namespace, name, clusterQueue } = object;
  const { gangs } = analysis.snapshot.queueing;
  const own = [...gangs.keys()].filter((index) => {
    const gang = gangs[index];
    return gang?.scheduler === "kueue" && gang.localQueue === name && gang.namespace === namespace;
  });
  const placeOf = (index: number): number => found.positions.get(index)?.inLocalQueue ?? Number.POSITIVE_INFINITY;
  const waiting = own.sort((a, b) => (placeOf(a) === placeOf(b) ? a - b : placeOf(a) - placeOf(b)));
  const line = found.lines.get(clusterQueue) ?? null;
  const first = line === null ? -1 : line.indexOf(waiting[0] ?? -1);
  return {
    analysis,
    object,
    found,
    shares: found.shares.filter((share) => share.namespace === namespace && share.name === name),
    waiting,
    before: first < 0 ? null : (line?.slice(0, first) ?? null),
  };
}

/** The fact that more LocalQueues have a name than are explained. */
export const manyLocalQueues = (count: number): Fact => ({
  name: "LocalQueues",
  value: `${count} of that name`,
  how: `the first ${mostLocalQueues} are reported; name one as NAMESPACE/NAME`,
});
