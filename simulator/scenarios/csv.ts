/** One row of a table, by column name. Columns that the row lacks read as empty text. */
export type CsvRow = (column: string) => string;

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
    if (line === "") continue;
    const cells = line.trimEnd().split(",");
    rows.push((column) => cells[columns.get(column) ?? -1] ?? "");
  }
  return rows;
}
