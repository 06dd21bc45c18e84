import type { LocalAdmission } from "../../analysis/localQueues/admission.ts";
import type { LocalQueueShare } from "../../analysis/localQueues/localQueues.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { gpus } from "../terminal/columns.ts";
import type { LocalQueueFacts } from "./localQueues.ts";

const namedBefore = 3;

/**
 * Sentences about a LocalQueue: its owner, its weight, what it has, what it is entitled to and why, and what is before it in
 * line. Names are untrusted.
 */
export function localQueueSentences(facts: LocalQueueFacts): readonly string[] {
  return [belongs(facts), ...weightSentences(facts), ...shareSentences(facts), ...lineSentences(facts)];
}

function belongs({ object: { namespace, name, clusterQueue }, found }: LocalQueueFacts): string {
  const there = found.admission.has(clusterQueue) ? "" : ", which is not there";
  return `LocalQueue ${namespace}/${name} belongs to ClusterQueue ${clusterQueue}${there}.`;
}

function weightSentences(facts: LocalQueueFacts): readonly string[] {
  const { object, found, analysis } = facts;
  const { clusterQueue, weight } = object;
  const admission = found.admission.get(clusterQueue);
  if (admission === undefined) return [];
  if (admission.byWeight) {
    const all = analysis.snapshot.queueObjects.kueueLocalQueues.filter((one) => one.clusterQueue === clusterQueue);
    const sum = all.reduce((total, one) => total + Math.max(0, one.weight), 0);
    const part =
      weight > 0 ? `it has weight ${number(weight)} of ${number(sum)}` : "it has no weight and gets what others leave";
    return [
      `ClusterQueue ${clusterQueue} admits by usage: its LocalQueues share its GPUs by weight, and ${part}.`,
      usageSentence(facts),
    ];
  }
  return [`Its weight of ${number(weight)} is not used: ${whyNoWeight(facts, admission)}.`];
}

function whyNoWeight({ object, analysis }: LocalQueueFacts, { byUsage }: LocalAdmission): string {
  const inLine = "LocalQueues are served in one line, by priority and then by age";
  if (byUsage) return `usageHalfLifeTime of Kueue's Configuration is 0, so that all usage stays 0 and ${inLine}`;
  const queue = analysis.snapshot.queueObjects.kueueClusterQueues.find(({ name }) => name === object.clusterQueue);
  if (queue?.admissionMode === null || queue?.admissionMode === undefined)
    return `ClusterQueue ${object.clusterQueue} does not admit by usage, so that its ${inLine}`;
  return `Kueue's Configuration has no admissionFairSharing, so that ${inLine}`;
}

function usageSentence({ object, shares, analysis }: LocalQueueFacts): string {
  const usage = shares[0]?.usage ?? null;
  if (usage === Number.POSITIVE_INFINITY) return "Whoever has no weight is served after all others, whatever was used.";
  if (usage !== null)
    return `Kueue counts a usage of ${number(usage)} for each unit of its weight; the LocalQueue with the least is served first.`;
  return object.consumed === null
    ? "How much it has used is not known: Kueue has written no usage in its status."
    : `How much it has used for its weight is not known: ${analysis.snapshot.schedulerSettings.kueue === null ? "Kueue's Configuration, which weighs the resources, was not read" : "Kueue's Configuration has no admissionFairSharing"}.`;
}

function shareSentences({ object, shares, found, analysis }: LocalQueueFacts): readonly string[] {
  const { domains, queues } = analysis.snapshot.queueing;
  const here = shares.flatMap((share) => {
    const queue = share.queue === null ? undefined : queues[share.queue];
    const domain = queue === undefined ? undefined : domains[queue.domain];
    return domain === undefined ? [] : [{ share, domain }];
  });
  if (here.length === 0) return [`ClusterQueue ${object.clusterQueue} has no quota for GPUs of this cluster.`];
  const byWeight = found.admission.get(object.clusterQueue)?.byWeight === true;
  return here.map(({ share, domain }) => {
    const has = `In domain ${domain.name} it holds ${gpus(share.allocated)} GPUs and waits for ${gpus(share.pending)}`;
    if (share.entitled === null)
      return `${has}; what it is entitled to is not known: ${domain.unknownBecause ?? "nothing was computed for it"}.`;
    const whole = analysis.fairness.queues[share.queue ?? -1]?.entitled ?? 0;
    return `${has}. ClusterQueue ${share.clusterQueue} is entitled to ${gpus(whole)} there, and of these it is entitled to ${gpus(share.entitled)}: ${why(share, byWeight)}.`;
  });
}

