import { type GangDraft, inQueueOrder } from "./gangDraft.ts";
import type { WaitingGang } from "./queueing.ts";
import type { QueueingCache } from "./queueingCache.ts";

/**
 * Whether a gang is in the line of its queue at all: nobody holds it back, and the queue takes it and has an object for it, or
 * it may run.
 */
export const standsInLine = ({ never, isOutOfLine }: Pick<WaitingGang, "never" | "isOutOfLine">): boolean =>
  isOutOfLine !== true && never !== "paused" && never !== "no-queue";

/** Gangs in the order in which queues serve them. Those that are the same objects as last time keep their order. */
export function inServingOrder(
  drafts: readonly GangDraft[],
  cache: Pick<QueueingCache, "order">,
): readonly GangDraft[] {
  const last = cache.order;
  const places: (GangDraft | undefined)[] = new Array(last.length).fill(undefined);
  const others: GangDraft[] = [];
  for (const draft of drafts) {
    const place = draft.kept?.place ?? -1;
    if (place >= 0 && last[place] === draft) places[place] = draft;
    else others.push(draft);
  }
  const again = places.filter((draft) => draft !== undefined);
  // Those that kept their order are one ascending run, which costs a single pass.
  const ordered = [...again, ...others].sort(inQueueOrder);
  for (let place = 0; place < ordered.length; place++) {
    const kept = ordered[place]?.kept;
    if (kept !== undefined) kept.place = place;
  }
  cache.order = ordered;
  return ordered;
}
