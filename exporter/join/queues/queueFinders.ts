import type { QueueSettings } from "../../config/queuesSchema.ts";
import { isSameList } from "../../kernel/isSameList.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { kaiFinder } from "./kaiFinder.ts";
import { kueueFinder } from "./kueueFinder.ts";
import { type KueueNamespace, kueueNamespaces } from "./kueueNamespaces.ts";
import type { QueueFinder, QueueRef } from "./queueSystem.ts";
import { volcanoFinder } from "./volcanoFinder.ts";

/** Finds the queues of pods in a moment. */
export interface QueueFinders {
  /** Finds the queue of a pod in any system. Kueue comes first: it may admit what another scheduler places. */
  readonly queueOf: QueueFinder;
  /** All by which queues and queue objects of a namespace's pods are found: the same object while that is the same. */
  readonly evidenceIn: (namespace: string) => object;
}

/** The finders of the last cycle, and what they were made from. */
export interface QueueFinderCache {
  last: {
    readonly ofKueue: readonly unknown[];
    readonly ofOthers: readonly unknown[];
    readonly namespaces: ReadonlyMap<string, KueueNamespace>;
    readonly evidence: ReadonlyMap<string, Evidence>;
    readonly finders: QueueFinders;
  } | null;
}

/** What Kueue has in a namespace, as long as the other queue systems have the same objects everywhere. */
interface Evidence {
  readonly ofKueue: KueueNamespace;
}

/** The finders of a moment: the same object while the queue objects are. */
export function queueFinders(objects: QueueObjects, settings: QueueSettings, cache: QueueFinderCache): QueueFinders {
  const { nodePoolLabel } = settings.kai;
  const { kaiQueues, kaiPodGroups, volcanoQueues, volcanoPodGroups } = objects;
  const ofKueue = [objects.kueueLocalQueues, objects.kueueWorkloads];
  const ofOthers = [kaiQueues, kaiPodGroups, volcanoQueues, volcanoPodGroups, nodePoolLabel];
  const { last } = cache;
  const hasSameOthers = last !== null && isSameList(last.ofOthers, ofOthers);
  if (hasSameOthers && isSameList(last.ofKueue, ofKueue)) return last.finders;
  const namespaces = kueueNamespaces(objects, last?.namespaces);
  const inOrder = [kueueFinder(namespaces), kaiFinder(objects, { nodePoolLabel }), volcanoFinder(objects)];
  const queueOf: QueueFinder = (pod, owners) => {
    for (const find of inOrder) {
      const found = find(pod, owners);
      if (found !== null) return found;
    }
    return null;
  };
  const elsewhere = hasSameOthers ? last.ofOthers : ofOthers;
  // Where anything else is new, so is everything that is found in a namespace.
  const evidence = evidenceOf(namespaces, hasSameOthers ? last.evidence : nothing);
  const finders = { queueOf, evidenceIn: (namespace: string) => evidence.get(namespace) ?? elsewhere };
  cache.last = { ofKueue, ofOthers: elsewhere, namespaces, evidence, finders };
  return finders;
}

const nothing: ReadonlyMap<string, Evidence> = new Map();

function evidenceOf(
  namespaces: ReadonlyMap<string, KueueNamespace>,
  last: ReadonlyMap<string, Evidence>,
): ReadonlyMap<string, Evidence> {
  const found = new Map<string, Evidence>();
  for (const [name, ofKueue] of namespaces) {
    const known = last.get(name);
    found.set(name, known?.ofKueue === ofKueue ? known : { ofKueue });
  }
  return found;
}

/** Whether two finders found the same queue. */
export function isSameQueue(one: QueueRef | null, other: QueueRef | null): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  return one.scheduler === other.scheduler && one.name === other.name && one.localQueue === other.localQueue;
}
