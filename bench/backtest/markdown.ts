/** A table of Markdown: the first `words` columns are words, the others are numbers. Pure. */
export function markdownTable(
  head: readonly string[],
  words: number,
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i < words ? "---" : "---:"))), ...rows.map(line)].join("\n");
}

/** A number with thousands separated by commas and as many digits after the point. */
export function figure(value: number, digits = 0): string {
  const [whole = "", part] = Math.abs(value).toFixed(digits).split(".");
  const isZero = Number(Math.abs(value).toFixed(digits)) === 0;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${value < 0 && !isZero ? "-" : ""}${grouped}${part === undefined ? "" : `.${part}`}`;
}

/** A mean and half of its interval: `12.3 ± 0.4`. */
export const ranged = ({ mean, half }: { readonly mean: number; readonly half: number }, digits: number): string =>
  `${figure(mean, digits)} ± ${figure(half, digits)}`;

/** A part of a whole in percent. */
export const percent = (part: number, digits = 1): string => `${figure(100 * part, digits)} %`;
