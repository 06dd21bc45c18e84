import type { QueueSettings } from "../../config/queuesSchema.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { kaiFinder } from "./kaiFinder.ts";
import { kueueFinder } from "./kueueFinder.ts";
import type { QueueFinder, QueueRef } from "./queueSystem.ts";
import { volcanoFinder } from "./volcanoFinder.ts";

/** The finder of the last cycle, and what it was made from. */
export interface QueueFinderCache {
  last: { readonly inputs: readonly unknown[]; readonly finder: QueueFinder } | null;
}

/**
 * Finds the queue of a pod in any system. Kueue comes first: it may admit what another scheduler places. The finder is the
 * same object while the queue objects are.
 */
export function queueFinder(objects: QueueObjects, settings: QueueSettings, cache: QueueFinderCache): QueueFinder {
  const { nodePoolLabel } = settings.kai;
  const inputs = [
    objects.kueueLocalQueues,
    objects.kueueWorkloads,
    objects.kaiQueues,
    objects.kaiPodGroups,
    objects.volcanoQueues,
    objects.volcanoPodGroups,
    nodePoolLabel,
  ];
  const { last } = cache;
  if (last?.inputs.every((input, i) => input === inputs[i]) === true) return last.finder;
  const finders = [kueueFinder(objects), kaiFinder(objects, { nodePoolLabel }), volcanoFinder(objects)];
  const finder: QueueFinder = (pod, owners) => {
    for (const find of finders) {
      const found = find(pod, owners);
      if (found !== null) return found;
    }
    return null;
  };
  cache.last = { inputs, finder };
  return finder;
}

/** Whether two finders found the same queue. */
export function isSameQueue(one: QueueRef | null, other: QueueRef | null): boolean {
  if (one === other) return true;
  if (one === null || other === null) return false;
  return one.scheduler === other.scheduler && one.name === other.name && one.localQueue === other.localQueue;
}
