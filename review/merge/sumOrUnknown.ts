/** A sum that is known only if all of its parts are; `null` if one part is unknown. */
export function sumOrUnknown(amounts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === null) return null;
    sum += amount;
  }
  return sum;
}
