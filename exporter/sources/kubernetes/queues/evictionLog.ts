import type { Eviction } from "../../../model/queues/eviction.ts";
import type { Clock } from "../clock.ts";

/** Evictions of the last minutes, whoever told of them. Most objects forget theirs within seconds. */
export interface EvictionLog {
  /**
   * Notes an eviction once, however often it is seen. It is told after `settleSeconds` from the first sight (at once by
   * default); until then a later sight takes the place of an earlier one, and afterwards only if it knows more.
   */
  note(eviction: Eviction, settleSeconds?: number): void;
  /** Those of the last minutes; the same array until one is noted, begins to be told or is no longer told. */
  evictions(): readonly Eviction[];
  /** All that are remembered, told or not. */
  all(): readonly Eviction[];
}

export interface EvictionLimits {
  /** How long an eviction is told after it was seen first. */
  readonly tellSeconds: number;
  /** So many are remembered, so that none is told twice; the oldest are forgotten first. */
  readonly maxEvictions: number;
}

const defaultEvictionLimits: EvictionLimits = { tellSeconds: 900, maxEvictions: 10_000 };

interface Entry {
  readonly eviction: Eviction;
  /** Monotonic times between which it is told. */
  readonly toldFrom: number;
  readonly toldUntil: number;
}

export function createEvictionLog(clock: Clock, limits: EvictionLimits = defaultEvictionLimits): EvictionLog {
  /** In the order in which they were seen first. */
  const byKey = new Map<string, Entry>();
  let told: { readonly evictions: readonly Eviction[]; readonly until: number } | null = null;

  const tell = (): NonNullable<typeof told> => {
    const now = clock.monotonic();
    const evictions: Eviction[] = [];
    let until = Number.POSITIVE_INFINITY;
    for (const { eviction, toldFrom, toldUntil } of byKey.values()) {
      if (toldUntil < now) continue;
      if (toldFrom <= now) evictions.push(eviction);
      until = Math.min(until, toldFrom > now ? toldFrom : toldUntil);
    }
    return { evictions, until };
  };

  return {
    note: (eviction, settleSeconds = 0) => {
      const now = clock.monotonic();
      const before = byKey.get(eviction.key);
      const isTold = before !== undefined && before.toldFrom <= now;
      if (isTold && knows(before.eviction) >= knows(eviction)) return;
      const toldFrom = before?.toldFrom ?? now + settleSeconds;
      byKey.set(eviction.key, { eviction, toldFrom, toldUntil: toldFrom + limits.tellSeconds });
      told = null;
      for (const key of byKey.keys()) {
        if (byKey.size <= limits.maxEvictions) break;
        byKey.delete(key);
      }
    },
    evictions: () => {
      if (told === null || clock.monotonic() >= told.until) told = tell();
      return told.evictions;
    },
    all: () => [...byKey.values()].map(({ eviction }) => eviction),
  };
}

function knows({ held, heldSince, preemptor, queue }: Eviction): number {
  const facts = [heldSince, preemptor, queue].filter((fact) => fact !== null);
  return facts.length + (Object.keys(held).length > 0 ? 1 : 0);
}
