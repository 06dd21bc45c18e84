import { type AlikeGangsCache, createAlikeGangsCache } from "./alikeGangs.ts";
import type { GangDraft } from "./gangDraft.ts";
import { createKueueGangCache, type KueueGangCache } from "./kueueGangCache.ts";
import type { PoolFactsCache } from "./poolFacts.ts";

/** What the last join found of queues. It changes no answer. */
export interface QueueingCache {
  readonly kueue: KueueGangCache;
  readonly alike: AlikeGangsCache;
  readonly pools: PoolFactsCache;
  /** What waited, in order. */
  order: readonly GangDraft[];
}

/** A cache that has seen nothing. */
export function createQueueingCache(): QueueingCache {
  return { kueue: createKueueGangCache(), alike: createAlikeGangsCache(), pools: { last: new Map() }, order: [] };
}
