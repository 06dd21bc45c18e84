import type { PastStart } from "../analysis/startTimes/startTimes.ts";
import type { Queueing, StartedWork } from "../join/queues/queueing.ts";
import type { EndedWait, SeenEviction } from "./posting.ts";

/** The events that were not seen before. */
export interface NewEvents {
  readonly waits: readonly EndedWait[];
  /** The same waits, as far as their queue and size are known, with what their place in the line depended on. */
  readonly starts: readonly PastStart[];
  readonly evictions: readonly SeenEviction[];
}

/** Reports each start and eviction once, although moments show them for some time. */
export interface QueueEvents {
  /**
   * The events that are new in a moment at `now` (seconds since the epoch). The first moment is the baseline: no wait that
   * ended before it counts, and evictions from before it are marked as earlier.
   */
  see(queueing: Queueing, now: number): NewEvents;
}

/**
 * Seconds after which starts and evictions are never new, so that those that were seen may be forgotten. Moments show the
 * starts of a quarter of an hour, and evictions for as long as the objects report them.
 */
const startHorizonSeconds = 3600;
const evictionHorizonSeconds = 86_400;

/** Creates the report of events, which has seen nothing yet. */
export function createQueueEvents(): QueueEvents {
  const starts = createSeen(startHorizonSeconds);
  const evictions = createSeen(evictionHorizonSeconds);
  let since: number | null = null;
  return {
    see(queueing, now) {
      const first = since === null;
      since ??= now;
      const begin = since;
      starts.forget(now);
      evictions.forget(now);
      const started = queueing.started.filter((work) =>
        starts.isNew(JSON.stringify([work.uid, work.startedAt]), work.startedAt, now),
      );
      const counted = first ? [] : started.filter(({ startedAt }) => startedAt >= begin);
      const evicted = queueing.evicted.filter(({ key, at }) => evictions.isNew(key, at, now));
      return {
        waits: counted.flatMap((work) => waitsOf(work, queueing)),
        starts: counted.flatMap((work) => pastStartOf(work, queueing)),
        evictions: evicted.map((eviction) => ({ eviction, isEarlier: first || eviction.at < begin })),
      };
    },
  };
}

/** The keys that were seen within a horizon. */
export interface Seen {
  /** Whether a key is new; it is not new from then on. */
  isNew(key: string, at: number, now: number): boolean;
  forget(now: number): void;
}

/** Creates a memory for this horizon that has seen nothing yet. */
export function createSeen(horizonSeconds: number): Seen {
  const seen = new Map<string, number>();
  return {
    isNew(key, at, now) {
      if (!(at >= now - horizonSeconds) || seen.has(key)) return false;
      seen.set(key, at);
      return true;
    },
    forget(now) {
      for (const [key, at] of seen) if (at < now - horizonSeconds) seen.delete(key);
    },
  };
}

/**
 * The phases of a wait, and the whole wait. Times of different clocks may contradict each other a little, so waits are at least
 * 0.
 */
function waitsOf(work: StartedWork, { queues }: Queueing): readonly EndedWait[] {
  const { since, reservedAt, startedAt, priorityClass } = work;
  const view = work.queue === null ? undefined : queues[work.queue];
  const common = { queue: view?.name ?? null, team: view?.team ?? null, priorityClass, gpus: work.gpus ?? null };
  const wait = (phase: EndedWait["phase"], from: number, endedAt: number): EndedWait[] =>
    Number.isFinite(endedAt - from) ? [{ ...common, phase, seconds: Math.max(0, endedAt - from), endedAt }] : [];
  return [
    ...(reservedAt === null ? [] : wait("admission", since, reservedAt)),
    ...wait("start", reservedAt ?? since, startedAt),
    ...wait("total", since, startedAt),
  ];
}

function pastStartOf(work: StartedWork, { queues, domains }: Queueing): readonly PastStart[] {
  const { since, startedAt, gpus = null, priority = 0 } = work;
  const view = work.queue === null ? undefined : queues[work.queue];
  const domain = view === undefined ? undefined : domains[view.domain];
  if (view === undefined || domain === undefined || gpus === null || !(gpus > 0) || !(startedAt >= since)) return [];
  return [{ queue: view.name, domain: domain.name, since, startedAt, gpus, priority }];
}
