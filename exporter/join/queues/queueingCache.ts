import { type AlikeGangsCache, createAlikeGangsCache } from "./alikeGangs.ts";
import type { WaitingWithoutPods } from "./declaredWaiting.ts";
import type { DomainShapeCache } from "./domainShapes.ts";
import type { GangDraft } from "./gangDraft.ts";
import { createKueueGangCache, type KueueGangCache } from "./kueueGangCache.ts";
import type { NamespaceGangs } from "./namespaceGangs.ts";
import type { PlaceMemoryCache } from "./placeMemory.ts";
import type { PoolFactsCache } from "./poolFacts.ts";
import type { PoolFacts, QuotaScope } from "./queueSystem.ts";

/** Nodes with GPUs that no scheduler's quota covers: the same while all pools and scopes are the same objects. */
export interface UncoveredCache {
  last: {
    readonly pools: readonly PoolFacts[];
    readonly scopes: readonly QuotaScope[];
    readonly names: ReadonlySet<string>;
  } | null;
}

/** What the last join found of queues. It changes no answer. */
export interface QueueingCache {
  readonly kueue: KueueGangCache;
  readonly alike: AlikeGangsCache;
  readonly withoutPods: WeakMap<NamespaceGangs, WaitingWithoutPods>;
  readonly places: PlaceMemoryCache;
  readonly pools: PoolFactsCache;
  readonly domains: DomainShapeCache;
  readonly uncovered: UncoveredCache;
  /** What waited, in order. */
  order: readonly GangDraft[];
}

/** A cache that has seen nothing. */
export function createQueueingCache(): QueueingCache {
  return {
    kueue: createKueueGangCache(),
    alike: createAlikeGangsCache(),
    withoutPods: new WeakMap(),
    places: { last: null },
    pools: { last: new Map() },
    domains: { last: null },
    uncovered: { last: null },
    order: [],
  };
}
