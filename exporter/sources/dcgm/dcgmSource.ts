import type { TelemetryPage } from "../../model/telemetry.ts";
import type { GetPool } from "../http/getPool.ts";
import { freshnessOf, type Source } from "../port.ts";
import type { ScrapeTarget } from "./discover.ts";
import { frozenAfterSeconds } from "./frozen.ts";
import type { PageLimits } from "./pageShape.ts";
import { targetProblems } from "./targetProblems.ts";
import { afterAttempt, newRecord, recordKey, type TargetRecord } from "./targetRecord.ts";

export interface DcgmSourceOptions {
  /** Called before each round, so that new and removed targets are noticed; the same list means that none has changed. */
  readonly targets: () => readonly ScrapeTarget[];
  /** Sends the requests. The source owns it and closes it on `stop`. */
  readonly pool: GetPool;
  /** Each target is asked once in this time; dcgm-exporter itself collects every 30 s. */
  readonly intervalSeconds: number;
  /** How long the last good page of a target is used: at least 60 s, by default 3 intervals. */
  readonly maxAgeSeconds?: number;
  readonly limits?: Partial<PageLimits>;
  /** The current time, seconds since the epoch. */
  readonly now: () => number;
  /**
   * Calls back once after this many seconds; the returned function cancels the call. By default the machine's timers are used.
   */
  readonly schedule?: (seconds: number, callback: () => void) => () => void;
}

/** The telemetry at one moment. */
export interface DcgmState {
  /** The last good page of every target whose page is young enough to be used. */
  readonly pages: readonly TelemetryPage[];
  readonly targets: number;
  readonly targetsUp: number;
}

/** A source that can also be driven by hand. */
export interface DcgmSource extends Source<DcgmState> {
  /**
   * Scrapes all targets once and immediately, as of `now` (seconds since the epoch). For demos, tests and one-shot commands.
   */
  scrapeOnce(now: number): Promise<void>;
}

/** Collection plus scrape of an exporter take up to 45 s (NVIDIA/DCGM#170); a younger limit would lose good pages. */
const leastMaxAgeSeconds = 60;
/** A round is divided into this many parts of the interval. */
const slicesPerRound = 20;

/** Scrapes all targets, spread evenly over each interval, and keeps the last good page of each. */
export function createDcgmSource(options: DcgmSourceOptions): DcgmSource {
  const { pool, now, intervalSeconds } = options;
  const schedule = options.schedule ?? scheduleOnMachine;
  const maxAgeSeconds = Math.max(leastMaxAgeSeconds, options.maxAgeSeconds ?? 3 * intervalSeconds);
  const frozenAfter = frozenAfterSeconds(maxAgeSeconds);
  const records = new Map<string, TargetRecord>();
  const underWay = new Map<string, Promise<void>>();
  let cancelNext: (() => void) | null = null;
  let slice = 0;
  let isRunning = false;

  let list: readonly ScrapeTarget[] | null = null;

  /** Takes over the provider's list if it is another one: forgets removed targets and remembers new ones. */
  const refresh = (): void => {
    const targets = options.targets();
    if (targets === list) return;
    list = targets;
    const wanted = new Map<string, ScrapeTarget>();
    for (const target of targets) wanted.set(recordKey(target), target);
    for (const key of records.keys()) if (!wanted.has(key)) records.delete(key);
    for (const [key, target] of wanted) {
      const known = records.get(key);
      records.set(key, known === undefined ? newRecord(target, options.limits) : { ...known, target });
    }
    pool.retain(new Set([...wanted.values()].map(({ url }) => url)));
  };

  const scrape = (key: string, record: TargetRecord, endedAt: () => number): Promise<void> => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const attempt = pool
      .get(record.target, (bytes) => record.reader.read(bytes, endedAt()))
      .then((result) => {
        const current = records.get(key);
        // A target that was removed and came back meanwhile has a reader that has not seen this page.
        if (current?.reader !== record.reader) return;
        records.set(key, afterAttempt(current, result, endedAt(), frozenAfter));
      })
      .finally(() => underWay.delete(key));
    underWay.set(key, attempt);
    return attempt;
  };

  const scrapeOnce = async (at: number): Promise<void> => {
    refresh();
    await Promise.all([...records].map(([key, record]) => scrape(key, record, () => at)));
  };

  const tick = (): void => {
    if (!isRunning) return;
    // Exporters that are found only now are scraped immediately.
    if (slice === 0 || records.size === 0) refresh();
    for (const [key, record] of records) {
      if (!record.wasTried || sliceOf(key) === slice) void scrape(key, record, now);
    }
    slice = (slice + 1) % slicesPerRound;
    cancelNext = schedule(intervalSeconds / slicesPerRound, tick);
  };

  const isYoung = (at: number | null): at is number => at !== null && now() - at <= maxAgeSeconds;

  return {
    name: "dcgm",
    start: async () => {
      isRunning = true;
      refresh();
      // A target that answers is asked again in its turn, however long others take.
      cancelNext = schedule(intervalSeconds / slicesPerRound, tick);
      await Promise.all([...records].map(([key, record]) => scrape(key, record, now)));
    },
    stop: async () => {
      isRunning = false;
      cancelNext?.();
      await pool.close();
      await Promise.all(underWay.values());
    },
    scrapeOnce,
    read: () => {
      const all = [...records.values()];
      return {
        pages: all.flatMap(({ pages, lastGoodAt }) => (isYoung(lastGoodAt) ? pages : [])),
        targets: all.length,
        targetsUp: all.filter(({ wasTried, fault }) => wasTried && fault === null).length,
      };
    },
    freshness: () =>
      [...records.values()].map(({ name, lastGoodAt }) => freshnessOf(name, lastGoodAt, now(), maxAgeSeconds)),
    problems: () => targetProblems([...records.values()], now(), maxAgeSeconds),
  };
}

/**
 * The slice of the round in which a target is scraped: evenly distributed over the targets, and the same in every round
 * (FNV-1a).
 */
function sliceOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % slicesPerRound;
}

/** Schedules a callback with the machine's timers. */
export function scheduleOnMachine(seconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, seconds * 1000);
  return () => clearTimeout(timer);
}
