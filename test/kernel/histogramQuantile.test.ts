import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { histogramQuantile } from "../../exporter/kernel/histogramQuantile.ts";

const inf = Number.POSITIVE_INFINITY;
const of = (quantile: number, ...counts: readonly (readonly [number, number])[]) =>
  histogramQuantile(quantile, new Map(counts));

describe("the quantile of a histogram", () => {
  test("is evenly spread within its bucket, and the first bucket begins at 0", () => {
    expect(of(0.5, [0.1, 10], [0.2, 20], [inf, 20])).toEqual({ value: 0.1, isAtLeast: false });
    expect(of(0.75, [0.1, 10], [0.2, 20], [inf, 20])?.value).toBeCloseTo(0.15, 12);
    expect(of(0.25, [0.1, 10], [0.2, 20], [inf, 20])?.value).toBeCloseTo(0.05, 12);
  });

  test("above all bounds is the largest of them, at least", () => {
    expect(of(0.95, [1, 5], [2, 10], [inf, 20])).toEqual({ value: 2, isAtLeast: true });
  });

  test("is not known where nothing was observed, or without an infinite bound", () => {
    for (const counts of [
      [],
      [[inf, 4]],
      [
        [1, 4],
        [2, 5],
      ],
      [
        [1, 0],
        [inf, 0],
      ],
    ] as const)
      expect(of(0.5, ...counts)).toBeNull();
  });

  test("takes buckets in any order, and counts that fall as they cannot", () => {
    expect(of(0.5, [inf, 20], [0.2, 19], [0.1, 20])).toEqual(of(0.5, [0.1, 20], [0.2, 20], [inf, 20]));
  });
});

test("a larger part never has a smaller quantile", () => {
  const bounds = [0.1, 0.5, 1, 5, inf];
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 5, maxLength: 5 }), (added) => {
      let sum = 0;
      const counts = new Map<number, number>();
      for (const [i, bound] of bounds.entries()) {
        sum += added[i] ?? 0;
        counts.set(bound, sum);
      }
      const values = [0.1, 0.5, 0.9, 0.99].map((part) => histogramQuantile(part, counts)?.value ?? 0);
      expect(values).toEqual([...values].sort((a, b) => a - b));
    }),
  );
});
