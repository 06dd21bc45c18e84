import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type ExportGranularity,
  type ExportQuery,
  type ExportRow,
  exportStep,
  refuseExport,
} from "../../exporter/accounts/ledger/exportQuery.ts";
import { exportRows } from "../../exporter/accounts/ledger/exportRows.ts";
import { coverageOf } from "../../exporter/accounts/ledger/intervalLog.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { parseWindow } from "../../exporter/accounts/ledger/parseAccountsQuery.ts";
import { sqliteProblem } from "../../exporter/accounts/ledger/sqliteError.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { ChargeBasis } from "../../exporter/model/charge.ts";
import {
  type FocusContext,
  focusHeading,
  focusLine,
  focusRecord,
  noFocusReason,
} from "../../exporter/publish/focus/focusRecord.ts";
import { exportHeading, exportLine, exportRecord } from "../../exporter/publish/ledger/exportRecord.ts";
import { coverageLines } from "../../exporter/publish/ledger/gpuTimeAnswer.ts";
import type { ExitCode, Io } from "../io.ts";
import { readConfig } from "../readConfig.ts";
import { refuse, showProblem } from "../showProblem.ts";
import { type Output, openOutput } from "./exportOutput.ts";

/** Options of `fairlead ledger export`. */
export interface LedgerExportOptions {
  /** Path of the ledger; `null`: the one that the configuration file names. One of the two files is needed. */
  readonly file: string | null;
  readonly configFile: string | null;
  readonly format: ExportFormat;
  readonly from: string;
  /** End of the window; `null`: the end of this day or hour. */
  readonly to: string | null;
  readonly granularity: ExportGranularity;
  readonly charge: ChargeBasis;
  /** Path of the output file; `null`: standard output. */
  readonly output: string | null;
  readonly provider: string;
}

/** `fairlead ledger export`: writes the rows of a window for other tools, also while Fairlead writes the ledger. */
export async function ledgerExport(options: LedgerExportOptions, now: number, io: Io): Promise<ExitCode> {
  const source = await sourceOf(options, io);
  if (source === null) return 1;
  const parsed = parseWindow(options, exportStep(options.granularity), now);
  if (!parsed.ok) return refuse(parsed.error, parsed.nextStep, io);
  const { granularity, charge } = options;
  const query = { ...parsed.window, granularity, charge, notCharged: source.notCharged };
  const opened = openToQuery(source.file);
  if (!opened.ok) return showProblem(opened.problem, io);
  const { db } = opened;
  try {
    // The transaction shows one moment of the ledger, however long the export takes.
    db.exec("BEGIN");
    const refusal = refuseExport(db, query);
    if (refusal !== null) return refuse(refusal.error, refusal.nextStep, io);
    return await writeOut(db, query, { ...options, cluster: source.cluster }, io);
  } catch (error) {
    return showProblem(sqliteProblem(error, source.file, "cannot be read"), io);
  } finally {
    db.close();
  }
}

interface Source {
  readonly file: string;
  readonly cluster: string;
  readonly notCharged: readonly string[];
}

/**
 * Where the ledger is, and what the configuration sets for it, or the defaults without a configuration. `null` after it has
 * been said what is missing.
 */
async function sourceOf({ file, configFile }: LedgerExportOptions, io: Io): Promise<Source | null> {
  if (configFile === null) {
    if (file !== null) return { file, cluster: "default", notCharged: ["unavailable"] };
    refuse(
      "no ledger is named",
      "Name it (fairlead ledger export LEDGER), or add --config.file FILE with ledger.path in it.",
      io,
    );
    return null;
  }
  const config = await readConfig(configFile, io);
  if (config === null) return null;
  const { cluster, cost, ledger } = config;
  const path = file ?? ledger?.path;
  if (path !== undefined) return { file: path, cluster, notCharged: cost.notCharged };
  refuse(`${configFile} names no ledger`, "Set ledger.path in it, or name one: fairlead ledger export LEDGER.", io);
  return null;
}

/** Text is written as soon as it has this many characters. */
const chunkCharacters = 1 << 16;
/** An export that takes longer reports its progress: first after this time, and then at the interval below. */
const firstProgressMilliseconds = 1000;
const progressMilliseconds = 10_000;

