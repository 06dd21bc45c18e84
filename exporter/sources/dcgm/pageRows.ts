import type { DropReason } from "../../model/telemetry.ts";
import { signals } from "./dialects.ts";
import type { RowLabels } from "./labelBlock.ts";
import { lexPage } from "./lexer.ts";
import { valueFault } from "./sanitise.ts";
import type { KnownMetric } from "./vocabulary.ts";

/** Counts that are still growing. */
export type GrowingDrops = Partial<Record<DropReason, number>>;

/** All that a page says under one exact set of labels. */
export interface PageRow {
  readonly labels: RowLabels;
  /** Largest valid value per signal, in the units of `DeviceReading`; `NaN` where there is none. */
  readonly values: number[];
  /** Valid samples beyond the first of a signal: repeated rows. */
  repeats: number;
  /** Samples of this row that were not used. */
  readonly drops: GrowingDrops;
}

/** The rows of a page that belong to a device, and what belongs to none. */
export interface PageRows {
  readonly rows: readonly PageRow[];
  /** Drops of lines and samples that no device is known for. */
  readonly drops: GrowingDrops;
  /** Whether there was any line of a known exporter, with a device or without. */
  readonly hasKnownRows: boolean;
}

const noValues: readonly number[] = signals.map(() => Number.NaN);

/** Counts `by` more drops. */
export function countDrop(drops: GrowingDrops, reason: DropReason, by = 1): void {
  drops[reason] = (drops[reason] ?? 0) + by;
}

/**
 * Reads a page into rows. Rows of switches, links and CPUs name no GPU and are left out without a fault; at most
 * `maxRows` rows are kept, samples of further ones are counted.
 */
export function readRows(
  bytes: Buffer,
  options: { readonly acceptsCutLine: boolean; readonly maxRows: number },
): PageRows {
  const rows: PageRow[] = [];
  const drops: GrowingDrops = {};
  let hasKnownRows = false;
  lexPage<PageRow | "other" | "unknown" | "too_many">(bytes, options, {
    row: (labels) => {
      hasKnownRows = true;
      if (labels.uuid === null) return labels.otherEntity === null ? "unknown" : "other";
      if (rows.length >= options.maxRows) return "too_many";
      const row: PageRow = {
        labels,
        values: noValues.slice(),
        repeats: 0,
        drops: {},
      };
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

function addSample(row: PageRow, metric: KnownMetric, raw: number): void {
  const fault = valueFault(metric.quantity, raw, metric.sentinels);
  if (fault !== null) {
    countDrop(row.drops, fault);
    return;
  }
  const value = raw / metric.divisor;
  const known = row.values[metric.column] ?? Number.NaN;
  if (!Number.isNaN(known)) row.repeats += 1;
  if (!(value <= known)) row.values[metric.column] = value;
}
