import type { Pod } from "../../../model/pod.ts";
import type { Eviction } from "../../../model/queues/eviction.ts";
import type { KaiPodGroup } from "../../../model/queues/kai.ts";
import type { KueueWorkload } from "../../../model/queues/kueue.ts";
import type { Clock } from "../clock.ts";
import type { PodPreemption } from "../podStatus.ts";
import { createEvictionLog } from "./evictionLog.ts";
import { createGroupEvictions } from "./groupEvictions.ts";
import { createKaiEvictions } from "./kaiEviction.ts";
import { kueueEviction } from "./kueueEviction.ts";

/** Watches the objects that report evictions, as they change; `before` is absent for an object that is new here. */
export interface EvictionWatch {
  onWorkload(before: KueueWorkload | undefined, now: KueueWorkload): void;
  onKaiPodGroup(before: KaiPodGroup | undefined, now: KaiPodGroup): void;
  onPreemptedPod(pod: Pod, preemption: PodPreemption): void;
  /** Evictions of the last minutes, some seconds late if several objects report the same one. */
  evictions(): readonly Eviction[];
  /** All that was seen, for a single look. */
  all(): readonly Eviction[];
}

export function createEvictionWatch(clock: Clock): EvictionWatch {
  const log = createEvictionLog(clock);
  const kaiEviction = createKaiEvictions(clock.monotonic);
  const groups = createGroupEvictions(log);
  return {
    onWorkload: (before, now) => {
      const eviction = kueueEviction(before, now);
      if (eviction !== null) log.note(eviction);
    },
    onKaiPodGroup: (before, now) => {
      const eviction = kaiEviction(before, now);
      if (eviction !== null) groups.noteGroup(eviction);
    },
    onPreemptedPod: groups.notePod,
    evictions: log.evictions,
    all: log.all,
  };
}
