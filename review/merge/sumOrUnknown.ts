/** A sum that is only known if all its parts are: with one unknown part, it is unknown. */
export function sumOrUnknown(amounts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const amount of amounts) {
    if (amount === null) return null;
    sum += amount;
  }
  return sum;
}
