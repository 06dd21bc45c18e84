/**
 * Text as a cell of RFC 4180; nothing is empty. Text from a cluster is untrusted: what a spreadsheet would take for a formula
 * gets a quote before it.
 */
export function csvTextCell(value: string | null): string {
  if (value === null) return "";
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number as a cell of RFC 4180; what is unknown is empty. */
export function csvNumberCell(amount: number | null): string {
  return amount === null ? "" : String(amount);
}

/** A row of cells as a line of RFC 4180. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