async function writeOut(
  db: DatabaseSync,
  query: ExportQuery,
  options: LedgerExportOptions & { readonly cluster: string },
  io: Io,
): Promise<ExitCode> {
  const opened = openOutput(options.output, io);
  if (!opened.ok) return showProblem(opened.problem, io);
  const { output } = opened;
  const totals = createExportTotals(options.format);
  const text = exportText(options.format, options);
  const state = { interrupted: false };
  void io.interrupted.then(() => {
    state.interrupted = true;
  });
  let sayAt = performance.now() + firstProgressMilliseconds;
  let pending = text.heading;
  for (const row of exportRows(db, query)) {
    const line = text.line(row);
    totals.add(row, line !== null);
    if (line === null) continue;
    pending += line;
    if (pending.length < chunkCharacters) continue;
    const problem = output.write(pending);
    if (problem !== null) return failed(output, () => showProblem(problem, io));
    pending = "";
    // This lets signals in.
    await nextTurn();
    if (state.interrupted) return failed(output, () => refuse("interrupted", "Run it again.", io));
    if (performance.now() > sayAt) {
      sayAt = performance.now() + progressMilliseconds;
      io.err(progress(row, totals, query));
    }
  }
  const problem = output.write(pending + text.ending()) ?? output.finish();
  if (problem !== null) return failed(output, () => showProblem(problem, io));
  const coverage = coverageOf(db, query.from, query.to);
  for (const line of [...totals.lines(), ...coverageLines(coverage)]) io.err(`fairlead: ${line}\n`);
  return 0;
}

function failed(output: Output, say: () => ExitCode): ExitCode {
  output.discard();
  return say();
}

function progress(row: ExportRow, totals: ExportTotals, { from, to }: ExportQuery): string {
  const done = Math.floor(((row.from - from) / (to - from)) * 100);
  return `fairlead: ${totals.rows()} rows, at ${isoTime(row.from)} (${done} %)\n`;
}

const secondsPerHour = 3600;

/** The sums over an export. */
interface ExportTotals {
  add(row: ExportRow, isWritten: boolean): void;
  /** The number of rows that were written. */
  rows(): number;
  /** Lines with the sums, and with what was left out and why. */
  lines(): readonly string[];
}

/** Creates empty sums. */
function createExportTotals(format: ExportFormat): ExportTotals {
  const costs = new Map<string, number>();
  const leftOut = { unpriced: 0, currency: 0 };
  const strange = new Set<string>();
  let rows = 0;
  let gpuSeconds = 0;
  let unpriced = 0;
  return {
    add(row, isWritten) {
      gpuSeconds += row.gpuSeconds;
      if (row.cost === null) unpriced += row.gpuSeconds;
      if (isWritten) {
        rows += 1;
        if (row.currency !== null) costs.set(row.currency, (costs.get(row.currency) ?? 0) + (row.cost ?? 0));
        return;
      }
      const reason = noFocusReason(row);
      if (reason === "currency" && row.currency !== null) strange.add(row.currency);
      if (reason !== null) leftOut[reason] += row.gpuSeconds;
    },
    rows: () => rows,
    lines() {
      const money = [...costs].map(([currency, cost]) => `${currency} ${cost.toFixed(2)}`).join(" + ");
      const lines = [`${rows} rows${money === "" ? "" : `, ${money}`}`];
      const part = (seconds: number): string =>
        `${hours(seconds)} GPU-hours (${((seconds / gpuSeconds) * 100).toFixed(2)} %)`;
      if (leftOut.unpriced > 0) {
        lines.push(
          `not among them: ${part(leftOut.unpriced)} without a price, because FOCUS rows must have a cost. Next step: give these nodes a price (prices.file), or use --format csv, which has them without a cost.`,
        );
      } else if (unpriced > 0 && format !== "focus") lines.push(`of them, ${part(unpriced)} have no price and no cost`);
      if (leftOut.currency > 0) {
        lines.push(
          `not among them: ${part(leftOut.currency)} in ${[...strange].sort().join(", ")}, because FOCUS wants an ISO 4217 currency. Next step: price these nodes in one, or use --format csv.`,
        );
      }
      return lines;
    },
  };
}

/** Formats of an export: FOCUS 1.2 as CSV, or Fairlead's own columns. */
const exportFormats = ["focus", "csv", "json"] as const;

type ExportFormat = (typeof exportFormats)[number];

/** The text of an export, piece by piece. */
interface ExportText {
  readonly heading: string;
  /** The text of a row; `null` for a row that the format cannot express. */
  line(row: ExportRow): string | null;
  ending(): string;
}

/** Makes the text of one export. JSON is one array with a row in each line. */
function exportText(format: ExportFormat, context: FocusContext): ExportText {
  const { cluster } = context;
  if (format === "focus") {
    const line = (row: ExportRow): string | null => {
      const record = focusRecord(row, context);
      return record === null ? null : focusLine(record);
    };
    return { heading: focusHeading, line, ending: () => "" };
  }
  if (format === "csv") {
    return { heading: exportHeading, line: (row) => exportLine(exportRecord(row, cluster)), ending: () => "" };
  }
  let lines = 0;
  const line = (row: ExportRow): string => {
    lines += 1;
    return `${lines === 1 ? "" : ",\n"}${JSON.stringify(exportRecord(row, cluster))}`;
  };
  return { heading: "[\n", line, ending: () => (lines === 0 ? "]\n" : "\n]\n") };
}

const hours = (seconds: number): string => (seconds / secondsPerHour).toFixed(1);
