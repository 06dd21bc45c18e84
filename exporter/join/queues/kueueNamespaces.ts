// Needed for the goal `queues` (docs/performance.md).

import { isSameList } from "../../kernel/isSameList.ts";
import type { KueueLocalQueue, KueueWorkload } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";

/** The objects of Kueue that determine a pod's queue: all of them are of the pod's own namespace. */
export type KueueQueueObjects = Pick<QueueObjects, "kueueLocalQueues" | "kueueWorkloads">;

/** What Kueue has in one namespace. */
export interface KueueNamespace {
  readonly localQueues: readonly KueueLocalQueue[];
  readonly workloads: readonly KueueWorkload[];
}

interface OpenNamespace {
  readonly localQueues: KueueLocalQueue[];
  readonly workloads: KueueWorkload[];
}

/**
 * Sorts objects by their namespace. A namespace with the same objects as in the `last` moment is the same object, so that what
 * was found in it need not be found again.
 */
export function kueueNamespaces(
  { kueueLocalQueues, kueueWorkloads }: KueueQueueObjects,
  last: ReadonlyMap<string, KueueNamespace> = new Map(),
): ReadonlyMap<string, KueueNamespace> {
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

function openIn(open: Map<string, OpenNamespace>, name: string): OpenNamespace {
  const known = open.get(name);
  if (known !== undefined) return known;
  const made = { localQueues: [], workloads: [] };
  open.set(name, made);
  return made;
}
