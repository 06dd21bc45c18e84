/**
 * The characters that make a spreadsheet take a cell for a formula. They count at the start of the cell, and after the
 * characters at which some spreadsheets split cells, whatever the file contains: a semicolon (where the comma is the decimal
 * separator), a tab, a line break. Quotes and blanks before them do not help. The full-width forms count as well: East Asian
 * versions read them as the plain ones.
 */
const formula = /(^|[;\t\r\n])(?=[ \u00a0\u3000"]{0,64}[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Text as a cell of RFC 4180; `null` is an empty cell. Text from a cluster is untrusted: what a spreadsheet would take for a
 * formula gets a quote before it (https://owasp.org/www-community/attacks/CSV_Injection).
 */
export function csvTextCell(value: string | null): string {
  if (value === null) return "";
  const guarded = value.replaceAll(formula, "$1'");
  const safe = /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A number as a cell of RFC 4180; an unknown value is empty. */
export function csvNumberCell(amount: number | null): string {
  return amount === null ? "" : String(amount);
}

/** A row of cells as a line of RFC 4180. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.join(",")}\r\n`;
}
