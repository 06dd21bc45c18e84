import type { Problem } from "../../model/problem.ts";
import type { RestartReason } from "../../model/restartReasons.ts";
import { createBackOff, spread } from "../http/backOff.ts";
import { timeAnswers } from "./answerTimes.ts";
import type { ApiClient } from "./apiClient.ts";
import { type Clock, pause } from "./clock.ts";
import { listPages } from "./listPages.ts";
import type { ObjectTable } from "./objectTable.ts";
import { createStateKeeper, type KindStatus, noRestarts, type Restart, type StateChange } from "./reflectorStatus.ts";
import { failing, type Setback } from "./setback.ts";
import { type Change, type WatchEnd, watchOnce } from "./watchStream.ts";
import type { DecodedObject, WireFormat } from "./wire.ts";

/** The path of the collection of a kind, or why it is not known. */
export type Located = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly setback: Setback };

export interface ReflectorTiming {
  /** Number of objects in each page of a list. */
  readonly pageSize: number;
  /**
   * A watch without event or bookmark for this long is opened anew. Servers send a bookmark each minute if their etcd reports
   * progress; if it does not, a kind without changes costs one request in this time.
   */
  readonly silenceSeconds: number;
  /** Time after which a kind that is forbidden or absent is tried again. */
  readonly slowRetrySeconds: number;
  readonly firstPauseSeconds: number;
  readonly longestPauseSeconds: number;
  /** Deadline of one page, and of opening a watch. */
  readonly requestDeadlineSeconds: number;
  /** The shortest time after which the server ends a watch; the longest is twice that. */
  readonly watchSeconds: number;
  readonly maxPageBytes: number;
  readonly maxEventBytes: number;
}

export const defaultTiming: ReflectorTiming = {
  pageSize: 500,
  silenceSeconds: 75,
  slowRetrySeconds: 60,
  firstPauseSeconds: 1,
  longestPauseSeconds: 30,
  requestDeadlineSeconds: 30,
  watchSeconds: 240,
  // 500 objects of 1.5 MB, the largest that etcd accepts, would be larger; real pages have a few megabytes.
  maxPageBytes: 256 * 1024 * 1024,
  maxEventBytes: 8 * 1024 * 1024,
};

export interface ReflectorOptions<Row> {
  /** The name of the kind, for status and log. */
  readonly kind: string;
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly timing: ReflectorTiming;
  /** Called before each list, since a group can come, go and change its versions. */
  readonly locate: (signal: AbortSignal) => Promise<Located>;
  readonly wire: WireFormat<Row>;
  readonly table: ObjectTable<Row>;
  /**
   * Whether a cluster may lack this kind. For a kind that every cluster has, "not found" is a fault of something between
   * Fairlead and the API server.
   */
  readonly optional: boolean;
  readonly onStateChange: (change: StateChange) => void;
  readonly onRestart?: (restart: Restart) => void;
}

/** Keeps a table equal to what the API has of one kind: lists once, then watches, and lists again when it must. */
export interface Reflector {
  /** Resolves when the first list has succeeded or failed. */
  start(): Promise<void>;
  stop(): Promise<void>;
  status(): KindStatus;
}

/** A watch that lasted this long was worth opening, even if nothing happened in it. */
const worthwhileSeconds = 5;
/** The longest wait that a server may ask for. */
const maxRetryAfterSeconds = 300;

