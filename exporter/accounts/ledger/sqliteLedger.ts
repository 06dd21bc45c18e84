import type { Problem } from "../../model/problem.ts";
import { endedShapesIn } from "./endedShapes.ts";
import type { Ledger, LedgerEntry, LedgerRetention, OpenedLedger } from "./ledger.ts";
import { ledgerProblem, type OrProblem } from "./ledgerProblem.ts";
import { endGently, startThread, within } from "./ledgerThread.ts";
import { packEntry } from "./packedEntry.ts";
import { ledgerMigrations } from "./schema.ts";
import { createWaitingEntries, type WaitingEntries } from "./waitingEntries.ts";
import type { WriterReport, WriterRequest, WriterSettings } from "./writerMessages.ts";

/** Options of a ledger in a SQLite file. Those with a default are for tests. */
export interface SqliteLedgerOptions {
  readonly file: string;
  readonly retention: LedgerRetention;
  readonly migrations?: readonly string[];
  /** The most pages that the file may have. */
  readonly maxPages?: number;
  /** SQLite's layer over the file system (https://www.sqlite.org/vfs.html). */
  readonly vfs?: string;
  /** The most postings that wait in memory: two days of a large cluster whose disk is full. */
  readonly maxWaitingRows?: number;
  /** The pause before the second attempt; it doubles with each further attempt, up to 30 s. */
  readonly retryMilliseconds?: number;
  /** How long `close` tries to write the entries that still wait. */
  readonly closeMilliseconds?: number;
}

const defaultWaitingRows = 500_000;
const defaultRetryMilliseconds = 1000;
const longestRetryMilliseconds = 30_000;
const defaultCloseMilliseconds = 5000;

/** Opens or creates the ledger. A file that cannot be one is refused and left unchanged. */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<OpenedLedger> {
  const settings: WriterSettings = {
    file: options.file,
    retention: options.retention,
    migrations: options.migrations ?? ledgerMigrations,
    maxPages: options.maxPages ?? null,
    vfs: options.vfs ?? null,
  };
  const waiting = createWaitingEntries(options.maxWaitingRows ?? defaultWaitingRows);
  const sender = createSender(settings, waiting, options.retryMilliseconds ?? defaultRetryMilliseconds);
  const refusal = await sender.start();
  const opened = sender.opened();
  if (opened === null) {
    const problem = refusal ?? ledgerProblem("ledger-writer-ended", options.file, "could not be opened");
    return { ok: false, problem };
  }
  return { ok: true, ledger: createLedger(options, waiting, sender, opened) };
}

function createLedger(
  options: SqliteLedgerOptions,
  waiting: WaitingEntries,
  sender: Sender,
  opened: WriterReport & { readonly kind: "opened" },
): Ledger {
  let number = opened.lastEntry;
  let closed = false;

  function append(entry: LedgerEntry): void {
    if (closed) return;
    const packed = packEntry(entry);
    number += 1;
    waiting.add({ number, entry: packed });
    sender.wake();
  }

  return {
    start: {
      lastInterval: opened.lastInterval,
      remembered: opened.remembered,
      endedShapes: endedShapesIn(opened.endedShapes),
      ...(opened.idleTime === null ? {} : { idleTime: opened.idleTime }),
      advice: opened.advice,
    },
    append,
    flush: () => sender.whenEmpty(),
    problems() {
      const { entries, seconds } = waiting.lost();
      const now = sender.problem();
      const found = `could not keep ${Math.round(seconds)} s of GPU time (${entries} entries), which count as not covered`;
      const lost = entries === 0 ? [] : [ledgerProblem("ledger-time-lost", options.file, found)];
      return [now, opened.notice].filter((problem) => problem !== null).concat(lost);
    },
    async close() {
      if (closed) return;
      closed = true;
      const patience = options.closeMilliseconds ?? defaultCloseMilliseconds;
      await within(patience, sender.whenEmpty());
      waiting.giveUpAll();
      await sender.stop(patience);
    },
  };
}

/**
 * Sends waiting entries to the writer's thread one at a time, tries again after a failure, and starts the thread again if it
 * ends.
 */
interface Sender {
  /** Starts the thread; returns the reason why the ledger is refused, or `null`. */
  start(): Promise<Problem | null>;
  /** The report of the first start; `null` before it. */
  opened(): (WriterReport & { readonly kind: "opened" }) | null;
  /** Must be called when there is something to send. */
  wake(): void;
  /** Resolves when nothing waits any more. If an attempt is due later, it is made at once. */
  whenEmpty(): Promise<void>;
  problem(): Problem | null;
  stop(patienceMilliseconds: number): Promise<void>;
}

