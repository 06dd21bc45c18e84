import { bareRecord } from "../../../kernel/bareRecord.ts";
import { parseTimeStamp } from "../../../kernel/isoTime.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { Pod } from "../../../model/pod.ts";
import type { Eviction } from "../../../model/queues/eviction.ts";
import type { KaiPodGroup } from "../../../model/queues/kai.ts";
import type { KueueWorkload } from "../../../model/queues/kueue.ts";
import { checkpointAnnotations } from "../../../model/wellKnown.ts";
import type { Clock } from "../clock.ts";
import type { PodPreemption } from "../podStatus.ts";
import { createEvictionLog, type EvictionLog, remember } from "./evictionLog.ts";
import { createKaiEvictions } from "./kaiEviction.ts";
import { kueueEviction } from "./kueueEviction.ts";
import { groupKey, podGang, preemptionWords } from "./podGang.ts";

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

/**
 * Makes one eviction of what several objects report: the pods of a group that lose their places at one time, and the group
 * itself if it reports it (KAI). The pods know why; the group knows everything that it held.
 */
export interface GroupEvictions {
  /** Takes one report of a preempted pod. */
  notePod(pod: Pod, preemption: PodPreemption): void;
  /** Takes what a group reports about its eviction. */
  noteGroup(eviction: Eviction): void;
}

/** The pods of a gang are asked to go one after another, within seconds; the group learns of it soon. */
const settleSeconds = 10;
/** What happens later than this is another eviction. */
const sameEvictionSeconds = 60;

/** An eviction that is being put together. */
interface Growing {
  readonly pods: Set<string>;
  /** Whether the group itself has reported it. */
  isOfGroup: boolean;
  eviction: Eviction;
}

export function createGroupEvictions(log: EvictionLog): GroupEvictions {
  const groups = new Map<string, Growing>();

  /** The eviction of this group at about that time, or the one that begins with this report. */
  const growingAt = (key: string, at: number, begin: () => Eviction): Growing => {
    const before = groups.get(key);
    if (before !== undefined && Math.abs(at - before.eviction.at) <= sameEvictionSeconds) return before;
    const growing: Growing = { pods: new Set(), isOfGroup: false, eviction: begin() };
    groups.delete(key);
    remember(groups, key, growing);
    return growing;
  };

  return {
    notePod: (pod, { at, message }) => {
      const gang = podGang(pod);
      const words = preemptionWords(gang.scheduler, message);
      const growing = growingAt(gang.key, at, () => ({
        key: `${gang.key}@${at}`,
        scheduler: gang.scheduler,
        kind: gang.kind,
        namespace: pod.namespace,
        name: gang.name,
        uid: gang.uid,
        at,
        ...words,
        queue: gang.queue,
        priorityClass: gang.priorityClass,
        allocated: bareRecord(),
        allocatedSince: null,
        checkpointedAt: null,
      }));
      if (growing.pods.has(pod.uid)) return;
      growing.pods.add(pod.uid);
      const { eviction } = growing;
      growing.eviction = growing.isOfGroup ? { ...eviction, ...words } : withPod(eviction, pod);
      log.note(growing.eviction, gang.kind === "Pod" ? 0 : settleSeconds);
    },
    noteGroup: (found) => {
      const growing = growingAt(groupKey(found.namespace, found.name), found.at, () => found);
      const { key, at, reason, isPreemption, preemptor, allocated, allocatedSince } = growing.eviction;
      growing.eviction = {
        ...found,
        key,
        at,
        ...(growing.pods.size > 0 ? { reason, isPreemption, preemptor } : {}),
        allocated: isEmpty(found.allocated) ? allocated : found.allocated,
        allocatedSince: found.allocatedSince ?? allocatedSince,
      };
      // Only what the group held altogether needs nothing from its pods.
      growing.isOfGroup = !isEmpty(found.allocated);
      log.note(growing.eviction, settleSeconds);
    },
  };
}

function isEmpty(amounts: ResourceAmounts): boolean {
  return Object.keys(amounts).length === 0;
}

function withPod(eviction: Eviction, pod: Pod): Eviction {
  const allocated = Object.assign(bareRecord<number>(), eviction.allocated);
  const add = (name: string, amount: number): void => {
    if (amount > 0) allocated[name] = (allocated[name] ?? 0) + amount;
  };
  add("cpu", pod.cpuMilli / 1000);
  add("memory", pod.memoryBytes);
  for (const [name, amount] of Object.entries(pod.gpu.resources)) add(name, amount);
  const checkpointedAt = checkpointAnnotations.reduce<number | null>(
    (latest, name) => extreme(Math.max, latest, parseTimeStamp(pod.annotations[name])),
    null,
  );
  return {
    ...eviction,
    allocated,
    allocatedSince: extreme(Math.min, eviction.allocatedSince, pod.scheduledAt),
    checkpointedAt: extreme(Math.max, eviction.checkpointedAt, checkpointedAt),
  };
}

function extreme(choose: (a: number, b: number) => number, one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : choose(one, other);
}
