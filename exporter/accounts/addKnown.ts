/** The sum of what is known; `null` if neither is. */
export const addKnown = (one: number | null, other: number | null): number | null =>
  one === null ? other : one + (other ?? 0);
