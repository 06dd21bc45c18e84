import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { sortedInSteps } from "../../kernel/sortedInSteps.ts";
import type { Steps } from "../../kernel/steps.ts";
import type { LinePosition, LocalQueues } from "./localQueues.ts";

/** What decides on the order. */
export interface LineFacts {
  readonly admission: LocalQueues["admission"];
  /** What LocalQueues have used for their weight, by `namespace/name`; `null`: not known. */
  readonly usage: ReadonlyMap<string, number | null>;
}

/**
 * The line of each ClusterQueue in Kueue's order (v0.19, pkg/cache/queue `queueOrderingFunc`): where it admits by usage the LocalQueue
 * that has used least for its weight; then priority, then time, as gangs are ordered already. What has quota, was taken out by
 * somebody, or is in no queue, stands in none. What Kueue preempts for at this moment stands first in its own line; no object says so.
 */
export function* linesOf(
  { queueing, queueObjects }: Pick<Snapshot, "queueing" | "queueObjects">,
  { admission, usage }: LineFacts,
): Steps<Pick<LocalQueues, "lines" | "positions">> {
  const known = new Set(queueObjects.kueueWorkloads.map(({ uid }) => uid));
  const waiting = new Map<string, number[]>();
  for (const [index, gang] of queueing.gangs.entries()) {
    if (gang.queue === null || !standsInLine(gang) || !known.has(gang.uid)) continue;
    const line = waiting.get(gang.queue);
    if (line === undefined) waiting.set(gang.queue, [index]);
    else line.push(index);
  }
  yield;
  const lines = new Map<string, readonly number[] | null>();
  const positions = new Map<number, LinePosition>();
  const localOf = (index: number): string => localKey(queueing.gangs[index]);
  for (const [name, gangs] of waiting) {
    const line = admission.get(name)?.byUsage === true ? yield* byUsage(gangs, localOf, usage) : gangs;
    lines.set(name, line);
    const counts = new Map<string, number>();
    for (const [place, index] of (line ?? gangs).entries()) {
      const inLocalQueue = (counts.get(localOf(index)) ?? 0) + 1;
      counts.set(localOf(index), inLocalQueue);
      positions.set(index, { inClusterQueue: line === null ? null : place + 1, inLocalQueue });
    }
  }
  return { lines, positions };
}

/** `null`: several LocalQueues wait, and how much one of them has used is not known. */
function* byUsage(
  gangs: readonly number[],
  localOf: (index: number) => string,
  usage: LineFacts["usage"],
): Steps<readonly number[] | null> {
  const keys = gangs.map(localOf);
  if (new Set(keys).size <= 1) return gangs;
  const entries: { readonly gang: number; readonly used: number }[] = [];
  for (const [i, gang] of gangs.entries()) {
    const used = usage.get(keys[i] ?? "") ?? null;
    if (used === null) return null;
    entries.push({ gang, used });
  }
  yield;
  // Gangs are in the order of priority and time already, and what is alike keeps its order.
  const sorted = yield* sortedInSteps(entries, (a, b) => (a.used === b.used ? 0 : a.used < b.used ? -1 : 1));
  return sorted.map(({ gang }) => gang);
}

function standsInLine({ scheduler, localQueue, reservedAt, never }: WaitingGang): boolean {
  return (
    scheduler === "kueue" && localQueue !== null && reservedAt === null && never !== "paused" && never !== "no-queue"
  );
}

const localKey = (gang: WaitingGang | undefined): string => `${gang?.namespace ?? ""}/${gang?.localQueue ?? ""}`;