function why({ allocated, pending, entitled }: LocalQueueShare, byWeight: boolean): string {
  const own = entitled ?? 0;
  if (allocated + pending <= gpuTolerance) return "it asks for none";
  if (own >= allocated + pending - gpuTolerance) return "all that it asks for";
  if (byWeight) return "its share by weight, as far as other LocalQueues use theirs";
  if (own < allocated - gpuTolerance)
    return "its part of what the ClusterQueue may keep, by what each LocalQueue holds";
  if (own <= gpuTolerance) return "nothing is left when the line is served in its order";
  if (own <= allocated + gpuTolerance)
    return "what it holds; nothing is left for its waiting work when the line is served in its order";
  return "what it holds, and what is left for its waiting work when the line is served in its order";
}

function lineSentences({ object, waiting, before, found, analysis }: LocalQueueFacts): readonly string[] {
  const { gangs } = analysis.snapshot.queueing;
  const [first = -1] = waiting;
  const next = gangs[first];
  if (next === undefined) return ["Nothing waits in it."];
  const called = gangText(next);
  const position = found.positions.get(first);
  if (position === undefined) return [`${called} waits in it, and is in no line: ${notInLine(next)}.`];
  if (before === null)
    return [
      `Its next work is ${called}. Where that is in the line of ClusterQueue ${object.clusterQueue} is not known, because usage decides it and is not known of every LocalQueue.`,
    ];
  const length = found.lines.get(object.clusterQueue)?.length ?? 0;
  const others = before.slice(0, namedBefore).flatMap((index) => {
    const gang = gangs[index];
    return gang === undefined ? [] : [`${gangText(gang)} of LocalQueue ${gang.namespace}/${gang.localQueue ?? "?"}`];
  });
  const more = before.length > namedBefore ? ` and ${before.length - namedBefore} more` : "";
  const ahead =
    before.length === 0
      ? "nothing is before it"
      : `before it ${before.length === 1 ? "is" : "are"} ${others.join(", ")}${more}`;
  return [
    `Its next work is ${called}, at place ${before.length + 1} of ${length} in the line of ClusterQueue ${object.clusterQueue}: ${ahead}.`,
    orderSentence(object.clusterQueue, found),
  ];
}

function orderSentence(clusterQueue: string, found: LocalQueueFacts["found"]): string {
  if (found.reportedByKueue.has(clusterQueue))
    return "The order is Kueue's own, as its visibility API reported it within the last minutes.";
  const rule =
    found.admission.get(clusterQueue)?.byUsage === true
      ? "usage for the weight, then priority, then age"
      : "priority, then age";
  return `The order is Kueue's rule (${rule}) as Fairlead computes it from the objects: Kueue's visibility API reported no line of this queue.`;
}

/** Writes a gang with what it asks for. */
function gangText({ kind, namespace, name, gpus: amount }: WaitingGang): string {
  return `${kind} ${namespace}/${name} (${amount === null ? "unknown" : gpus(amount)} GPUs)`;
}

function notInLine({ reservedAt, never }: WaitingGang): string {
  if (reservedAt !== null) return "it has its quota already and waits for its pods to run";
  if (never === "paused") return "someone has paused it";
  if (never === "no-queue") return "its queue does not take it";
  return "Kueue has no Workload for it";
}

const number = (value: number): string => String(Math.round(value * 1000) / 1000);
