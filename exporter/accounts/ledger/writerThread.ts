import type { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { readAdvice } from "./adviceWriter.ts";
import { readShapes } from "./endedShapes.ts";
import { createEntryWriter } from "./entryWriter.ts";
import { lastInterval } from "./intervalLog.ts";
import type { Remembered } from "./ledger.ts";
import { ledgerProblem } from "./ledgerProblem.ts";
import { fileIdentity, type OpenedFiles, setAsideLog } from "./openedFile.ts";
import { openForWriting, type WritableLedger } from "./openForWriting.ts";
import type { PackedEntry } from "./packedEntry.ts";
import { recentIdleTime } from "./recentIdleTime.ts";
import { createRetention } from "./retention.ts";
import { canTryAgain, sqliteProblem } from "./sqliteError.ts";
import { textIn } from "./sqliteRow.ts";
import type { WriterReport, WriterRequest, WriterSettings } from "./writerMessages.ts";

/** Answers each request by one report; only `close` is not answered. */
interface Writer {
  handle(request: WriterRequest): void;
}

/** Opens the ledger, reports the result, and returns the writer that answers requests. */
function runWriter(settings: WriterSettings, report: (report: WriterReport) => void): Writer {
  const opened = openForWriting(settings.file, settings.migrations, settings.vfs);
  if (!opened.ok) {
    report({ kind: "refused", problem: opened.problem });
    return { handle: () => {} };
  }
  try {
    return startWriting(opened.ledger, settings, report);
  } catch (error) {
    opened.ledger.db.close();
    opened.ledger.lock.release();
    report({ kind: "refused", problem: sqliteProblem(error, settings.file, "cannot be read") });
    return { handle: () => {} };
  }
}

function startWriting(
  { db, lock, name, files, notice }: WritableLedger,
  settings: WriterSettings,
  report: (report: WriterReport) => void,
): Writer {
  const { file } = settings;
  if (settings.maxPages !== null) db.exec(`PRAGMA max_page_count = ${settings.maxPages}`);
  const opened = fileIdentity(file);
  const entries = createEntryWriter(db);
  const retention = createRetention(db, settings.retention);
  let open = true;
  let tidying = false;

  const isReplaced = () => fileIdentity(file) !== opened;

  function write(number: number, entry: PackedEntry): WriterReport {
    if (isReplaced()) {
      const problem = ledgerProblem("ledger-replaced", file, "is no longer the file that was opened");
      return { kind: "failed", number, problem, tryAgain: true };
    }
    try {
      entries.write(number, entry);
      return { kind: "written", number };
    } catch (error) {
      const problem = sqliteProblem(error, file, "cannot be written");
      return { kind: "failed", number, problem, tryAgain: canTryAgain(problem) };
    }
  }

  /** Tidies one slice. Entries that came meanwhile are written before the next slice. */
  function tidy(): void {
    tidying = false;
    if (!open || isReplaced()) return;
    try {
      if (retention.slice()) tidySoon();
    } catch {
      // The next entry will report what is wrong with the file, and old rows can wait until then.
    }
  }

  function tidySoon(): void {
    if (tidying) return;
    tidying = true;
    setTimeout(tidy, pauseMilliseconds);
  }

  report({
    kind: "opened",
    lastInterval: lastInterval(db),
    remembered: readRemembered(db),
    endedShapes: readShapes(db),
    idleTime: recentIdleTime(db),
    advice: readAdvice(db),
    lastEntry: entries.lastEntry(),
    notice,
  });
  return {
    handle(request) {
      if (request.kind === "close") {
        open = false;
        closeQuietly(db);
        // SQLite leaves behind the log of a file that was moved away.
        setAsideQuietly(name, files);
        lock.release();
        return;
      }
      report(write(request.number, request.entry));
      tidySoon();
    },
  };
}

/** Pause between two slices of tidying, so that they never take more than a part of the thread's time. */
const pauseMilliseconds = 20;

function readRemembered(db: DatabaseSync): readonly Remembered[] {
  return db
    .prepare("SELECT kind, key, value FROM remembered")
    .all()
    .map((row) => ({ kind: textIn(row, "kind"), key: textIn(row, "key"), value: textIn(row, "value") }));
}

function setAsideQuietly(name: string, files: OpenedFiles | null): void {
  try {
    setAsideLog(name, files);
  } catch {
    // The next start recognizes the log by what was recorded, and tries again.
  }
}

function closeQuietly(db: DatabaseSync): void {
  try {
    db.close();
  } catch {
    // The log stays next to the file, and the next start applies it.
  }
}

// This thread owns the ledger's only writing connection.
const port = parentPort;
if (port === null) throw new Error("the ledger's writer runs in a thread of its own");
const settings: WriterSettings = workerData;
const writer = runWriter(settings, (report) => port.postMessage(report));
port.on("message", (request: WriterRequest) => {
  writer.handle(request);
  if (request.kind === "close") port.close();
});
