import { sameData } from "../../kernel/sameData.ts";
import type { OwnerObject } from "../../model/cluster.ts";
import { checkpointAnnotations, ownAnnotations } from "../../model/wellKnown.ts";
import { type BackOff, createBackOff, spread } from "../http/backOff.ts";
import type { ApiClient } from "./apiClient.ts";
import type { Clock } from "./clock.ts";
import { createOwnerReader, type OwnerReading, type WantedOwner } from "./readOwner.ts";

export interface OwnerLimits {
  /** The most requests at the same time. */
  readonly concurrency: number;
  /** The most owners that are remembered; chains beyond that end with what is known. */
  readonly maxOwners: number;
  /**
   * An owner's metadata is read again after this time, and for some owners earlier, so that not all are due at the same time.
   */
  readonly maxAgeSeconds: number;
  /**
   * The same time for an owner with facts that change all the time: its progress, its last checkpoint, and for a Job how many
   * of its pods failed. With many owners the time is longer, so that they cause at most about `rereadsPerSecond`.
   */
  readonly maxProgressAgeSeconds: number;
  readonly rereadsPerSecond: number;
  /** How long it is remembered that an owner cannot be read. */
  readonly unreadableSeconds: number;
  /** The same time for a kind of owner that may not be read: once the right is granted, that should be noticed soon. */
  readonly forbiddenSeconds: number;
  /** The most links of a chain that are followed. */
  readonly maxDepth: number;
}

export const defaultOwnerLimits: OwnerLimits = {
  concurrency: 4,
  maxOwners: 50_000,
  maxAgeSeconds: 1800,
  maxProgressAgeSeconds: 300,
  rereadsPerSecond: 10,
  unreadableSeconds: 600,
  forbiddenSeconds: 60,
  maxDepth: 8,
};

/** Reads the owners of pods with GPUs, one by one, upwards until a chain ends. */
export interface OwnerLookup {
  /**
   * Sets which direct owners matter now; owners that are not reachable from them are forgotten. It starts reading and returns
   * immediately.
   */
  track(wanted: readonly WantedOwner[]): void;
  /** All owners read so far; the same array until one changes. */
  owners(): readonly OwnerObject[];
  /** Number of owners that still have to be read. */
  readonly pending: number;
  /** The monotonic time since which something has been pending; `null` when nothing is. */
  readonly pendingSince: number | null;
  /** Why some owner cannot be read right now; `null` when all can. Owners that may not be read are no failure. */
  readonly lastFailure: string | null;
  /** Resources of owners that may not be read, as `resourceName` names them, sorted. */
  readonly forbidden: readonly string[];
  /** Resolves when nothing is being read any more. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface Entry {
  readonly wanted: WantedOwner;
  readonly depth: number;
  object: OwnerObject | null;
  /** Monotonic time from which it is to be read (again). */
  dueAt: number;
  isReading: boolean;
  /** The pauses after failures in a row, and what the last failure was; `null` without one. */
  readonly backOff: BackOff;
  failure: string | null;
  /** The resource that could not be read because a right is missing. */
  forbiddenResource: string | null;
}

function newEntry(wanted: WantedOwner, depth: number, random: () => number): Entry {
  const backOff = createBackOff({ firstSeconds: 2, maxSeconds: 300 }, random);
  return { wanted, depth, object: null, dueAt: 0, isReading: false, backOff, failure: null, forbiddenResource: null };
}

/**
 * The key of an owner. Anybody may write the uid of another namespace's object on a pod, and that must not prevent the object
 * from being read.
 */
const keyOf = ({ namespace, owner }: WantedOwner): string => `${namespace}/${owner.uid}`;

const changingAnnotations = [ownAnnotations.progressUnits, ...checkpointAnnotations] as const;

function isChanging({ annotations, job }: OwnerObject): boolean {
  return job !== null || changingAnnotations.some((name) => name in annotations);
}

function changingAge({ maxAgeSeconds, maxProgressAgeSeconds, rereadsPerSecond }: OwnerLimits, owners: number): number {
  return Math.min(maxAgeSeconds, Math.max(maxProgressAgeSeconds, owners / rereadsPerSecond));
}

