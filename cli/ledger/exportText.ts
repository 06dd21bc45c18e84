import type { ExportRow } from "../../exporter/accounts/ledger/exportQuery.ts";
import { type FocusContext, focusHeading, focusLine, focusRecord } from "../../exporter/publish/focus/focusRecord.ts";
import { exportHeading, exportLine, exportRecord } from "../../exporter/publish/ledger/exportRecord.ts";

/** Formats of an export: FOCUS 1.2 as CSV, or Fairlead's own columns. */
export const exportFormats = ["focus", "csv", "json"] as const;

export type ExportFormat = (typeof exportFormats)[number];

/** The text of an export, piece by piece. */
export interface ExportText {
  readonly heading: string;
  /** `null` for a row that the format cannot say. */
  line(row: ExportRow): string | null;
  ending(): string;
}

/** Makes the text of one export. JSON is one array with a row in each line. */
export function exportText(format: ExportFormat, context: FocusContext): ExportText {
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
