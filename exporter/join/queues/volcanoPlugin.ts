import type { QueueSettings } from "../../config/queuesSchema.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { SchedulerSettings, VolcanoPluginSign } from "../../model/queues/queueObjects.ts";
import type { VolcanoQueue } from "../../model/queues/volcano.ts";
import { volcanoRootQueue } from "./volcanoTree.ts";

/**
 * Which plugin gives Volcano's queues their share: the one in the configuration, or else in the scheduler's own settings, or
 * else `capacity` if a queue has a field that only this plugin reads. `null`: unknown, and Volcano's default is `proportion`.
 */
export function volcanoPlugin(
  queues: readonly VolcanoQueue[],
  wished: QueueSettings["volcano"]["plugin"],
  read: SchedulerSettings["volcano"],
): SchedulerSettings["volcano"] {
  if (wished !== "auto") return { plugin: wished };
  if (read !== null) return read;
  const signs = queues.map(signOf).filter((sign) => sign !== null);
  const [first] = signs.sort((a, b) => (a.queue < b.queue ? -1 : 1));
  return first === undefined ? null : { plugin: "capacity", guessedFrom: { ...first, queues: signs.length } };
}

/**
 * A field of a queue that `proportion` never reads. Volcano's webhook wants `deserved` wherever there is a guarantee, so that
 * an equal one is no sign; its controller writes the parent `root` into every queue (v1.15: validateResourceQuantityOfQueue,
 * updateQueueParent).
 */
function signOf({ name, parent, deserved, guarantee }: VolcanoQueue): Omit<VolcanoPluginSign, "queues"> | null {
  if (name === volcanoRootQueue) return null;
  const above = Object.entries(deserved ?? {}).find(
    ([resource, amount]) => gpuLikeResource(resource) && amount > (guarantee?.[resource] ?? 0),
  );
  if (above !== undefined) {
    const [resource, amount] = above;
    return { queue: name, field: "spec.deserved", value: `${amount} ${resource}` };
  }
  if (parent === null || parent === "" || parent === volcanoRootQueue) return null;
  return { queue: name, field: "spec.parent", value: parent };
}
