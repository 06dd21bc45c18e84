import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** One row of a table: the text in a column. Columns that the row lacks are empty text. */
export type CsvRow = (column: string) => string;

/** Reads the rows of a comma-separated file, plain or packed by gzip. Throws if the file cannot be read. */
export function readTable(file: string): readonly CsvRow[] {
  const bytes = readFileSync(file);
  return parseCsv((file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8"));
}

/** Reads comma-separated text without quoting, which is how the traces are written. */
export function parseCsv(text: string): readonly CsvRow[] {
  const [header = "", ...lines] = text.split("\n");
  const columns = new Map(
    header
      .trim()
      .split(",")
      .map((name, index) => [name, index]),
  );
  const rows: CsvRow[] = [];
  for (const line of lines) {
    if (line.trim() === "") continue;
    const cells = line.trimEnd().split(",");
    rows.push((column) => cells[columns.get(column) ?? -1] ?? "");
  }
  return rows;
}
