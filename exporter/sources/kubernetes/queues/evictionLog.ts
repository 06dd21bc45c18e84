import type { Eviction } from "../../../model/queues/eviction.ts";
import type { Clock } from "../clock.ts";

/** The evictions of the last minutes, whatever reported them. Most objects lose the report of theirs within seconds. */
export interface EvictionLog {
  /**
   * Notes an eviction once, however often it is reported. It appears in `evictions` after `settleSeconds` from the first report
   * (immediately by default); until then a later report replaces an earlier one, and afterwards only if it contains more.
   */
  note(eviction: Eviction, settleSeconds?: number): void;
  /** The evictions of the last minutes; the same array until one is noted, begins to be reported or is no longer reported. */
  evictions(): readonly Eviction[];
  /** All evictions that are remembered, reported or not. */
  all(): readonly Eviction[];
}

/** How long an eviction is reported after it was first noted. */
const reportSeconds = 900;
/** The most evictions and groups that are remembered, so that none is reported twice. */
export const mostRemembered = 10_000;

/** Adds an entry, a new one at the end, and removes the oldest ones beyond the limit. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value, most = mostRemembered): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}

interface Entry {
  readonly eviction: Eviction;
  /** Monotonic times between which it is reported. */
  readonly reportedFrom: number;
  readonly reportedUntil: number;
}

export function createEvictionLog(clock: Clock, most = mostRemembered): EvictionLog {
  /** The entries by key, in the order in which they were first noted. */
  const byKey = new Map<string, Entry>();
  let reported: { readonly evictions: readonly Eviction[]; readonly until: number } | null = null;

  const report = (): NonNullable<typeof reported> => {
    const now = clock.monotonic();
    const evictions: Eviction[] = [];
    let until = Number.POSITIVE_INFINITY;
    for (const { eviction, reportedFrom, reportedUntil } of byKey.values()) {
      if (reportedUntil < now) continue;
      if (reportedFrom <= now) evictions.push(eviction);
      until = Math.min(until, reportedFrom > now ? reportedFrom : reportedUntil);
    }
    return { evictions, until };
  };

  return {
    note: (eviction, settleSeconds = 0) => {
      const now = clock.monotonic();
      const before = byKey.get(eviction.key);
      const isReported = before !== undefined && before.reportedFrom <= now;
      if (isReported && knows(before.eviction) >= knows(eviction)) return;
      const reportedFrom = before?.reportedFrom ?? now + settleSeconds;
      remember(byKey, eviction.key, { eviction, reportedFrom, reportedUntil: reportedFrom + reportSeconds }, most);
      reported = null;
    },
    evictions: () => {
      if (reported === null || clock.monotonic() >= reported.until) reported = report();
      return reported.evictions;
    },
    all: () => [...byKey.values()].map(({ eviction }) => eviction),
  };
}

function knows({ allocated, allocatedSince, preemptor, queue }: Eviction): number {
  const facts = [allocatedSince, preemptor, queue].filter((fact) => fact !== null);
  return facts.length + (Object.keys(allocated).length > 0 ? 1 : 0);
}
