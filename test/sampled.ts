import fc from "fast-check";

/** Checks a value; what does not hold throws or returns false. */
type Check<Value> = (value: Value) => unknown;

/**
 * Values that are generated once and seen by every property of a file: what generates them, and what `prepare` makes of them,
 * took most of the time where each property had its own. Only when a property does not hold are they generated again, so that
 * fast-check finds the smallest one.
 */
export function sampled<Value, Seen>(
  arbitrary: fc.Arbitrary<Value>,
  runs: { readonly numRuns: number; readonly seed: number },
  prepare: (value: Value) => Seen,
): (check: Check<Seen>) => void {
  let seen: readonly Seen[] | null = null;
  const holds = (check: Check<Seen>, one: Seen): boolean => check(one) !== false;
  return (check) => {
    seen ??= fc.sample(arbitrary, runs).map(prepare);
    if (seen.length !== runs.numRuns) throw new Error("not all values were generated");
    try {
      if (seen.every((one) => holds(check, one))) return;
    } catch {
      // fast-check says below what was thrown, for the smallest value.
    }
    fc.assert(
      fc.property(arbitrary, (value) => holds(check, prepare(value))),
      runs,
    );
    throw new Error(
      "it does not hold for values that were used before, but does for new ones: does a check change them?",
    );
  };
}