function createSender(settings: WriterSettings, waiting: WaitingEntries, firstRetry: number): Sender {
  let link: WriterLink | null = null;
  let opened: (WriterReport & { readonly kind: "opened" }) | null = null;
  let problem: Problem | null = null;
  let sending = false;
  let stopping = false;
  let pause = firstRetry;
  let timer: NodeJS.Timeout | null = null;
  const onEmpty: (() => void)[] = [];

  async function start(): Promise<Problem | null> {
    sending = true;
    const started = await startWriter(settings, { onReport, onEnd });
    sending = false;
    if (!started.ok) {
      problem = started.problem;
      return problem;
    }
    link = started.link;
    opened ??= link.opened;
    // These entries were committed by the previous thread, which did not report it.
    waiting.written(link.opened.lastEntry);
    return null;
  }

  function send(): void {
    if (sending || timer !== null || stopping) return;
    const first = waiting.first();
    if (first === null) {
      for (const resolve of onEmpty.splice(0)) resolve();
      return;
    }
    if (link === null) {
      void start().then((refusal) => (refusal === null ? send() : sendLater()));
      return;
    }
    sending = true;
    link.send({ kind: "write", number: first.number, entry: first.entry });
  }

  function sendLater(): void {
    timer ??= setTimeout(() => {
      timer = null;
      send();
    }, pause);
    pause = Math.min(2 * pause, longestRetryMilliseconds);
  }

  function onReport(report: WriterReport): void {
    if (report.kind === "written") {
      sending = false;
      problem = null;
      pause = firstRetry;
      waiting.written(report.number);
      send();
    }
    if (report.kind === "failed") {
      sending = false;
      problem = report.problem;
      if (!report.tryAgain) waiting.giveUpFirst();
      sendLater();
    }
  }

  function onEnd(reason: Problem): void {
    if (stopping || link === null) return;
    link = null;
    sending = false;
    problem = reason;
    sendLater();
  }

  return {
    start,
    opened: () => opened,
    wake: send,
    whenEmpty: () =>
      new Promise((resolve) => {
        onEmpty.push(resolve);
        if (timer !== null) clearTimeout(timer);
        timer = null;
        send();
      }),
    problem: () => problem,
    async stop(patienceMilliseconds) {
      stopping = true;
      if (timer !== null) clearTimeout(timer);
      for (const resolve of onEmpty.splice(0)) resolve();
      await link?.end(patienceMilliseconds);
    },
  };
}

/** A writer's thread that has opened the ledger. */
interface WriterLink {
  readonly opened: WriterReport & { readonly kind: "opened" };
  send(request: WriterRequest): void;
  /** Asks the thread to close the ledger and to end; after this time, the thread is terminated. */
  end(patienceMilliseconds: number): Promise<void>;
}

/** Receives the reports of a writer's thread after it has opened the ledger. */
interface WriterListener {
  onReport(report: WriterReport): void;
  /** Called when the thread has ended. */
  onEnd(problem: Problem): void;
}

type StartedWriter = OrProblem<{ readonly link: WriterLink }>;

/** Starts a thread that owns the ledger's writing connection. */
function startWriter(settings: WriterSettings, listener: WriterListener): Promise<StartedWriter> {
  const worker = startThread("writerThread", settings);
  const send = (request: WriterRequest): void => worker.postMessage(request);
  const end = (patienceMilliseconds: number): Promise<void> => {
    send({ kind: "close" });
    return endGently(worker, patienceMilliseconds);
  };
  return new Promise((resolve) => {
    let ended: string | null = null;
    worker.on("message", (report: WriterReport) => {
      if (report.kind === "opened") {
        resolve({ ok: true, link: { opened: report, send, end } });
      } else if (report.kind === "refused") {
        resolve({ ok: false, problem: report.problem });
        send({ kind: "close" });
      } else listener.onReport(report);
    });
    worker.on("error", (error: unknown) => {
      ended = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    });
    worker.on("exit", (code) => {
      const found = `lost the thread that writes it: ${ended ?? `exit code ${code}`}`;
      const problem = ledgerProblem("ledger-writer-ended", settings.file, found);
      resolve({ ok: false, problem });
      listener.onEnd(problem);
    });
  });
}
