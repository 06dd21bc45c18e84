import { lexPage } from "../../../exporter/kernel/exposition/lexer.ts";
import type { DropReason } from "../../../exporter/model/telemetry.ts";
import { signals } from "../../../exporter/sources/dcgm/dialects.ts";
import type { RowLabels } from "../../../exporter/sources/dcgm/labelBlock.ts";
import { exporterPages } from "../../../exporter/sources/dcgm/pageRows.ts";
import { valueFault } from "../../../exporter/sources/dcgm/sanitise.ts";
import type { KnownMetric } from "../../../exporter/sources/dcgm/vocabulary.ts";

/** Counts of drops, by reason, that are still being added to. */
export type GrowingDrops = Partial<Record<DropReason, number>>;

/** Everything that a page contains under one exact set of labels. */
export interface PageRow {
  readonly labels: RowLabels;
  /** Largest valid value of each signal, in the units of `DeviceReading`; `NaN` where there is none. */
  readonly values: number[];
  /** Valid samples of a signal after its first one: repeated rows. */
  repeats: number;
  /** Samples of this row that were not used, by reason. */
  readonly drops: GrowingDrops;
}

/** The rows of a page that belong to devices, and the drops that belong to none. */
export interface PageRows {
  readonly rows: readonly PageRow[];
  /** Drops of lines and samples whose device is not known. */
  readonly drops: GrowingDrops;
  /** Whether there was any line of a known exporter, with or without a device. */
  readonly hasKnownRows: boolean;
}

const noValues: readonly number[] = signals.map(() => Number.NaN);

/** A row that contains no values yet. */
export function newRow(labels: RowLabels): PageRow {
  return { labels, values: noValues.slice(), repeats: 0, drops: {} };
}

/** Counts `by` more drops. */
export function countDrop(drops: GrowingDrops, reason: DropReason, by = 1): void {
  drops[reason] = (drops[reason] ?? 0) + by;
}

/**
 * Reads a page into rows. Rows of switches, links and CPUs name no GPU and are left out without counting as faults. At most
 * `maxRows` rows are kept, and samples of further rows are counted.
 */
export function readRows(
  bytes: Buffer,
  options: { readonly acceptsCutLine: boolean; readonly maxRows: number },
): PageRows {
  const rows: PageRow[] = [];
  const drops: GrowingDrops = {};
  let hasKnownRows = false;
  lexPage<PageRow | "other" | "unknown" | "too_many", KnownMetric, RowLabels>(bytes, exporterPages, options, {
    row: (labels) => {
      hasKnownRows = true;
      if (labels.uuid === null) return labels.otherEntity === null ? "unknown" : "other";
      if (rows.length >= options.maxRows) return "too_many";
      const row = newRow(labels);
      rows.push(row);
      return row;
    },
    sample: (metric, row, raw) => {
      if (row === "unknown") countDrop(drops, "no_device");
      else if (row === "too_many") countDrop(drops, "too_many_devices");
      else if (row !== "other") addSample(row, metric, raw);
    },
    malformed: () => countDrop(drops, "malformed_line"),
  });
  return { rows, drops, hasKnownRows };
}

/** Adds a sample in the exporter's own unit to its row, or counts why the value cannot be real. */
export function addSample(row: PageRow, metric: KnownMetric, raw: number): void {
  const fault = valueFault(metric.quantity, raw, metric.sentinels);
  if (fault !== null) {
    countDrop(row.drops, fault);
    return;
  }
  // Adding 0 turns -0 into 0, so that the sign of a zero does not depend on the order of the rows.
  const value = raw / metric.divisor + 0;
  const known = row.values[metric.column] ?? Number.NaN;
  if (!Number.isNaN(known)) row.repeats += 1;
  if (!(value <= known)) row.values[metric.column] = value;
}
