import { bareRecord } from "../../../kernel/bareRecord.ts";
import type { ResourceAmounts } from "../../../model/node.ts";
import type { Eviction } from "../../../model/queues/eviction.ts";
import type { KaiPodGroup } from "../../../model/queues/kai.ts";
import { remember } from "./evictionLog.ts";
import { groupKey } from "./podGang.ts";

/** Compares each PodGroup of KAI with its previous state; returns the eviction that its annotation reports, or `null`. */
export type KaiEvictions = (before: KaiPodGroup | undefined, now: KaiPodGroup) => Eviction | null;

/** What a group held until recently. */
interface Lost {
  readonly allocated: ResourceAmounts;
  readonly lastStartAt: number | null;
  /** The time when this was observed, monotonic seconds. */
  readonly seenAt: number;
}

/**
 * KAI's scheduler sets the time of an eviction, and another controller updates what is allocated. Either may be first, by at
 * most this much.
 */
const settleSeconds = 60;

/**
 * A PodGroup of KAI reports an eviction only by an annotation with its time (`kai.scheduler/last-eviction-timestamp`, since
 * v0.17). The annotation shows neither the work that took the place nor the reason, except that a group which was already stale
 * loses its remaining pods for that reason. What the group lost is what it held before. The conditions of its pods contain
 * more, while they exist.
 */
export function createKaiEvictions(monotonic: () => number): KaiEvictions {
  const lost = new Map<string, Lost>();

  const noteLoss = (before: KaiPodGroup, now: KaiPodGroup): void => {
    if (!isSome(before.allocated) || isSome(now.allocated)) return;
    lost.delete(now.uid);
    remember(lost, now.uid, { allocated: before.allocated, lastStartAt: before.lastStartAt, seenAt: monotonic() });
  };

  const lately = (uid: string): Lost | null => {
    const found = lost.get(uid);
    return found !== undefined && monotonic() - found.seenAt <= settleSeconds ? found : null;
  };

  return (before, now) => {
    if (before !== undefined) noteLoss(before, now);
    const at = now.lastEvictionAt;
    if (at === null || before?.lastEvictionAt === at) return null;
    // The annotation is never removed: if the group has started since, it reports an eviction that is over.
    if (before === undefined && now.lastStartAt !== null && now.lastStartAt > at) return null;
    const allocated = before && isSome(before.allocated) ? before : (lately(now.uid) ?? now);
    const isStale = (before ?? now).staleSince !== null;
    return {
      key: `${groupKey(now.namespace, now.name)}@${at}`,
      scheduler: "kai",
      kind: "PodGroup",
      namespace: now.namespace,
      name: now.name,
      uid: now.uid,
      at,
      reason: isStale ? "StaleGang" : "Evicted",
      isPreemption: !isStale,
      preemptor: null,
      queue: (before ?? now).queue,
      priorityClass: now.priorityClass,
      allocated: allocated.allocated ?? bareRecord(),
      allocatedSince: startBefore(at, before?.lastStartAt, allocated.lastStartAt, now.lastStartAt),
      checkpointedAt: now.checkpointedAt ?? before?.checkpointedAt ?? null,
    };
  };
}

function isSome(amounts: ResourceAmounts | null): amounts is ResourceAmounts {
  return amounts !== null && Object.values(amounts).some((amount) => amount > 0);
}

function startBefore(at: number, ...starts: readonly (number | null | undefined)[]): number | null {
  return starts.find((start) => typeof start === "number" && start <= at) ?? null;
}
