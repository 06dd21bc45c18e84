import { lexPage, type PageVocabulary } from "../../kernel/exposition/lexer.ts";
import type { DropReason } from "../../model/telemetry.ts";
import { addValue, type Columns, createColumns, growColumns } from "./columns.ts";
import { noLabels, type RowLabels, readLabelBlock } from "./labelBlock.ts";
import { type KnownMetric, useOfMetric } from "./vocabulary.ts";

/** What pages of GPU exporters are read for. */
export const exporterPages: PageVocabulary<KnownMetric, RowLabels> = {
  useOf: useOfMetric,
  readBlock: readLabelBlock,
  noLabels,
};

/** One distinct set of labels of a page that belongs to a device. */
export interface PageRow {
  /** Index of its row in the columns. */
  readonly index: number;
  readonly labels: RowLabels;
  /** Numbers of samples of this row that were not used, including valid ones beyond the first of a signal (`duplicate`). */
  readonly drops: GrowingDrops;
}

/**
 * Values that a label block has instead of a row in the columns: `blockOfOther` for switches, links and CPUs, and
 * `blockOfUnknown` where no device is named.
 */
export const blockOfOther = -1;
export const blockOfUnknown = -2;

/** A distinct label block of a page, in the bytes `[from, to)`. */
export interface PageBlock {
  readonly from: number;
  readonly to: number;
  /** Index of the row in the columns, or `blockOfOther` or `blockOfUnknown`. */
  readonly row: number;
}

/** The rows of a page that belong to a device, and the drops that belong to none. */
export interface PageRows {
  readonly rows: readonly PageRow[];
  readonly columns: Columns;
  /** The label blocks, in the order of their first appearance. */
  readonly blocks: readonly PageBlock[];
  /** Drops of lines and samples whose device is not known. */
  readonly drops: GrowingDrops;
  /** Whether there was any line of a known exporter, with a device or without. */
  readonly hasKnownRows: boolean;
  /** Whether there were more rows than are kept. */
  readonly isCut: boolean;
}

/**
 * Reads a page into rows. Rows of switches, links and CPUs name no GPU and are left out without a fault. At most `maxRows` rows
 * are kept; the samples of further ones are counted.
 */
export function readRows(
  bytes: Buffer,
  options: { readonly acceptsCutLine: boolean; readonly maxRows: number },
): PageRows {
  const rows: PageRow[] = [];
  const columns = createColumns(16);
  const blocks: PageBlock[] = [];
  const drops: GrowingDrops = {};
  let hasKnownRows = false;
  let isCut = false;
  lexPage<PageRow | "other" | "unknown" | "too_many", KnownMetric, RowLabels>(bytes, exporterPages, options, {
    row: (labels, from, to) => {
      hasKnownRows = true;
      if (labels.uuid === null) {
        const isOther = labels.otherEntity !== null;
        if (to > from) blocks.push({ from, to, row: isOther ? blockOfOther : blockOfUnknown });
        return isOther ? "other" : "unknown";
      }
      if (rows.length >= options.maxRows) {
        isCut = true;
        return "too_many";
      }
      const row: PageRow = { index: rows.length, labels, drops: {} };
      growColumns(columns, row.index);
      blocks.push({ from, to, row: row.index });
      rows.push(row);
      return row;
    },
    sample: (metric, row, raw) => {
      if (row === "unknown") countDrop(drops, "no_device");
      else if (row === "too_many") countDrop(drops, "too_many_devices");
      else if (row !== "other") {
        const reason = addValue(columns, row.index, metric, raw);
        if (reason !== null) countDrop(row.drops, reason);
      }
    },
    malformed: () => countDrop(drops, "malformed_line"),
  });
  return { rows, columns, blocks, drops, hasKnownRows, isCut };
}

/** Counts that are still growing. */
export type GrowingDrops = Partial<Record<DropReason, number>>;

/** Counts `by` more drops. */
export function countDrop(drops: GrowingDrops, reason: DropReason, by = 1): void {
  drops[reason] = (drops[reason] ?? 0) + by;
}
