import type { TeamRule } from "../config/schema.ts";
import type { Namespace } from "../model/cluster.ts";
import type { Pod } from "../model/pod.ts";
import { podLabels } from "../model/wellKnown.ts";
import { checkpointsOf } from "./checkpoints.ts";
import type { SubjectIndex } from "./ownerIndex.ts";
import { progressUnitsOf } from "./progressUnits.ts";
import { queueOf } from "./queueOf.ts";
import { isSameQueue } from "./queues/queueFinders.ts";
import type { QueueRef } from "./queues/queueSystem.ts";
import type { PodView } from "./snapshot.ts";
import { teamOf } from "./teamOf.ts";
import { workloadClassOf } from "./workloadClass.ts";
import { mayOwn, type OwnerChain, ownerChainOf } from "./workloadOf.ts";

/** What is found of a pod that its workload has, too. */
export type SubjectFacts = Pick<PodView, "team" | "queue" | "workloadClass" | "classGuess" | "idleOptOut"> & {
  /** As a queue system says; `null` where none knows the pod's queue, though a label may name one. */
  readonly queueRef: QueueRef | null;
  /** A queue that the pod or its owners name and that nothing confirms: it has no part in that queue. `null`: there is none. */
  readonly unconfirmedQueue: string | null;
};

/** A pod with what it belongs to, and what that was found from. */
export interface Subject {
  index: SubjectIndex;
  readonly rules: readonly TeamRule[];
  /** Shared by the pods of a workload that are alike. */
  chain: OwnerChain;
  readonly namespaceObject: Namespace | undefined;
  facts: SubjectFacts;
  /** Of its queue object; in the future, too. */
  readonly queueCheckpoint: number | null;
  /** Its own, its owners' and its queue object's, as `checkpointsOf` gives them. */
  readonly checkpoints: readonly number[];
  readonly createdAt: number | null;
  /** As its owners, or else the pod, say. */
  readonly progressUnits: number | null;
  workload: OpenWorkload | null;
  view: PodView | null;
}

/** A workload whose pods are being gathered. */
export interface OpenWorkload {
  readonly key: string;
  /** Of the pod that came last. */
  chain: OwnerChain;
  facts: SubjectFacts;
  cycle: number;
  index: number;
  pods: number[];
}

/** Whether two pods have the same team, queue and class. */
export function isSameFacts(one: SubjectFacts, other: SubjectFacts): boolean {
  return (
    one.team === other.team &&
    one.queue === other.queue &&
    isSameQueue(one.queueRef, other.queueRef) &&
    one.unconfirmedQueue === other.unconfirmedQueue &&
    one.workloadClass === other.workloadClass &&
    one.classGuess === other.classGuess &&
    one.idleOptOut === other.idleOptOut
  );
}

/** Whether another index finds the same owners, namespace, queue and checkpoint. */
export function isFoundAgain(
  pod: Pod,
  { index: before, chain, namespaceObject, facts, queueCheckpoint }: Subject,
  index: SubjectIndex,
): boolean {
  if (before.namespaces !== index.namespaces && index.namespaces.get(pod.namespace) !== namespaceObject) return false;
  if (before.owners !== index.owners && !isChainOf(pod, chain, index)) return false;
  if (index.checkpointOf(pod, chain.owners) !== queueCheckpoint) return false;
  if (facts.unconfirmedQueue !== null && !index.hasQueues) return false;
  if (facts.queueRef === null && facts.queue !== null && index.hasQueues) return false;
  return isSameQueue(index.queueOf(pod, chain.owners), facts.queueRef);
}

/** Whether an index finds the same owners of a pod. */
function isChainOf(pod: Pod, { owners, isCut }: OwnerChain, index: SubjectIndex): boolean {
  let next = pod.owner;
  for (const owner of owners) {
    if (next === null || index.owners.get(next.uid) !== owner) return false;
    next = owner.owner;
  }
  const above = isCut || next === null ? undefined : index.owners.get(next.uid);
  return above === undefined || !mayOwn(above, pod);
}

/** What an index finds of a pod. */
export function findSubject(pod: Pod, index: SubjectIndex, rules: readonly TeamRule[]): Subject {
  const chain = ownerChainOf(pod, index.owners);
  const top = chain.owners.at(-1);
  const queueRef = index.queueOf(pod, chain.owners);
  const named = queueRef === null || pod.labels[podLabels.kueueClusterQueue] !== undefined;
  const claimed = named ? queueOf(pod, chain.owners) : null;
  const queue = queueRef?.name ?? (index.hasQueues ? null : claimed);
  const unconfirmedQueue = index.hasQueues && claimed !== queue ? claimed : null;
  const namespaceObject = index.namespaces.get(pod.namespace);
  const team = teamOf(rules, {
    namespace: pod.namespace,
    namespaceObject,
    queue: queueRef?.name ?? null,
    namedQueue: claimed,
    podLabels: pod.labels,
    workloadLabels: top?.labels ?? pod.labels,
  });
  const idleOptOut = pod.labels[podLabels.idleOptOut] === "true" || top?.labels[podLabels.idleOptOut] === "true";
  const queueCheckpoint = index.checkpointOf(pod, chain.owners);
  return {
    index,
    rules,
    chain,
    namespaceObject,
    facts: { team, queue, queueRef, unconfirmedQueue, ...workloadClassOf(pod, chain), idleOptOut },
    queueCheckpoint,
    checkpoints: checkpointsOf([pod, ...chain.owners], queueCheckpoint),
    createdAt: top?.createdAt ?? pod.createdAt,
    progressUnits: progressUnitsOf(pod, chain),
    workload: null,
    view: null,
  };
}
