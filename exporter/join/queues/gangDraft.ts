import { compareText } from "../../kernel/compareText.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { AlikeGangs } from "./alikeGangs.ts";
import type { WaitingGang } from "./queueing.ts";
import type { QueueRef } from "./queueSystem.ts";

/** Equal pods of a waiting gang, before it is known where they may go. */
export interface PartDraft {
  readonly pods: number;
  /** Physical GPUs of one pod; `undefined` where the pool decides it, by `needs`. */
  readonly gpusPerPod: number | null | undefined;
  readonly needs: PodNeeds;
  /** Names of its system's scopes that may serve it, best first; `null` if the nodes' labels decide. */
  readonly scopes: readonly string[] | null;
  /** As in `DeclaredPart`. */
  readonly mostPods?: number;
  /** Indices of the existing waiting pods that it represents. */
  readonly waiting: readonly number[];
}

/** A waiting gang before it is known where it waits. */
export interface GangDraft extends Omit<WaitingGang, "parts" | "gpus" | "pods" | "most" | "queue" | "localQueue"> {
  readonly ref: QueueRef | null;
  /** The queue that its pods name, where no queue system knows it. */
  readonly labelledQueue: string | null;
  readonly parts: readonly PartDraft[];
  /**
   * Only for a draft without pods, which stays the same object while its content is the same: its place in the last order, its
   * value then, and what it shares with others that ask for the same. It changes no answer.
   */
  readonly kept?: { place: number; gang: WaitingGang | null; readonly alike: AlikeGangs };
}

/**
 * Compares gangs in the order in which a queue serves them: by priority, then by how long they have been in its line, then by
 * name; Workloads of Kueue of the same second by uid (v0.19, pkg/cache/queue `baseCompareFunc`).
 */
export function inQueueOrder(a: GangDraft, b: GangDraft): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const [one, other] = [inLineSince(a), inLineSince(b)];
  if (one !== other) return one < other ? -1 : 1;
  const byScheduler = compareText(a.scheduler, b.scheduler);
  if (byScheduler !== 0) return byScheduler;
  if (a.scheduler === "kueue") return compareText(a.uid, b.uid);
  return compareText(a.namespace, b.namespace) || compareText(a.name, b.name) || compareText(a.uid, b.uid);
}

const inLineSince = ({ queuedAt, since }: GangDraft): number => queuedAt ?? since ?? Number.POSITIVE_INFINITY;

/** The earliest of some times; `null` when none is known. */
export function oldest(times: readonly (number | null)[]): number | null {
  return times.reduce((first, time) => (time === null ? first : first === null ? time : Math.min(first, time)), null);
}
