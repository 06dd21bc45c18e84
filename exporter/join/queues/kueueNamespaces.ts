// Needed for the goal `queues` (docs/performance.md).

import { isSameList } from "../../kernel/isSameList.ts";
import { oncePer } from "../../kernel/once.ts";
import type { KueueLocalQueue, KueueWorkload } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";

/** The objects of Kueue that determine a pod's queue: all of them are of the pod's own namespace. */
export type KueueQueueObjects = Pick<QueueObjects, "kueueLocalQueues" | "kueueWorkloads">;

/** What Kueue has in one namespace. */
export interface KueueNamespace {
  readonly localQueues: readonly KueueLocalQueue[];
  readonly workloads: readonly KueueWorkload[];
}

type Namespaces = ReadonlyMap<string, KueueNamespace>;

/** The namespaces of the last moments, by their Workloads. */
const sorted = new WeakMap<
  readonly KueueWorkload[],
  { readonly localQueues: unknown; readonly namespaces: Namespaces }
>();

interface OpenNamespace {
  readonly localQueues: KueueLocalQueue[];
  readonly workloads: KueueWorkload[];
}

/**
 * Sorts objects by their namespace, once for the same lists. A namespace with the same objects as in the `last` moment is the
 * same object, so that what was found in it need not be found again.
 */
export function kueueNamespaces(objects: KueueQueueObjects, last: Namespaces = new Map()): Namespaces {
  const { kueueLocalQueues: localQueues, kueueWorkloads } = objects;
  const known = sorted.get(kueueWorkloads);
  if (known?.localQueues === localQueues) return known.namespaces;
  const namespaces = sortByNamespace(objects, last);
  sorted.set(kueueWorkloads, { localQueues, namespaces });
  return namespaces;
}

function sortByNamespace({ kueueLocalQueues, kueueWorkloads }: KueueQueueObjects, last: Namespaces): Namespaces {
  const open = new Map<string, OpenNamespace>();
  for (const localQueue of kueueLocalQueues) openIn(open, localQueue.namespace).localQueues.push(localQueue);
  for (const workload of kueueWorkloads) openIn(open, workload.namespace).workloads.push(workload);
  const found = new Map<string, KueueNamespace>();
  for (const [name, now] of open) {
    const known = last.get(name);
    const isSame =
      known !== undefined &&
      isSameList(known.localQueues, now.localQueues) &&
      isSameList(known.workloads, now.workloads);
    found.set(name, isSame ? known : now);
  }
  return found;
}

/** The LocalQueues of a namespace by their names. */
export const localQueuesIn = oncePer(
  ({ localQueues }: KueueNamespace): ReadonlyMap<string, KueueLocalQueue> =>
    new Map(localQueues.map((queue) => [queue.name, queue] as const)),
);

function openIn(open: Map<string, OpenNamespace>, name: string): OpenNamespace {
  const known = open.get(name);
  if (known !== undefined) return known;
  const made = { localQueues: [], workloads: [] };
  open.set(name, made);
  return made;
}
