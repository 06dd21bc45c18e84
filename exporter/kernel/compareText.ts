/**
 * Compares texts by code unit, so that the order is the same on every machine. The result is below 0, 0 or above 0, as `sort`
 * needs it.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
