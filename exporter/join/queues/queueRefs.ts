import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { QueueRef } from "./queueSystem.ts";

/** References to queues by name; the same queue is the same object, whatever the number of its pods. */
export function queueRefs(scheduler: QueueScheduler): (name: string) => QueueRef {
  const known = new Map<string, QueueRef>();
  return (name) => {
    const ref = known.get(name) ?? { scheduler, name, localQueue: null };
    known.set(name, ref);
    return ref;
  };
}
