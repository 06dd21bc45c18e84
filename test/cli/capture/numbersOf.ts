/**
 * What is left of data without its texts: numbers and flags, in an order that does not depend on names. Two answers that differ
 * only in what things are called have the same.
 */
export function numbersOf(value: unknown): unknown {
  if (typeof value === "string") return "";
  // Sums depend on their order, which depends on names.
  if (typeof value === "number") return Number(value.toPrecision(9));
  if (Array.isArray(value)) return value.map((item: unknown) => JSON.stringify(numbersOf(item))).sort();
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, of]: [string, unknown]) => [key, numbersOf(of)]));
}
