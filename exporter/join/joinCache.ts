import type { ResourceSlice } from "../model/cluster.ts";
import type { BindingCache } from "./binding/bindAll.ts";
import type { SortedPodsCache } from "./binding/sortPods.ts";
import type { NamedDraDevice } from "./draDevices.ts";
import type { SubjectIndexCache } from "./ownerIndex.ts";
import type { LastDevices } from "./pastDevices.ts";
import { createNeedsCache } from "./podNeeds.ts";
import type { SubjectCache } from "./podViews.ts";
import type { QueueFinderCache } from "./queues/queueFinders.ts";
import { createQueueingCache, type QueueingCache } from "./queues/queueingCache.ts";
import type { QueueObjectFinderCache } from "./queues/queueObjectFinder.ts";
import type { TelemetryCache } from "./telemetryOf.ts";

/**
 * Results of a join that the next one can reuse, because their inputs are the same objects. It changes no answer, is updated
 * by every join, and belongs to one sequence of joins.
 */
export interface JoinCache {
  readonly telemetry: TelemetryCache;
  readonly slices: WeakMap<ResourceSlice, readonly NamedDraDevice[]>;
  readonly pods: SortedPodsCache;
  readonly bindings: BindingCache;
  readonly queues: QueueFinderCache;
  readonly queueObjects: QueueObjectFinderCache;
  readonly queueing: QueueingCache;
  readonly index: SubjectIndexCache;
  readonly subjects: SubjectCache;
  /** `null` unless the last join was completed. */
  last: LastDevices | null;
}

/** Makes an empty cache. */
export function createJoinCache(): JoinCache {
  return {
    telemetry: { orders: new Map(), copies: null },
    slices: new WeakMap(),
    pods: { last: null },
    bindings: { kept: new Map(), last: [], cycle: 0 },
    queues: { last: null },
    queueObjects: { last: null },
    queueing: createQueueingCache(),
    index: { podsAsOwners: new WeakMap(), last: null },
    subjects: { waiting: new WeakMap(), workloads: new Map(), needs: createNeedsCache(), cycle: 0 },
    last: null,
  };
}