export function createOwnerLookup(
  client: ApiClient,
  clock: Clock,
  random: () => number,
  limits: OwnerLimits,
): OwnerLookup {
  const stopping = new AbortController();
  const readOwner = createOwnerReader(client, clock, limits.unreadableSeconds);
  /** The resources that may not be read, each with the time until which that is believed. */
  const forbidden = new Map<string, number>();
  let entries = new Map<string, Entry>();
  let queue: Entry[] = [];
  let active = 0;
  let pendingSince: number | null = null;
  let cached: readonly OwnerObject[] | null = [];
  let waiters: (() => void)[] = [];

  /** Finds or makes the entry of an owner and continues upwards; enqueues the entries that are due. */
  const visit = (wanted: WantedOwner, depth: number, kept: Map<string, Entry>): void => {
    const key = keyOf(wanted);
    if (wanted.owner.uid === "" || depth >= limits.maxDepth || kept.has(key)) return;
    if (kept.size >= limits.maxOwners) return;
    const entry = entries.get(key) ?? newEntry(wanted, depth, random);
    kept.set(key, entry);
    if (entry.dueAt <= clock.monotonic() && !entry.isReading) queue.push(entry);
    const above = entry.object?.owner;
    if (above) visit({ namespace: wanted.namespace, owner: above }, depth + 1, kept);
  };

  const isForbidden = (resource: string): boolean => (forbidden.get(resource) ?? 0) > clock.monotonic();

  /** The time until which no owner of a resource is requested. An owner that was not even requested does not extend it. */
  const forbid = (resource: string): number => {
    const now = clock.monotonic();
    const believed = forbidden.get(resource) ?? 0;
    const until = believed > now ? believed : now + limits.forbiddenSeconds;
    forbidden.set(resource, until);
    return until;
  };

  const settle = (entry: Entry, reading: OwnerReading): void => {
    const now = clock.monotonic();
    if (reading.type === "failed") {
      entry.failure = reading.reason;
      entry.dueAt = now + Math.max(entry.backOff.next(), reading.retryAfterSeconds);
      return;
    }
    entry.failure = null;
    entry.backOff.reset();
    entry.forbiddenResource = reading.type === "unreadable" ? reading.forbiddenResource : null;
    if (reading.type === "unreadable") {
      const { forbiddenResource } = reading;
      if (entry.object !== null) cached = null;
      entry.object = null;
      entry.dueAt =
        forbiddenResource === null ? now + spread(limits.unreadableSeconds, random) : forbid(forbiddenResource);
      return;
    }
    entry.dueAt =
      now + spread(isChanging(reading.object) ? changingAge(limits, entries.size) : limits.maxAgeSeconds, random);
    if (entry.object === null || !sameData(entry.object, reading.object)) {
      entry.object = reading.object;
      cached = null;
    }
    const above = reading.object.owner;
    if (above && entries.get(keyOf(entry.wanted)) === entry) {
      visit({ namespace: entry.wanted.namespace, owner: above }, entry.depth + 1, entries);
    }
  };

  const read = async (entry: Entry): Promise<void> => {
    entry.isReading = true;
    active += 1;
    const reading = await readOwner(entry.wanted, isForbidden, stopping.signal);
    if (!stopping.signal.aborted) settle(entry, reading);
    entry.isReading = false;
    active -= 1;
    pump();
  };

  const pump = (): void => {
    while (active < limits.concurrency && !stopping.signal.aborted) {
      const entry = queue.shift();
      if (entry === undefined) break;
      if (!entry.isReading && entry.dueAt <= clock.monotonic()) void read(entry);
    }
    if (active > 0) {
      pendingSince ??= clock.monotonic();
      return;
    }
    // After a failure owners are due again later, so they are still pending.
    if (lastFailure() === null) pendingSince = null;
    for (const wake of waiters.splice(0)) wake();
  };

  const lastFailure = (): string | null => {
    for (const { failure } of entries.values()) if (failure !== null) return failure;
    return null;
  };

  const idle = (): Promise<void> => (active === 0 ? Promise.resolve() : new Promise((wake) => waiters.push(wake)));

  return {
    track: (wanted) => {
      queue = [];
      const kept = new Map<string, Entry>();
      for (const one of wanted) visit(one, 0, kept);
      if (kept.size !== entries.size || [...kept.keys()].some((key) => !entries.has(key))) cached = null;
      entries = kept;
      pump();
    },
    owners: () => {
      cached ??= [...entries.values()].flatMap(({ object }) => (object === null ? [] : [object]));
      return cached;
    },
    get pending() {
      return queue.length + active;
    },
    get pendingSince() {
      return pendingSince;
    },
    get lastFailure() {
      return lastFailure();
    },
    get forbidden() {
      const all = [...entries.values()].map(({ forbiddenResource }) => forbiddenResource);
      return [...new Set(all)].filter((resource) => resource !== null).sort();
    },
    idle,
    stop: async () => {
      stopping.abort();
      queue = [];
      await idle();
      waiters = [];
    },
  };
}
