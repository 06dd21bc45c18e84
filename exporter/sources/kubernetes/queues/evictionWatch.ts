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

/** Watches the objects that report evictions, as they change; `before` is absent for an object that is new to Fairlead. */
export interface EvictionWatch {
  onWorkload(before: KueueWorkload | undefined, now: KueueWorkload): void;
  onKaiPodGroup(before: KaiPodGroup | undefined, now: KaiPodGroup): void;
  onPreemptedPod(pod: Pod, preemption: PodPreemption): void;
  /** The evictions of the last minutes, delayed by some seconds if several objects report the same one. */
  evictions(): readonly Eviction[];
  /** All evictions that were observed, for callers that read them only once. */
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
 * Combines the reports of several objects into one eviction: the pods of a group that lose their places at one time, and the
 * group itself if it reports its eviction (KAI). The pods have the reason; the group has everything that it held.
 */
export interface GroupEvictions {
  /** Takes in the report of one preempted pod. */
  notePod(pod: Pod, preemption: PodPreemption): void;
  /** Takes in what a group reports about its eviction. */
  noteGroup(eviction: Eviction): void;
}

/**
 * The time in which all reports of an eviction come: the pods of a gang are asked to end one after another, within seconds, and
 * the group reports it soon afterwards.
 */
const settleSeconds = 10;
/** A report that differs by more than this time is about another eviction. */
const sameEvictionSeconds = 60;

/** An eviction that is being combined from reports. */
interface Growing {
  readonly pods: Set<string>;
  /** Whether the group itself has reported it. */
  isOfGroup: boolean;
  eviction: Eviction;
}

export function createGroupEvictions(log: EvictionLog): GroupEvictions {
  const groups = new Map<string, Growing>();

  /** The eviction of this group at about this time, or a new one that begins with this report. */
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
      // Only if the group has reported everything that it held, nothing is added for its pods.
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
