/** The sum of what is known of two amounts; `null` if neither is known. */
export const addKnown = (one: number | null, other: number | null): number | null =>
  one === null ? other : one + (other ?? 0);