export function createReflector<Row>(options: ReflectorOptions<Row>): Reflector {
  const { clock, random, table, timing, wire } = options;
  const answers = timeAnswers(options.client, clock);
  const { client } = answers;
  const stopping = new AbortController();
  const keeper = createStateKeeper(options.kind, clock, options.onStateChange);
  const backOff = createBackOff(
    { firstSeconds: timing.firstPauseSeconds, maxSeconds: timing.longestPauseSeconds },
    random,
  );
  const restarts = noRestarts();
  /** Objects that cannot be read, by uid; only the first of them keep their problem, the others have `null`. */
  let skipped = new Map<string, Problem | null>();
  let position: { readonly path: string; readonly resourceVersion: string } | null = null;
  let lastVersion: string | null = null;
  /** Monotonic time at which the cache was last known to be right. */
  let rightAt: number | null = null;
  let isOpen = false;
  let lists = 0;
  let watches = 0;
  let malformed = 0;
  let running: Promise<void> = Promise.resolve();

  const noteRight = (): void => {
    rightAt = clock.monotonic();
  };

  const noteRestart = (reason: RestartReason, message: string): void => {
    restarts[reason] += 1;
    options.onRestart?.({ kind: options.kind, reason, message });
  };

  const apply = (object: DecodedObject<Row>): void => {
    if (object.decoded.ok) {
      skipped.delete(object.uid);
      table.put(object.uid, object.decoded.value);
    } else {
      // The earlier record of an object that cannot be read any more is outdated.
      skip(skipped, object.uid, object.decoded.problem);
      table.remove(object.uid);
    }
  };

  const list = async (): Promise<Setback | null> => {
    const located = await options.locate(stopping.signal);
    if (!located.ok) return located.setback;
    let replacement = table.startReplacement();
    let skippedNow = new Map<string, Problem | null>();
    let begunAt = clock.monotonic();
    const outcome = await listPages({
      client,
      path: located.path,
      wire,
      pageSize: timing.pageSize,
      pageDeadlineSeconds: timing.requestDeadlineSeconds,
      maxPageBytes: timing.maxPageBytes,
      signal: stopping.signal,
      onExpired: (message) => noteRestart("token-expired", message),
      begin: () => {
        replacement = table.startReplacement();
        skippedNow = new Map();
        begunAt = clock.monotonic();
        return ({ uid, decoded }) => {
          if (decoded.ok) replacement.add(uid, decoded.value);
          else skip(skippedNow, uid, decoded.problem);
        };
      },
    });
    if (!outcome.ok) return outcome.setback;
    replacement.commit();
    skipped = skippedNow;
    lists += 1;
    rightAt = begunAt;
    position = { path: located.path, resourceVersion: outcome.resourceVersion };
    lastVersion = outcome.resourceVersion;
    keeper.becomeSynced();
    return null;
  };

  const onChange = (path: string, change: Change<Row>): void => {
    if (change.type === "put") apply(change.object);
    else if (change.type === "remove") {
      table.remove(change.uid);
      skipped.delete(change.uid);
    }
    position = { path, resourceVersion: change.resourceVersion };
    lastVersion = change.resourceVersion;
    noteRight();
    backOff.reset();
  };

  const watch = async (path: string, resourceVersion: string): Promise<WatchEnd> => {
    const end = await watchOnce({
      client,
      clock,
      path,
      wire,
      resourceVersion,
      timeoutSeconds: timing.watchSeconds * (1 + random()),
      silenceSeconds: timing.silenceSeconds,
      openDeadlineSeconds: timing.requestDeadlineSeconds,
      maxEventBytes: timing.maxEventBytes,
      signal: stopping.signal,
      onOpen: () => {
        watches += 1;
        isOpen = true;
        noteRight();
        keeper.becomeSynced();
      },
      onChange: (change) => onChange(path, change),
    });
    isOpen = false;
    return end;
  };

  /** Handles a setback; returns the seconds to wait before the next attempt. */
  const setBack = (reported: Setback): number => {
    const isFault = reported.state === "absent" && !options.optional;
    const setback: Setback = isFault ? { ...reported, state: "failing" } : reported;
    keeper.setBack(setback);
    if (setback.state === "absent") {
      // It is known that a missing kind has no objects.
      if (table.size > 0) table.startReplacement().commit();
      skipped = new Map();
      position = null;
      noteRight();
    }
    const ownPause = setback.state === "failing" ? backOff.next() : spread(timing.slowRetrySeconds, random);
    return Math.max(ownPause, Math.min(setback.retryAfterSeconds ?? 0, maxRetryAfterSeconds));
  };

  /** Handles the end of a watch; returns the seconds to wait before the next attempt. */
  const afterWatch = (end: WatchEnd, openedAt: number, versionBefore: string): number => {
    if (end.type === "setback") noteRestart("broken", end.setback.message);
    else noteRestart(end.type, "message" in end ? end.message : "");
    const wasWorthwhile =
      position?.resourceVersion !== versionBefore || clock.monotonic() - openedAt >= worthwhileSeconds;
    if (wasWorthwhile) backOff.reset();
    if (end.type === "setback") return setBack(end.setback);
    if (end.type === "closed") {
      noteRight();
      return wasWorthwhile ? 0 : backOff.next();
    }
    if (end.type === "silent") {
      keeper.note(`no event or bookmark for ${timing.silenceSeconds} s: the watch was opened anew`);
      return 0;
    }
    position = null;
    keeper.note(end.message);
    if (end.type === "expired") return wasWorthwhile ? 0 : backOff.next();
    malformed += 1;
    return setBack(failing(end.message));
  };

  const step = async (): Promise<number> => {
    if (position === null) {
      const setback = await list();
      if (setback === null || stopping.signal.aborted) return 0;
      return setBack(setback);
    }
    const { path, resourceVersion } = position;
    const openedAt = clock.monotonic();
    const end = await watch(path, resourceVersion);
    return stopping.signal.aborted ? 0 : afterWatch(end, openedAt, resourceVersion);
  };

  const run = async (onFirst: () => void): Promise<void> => {
    while (!stopping.signal.aborted) {
      const seconds = await step();
      onFirst();
      if (seconds > 0) await pause(clock, seconds, stopping.signal);
    }
  };

  return {
    start: () =>
      new Promise((resolve) => {
        running = run(resolve);
      }),
    stop: async () => {
      stopping.abort();
      await running;
    },
    status: () => {
      const age = rightAt === null ? null : Math.max(0, clock.monotonic() - rightAt);
      const { state, since, lastError } = keeper;
      return {
        state,
        since,
        lastError,
        // The silence deadline closes a watch that has died, so an open watch is trusted.
        ageSeconds: isOpen && age !== null && age <= timing.silenceSeconds ? 0 : age,
        resourceVersion: lastVersion,
        lists,
        watches,
        restarts: { ...restarts },
        answerSeconds: answers.slowestSeconds(),
        malformedMessages: malformed,
        skippedObjects: skipped.size,
        problems: [...skipped.values()].filter((problem) => problem !== null),
      };
    },
  };
}

/** All objects that are left out are counted, but only this many are reported. */
const maxReported = 100;

function skip(skipped: Map<string, Problem | null>, uid: string, problem: Problem): void {
  const isReported = skipped.size < maxReported || Boolean(skipped.get(uid));
  skipped.set(uid, isReported ? problem : null);
}
