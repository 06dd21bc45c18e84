import type { ExportRow } from "../../exporter/accounts/ledger/exportQuery.ts";
import { noFocusReason } from "../../exporter/publish/focus/focusRecord.ts";
import type { ExportFormat } from "./exportText.ts";

const secondsPerHour = 3600;

/** What an export came to. */
export interface ExportTotals {
  add(row: ExportRow, isWritten: boolean): void;
  /** Rows that were written. */
  rows(): number;
  /** The sums, and what is not among the rows and why. */
  lines(): readonly string[];
}

/** Creates empty sums. */
export function createExportTotals(format: ExportFormat): ExportTotals {
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

const hours = (seconds: number): string => (seconds / secondsPerHour).toFixed(1);
