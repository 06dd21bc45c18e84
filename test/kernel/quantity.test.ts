import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuantity } from "../../exporter/kernel/quantity.ts";

describe("a Kubernetes quantity", () => {
  it.each([
    ["0", 0],
    ["8", 8],
    ["+8", 8],
    ["-8", -8],
    ["1k", 1000],
    ["1M", 1e6],
    ["1G", 1e9],
    ["1T", 1e12],
    ["1P", 1e15],
    ["1E", 1e18],
    ["1Ki", 1024],
    ["1Mi", 2 ** 20],
    ["80Gi", 80 * 2 ** 30],
    ["1.5Gi", 1.5 * 2 ** 30],
    ["1Ti", 2 ** 40],
    ["1Pi", 2 ** 50],
    ["1Ei", 2 ** 60],
    ["1e3", 1000],
    ["1E3", 1000],
    ["12e-1", 2],
    [".5k", 500],
    ["5.", 5],
    ["100m", 1],
    ["128974848000m", 128974848],
    ["1n", 1],
    ["2000000u", 2],
    [2, 2],
    [0.5, 1],
  ])("%s is %d whole units, rounded up as Value() does", (text, expected) => {
    expect(parseQuantity(text)).toBe(expected);
  });

  it.each([
    ["1", 1000],
    ["1.1", 1100],
    ["0.1", 100],
    ["250m", 250],
    ["1500u", 2],
    ["2.0005", 2001],
    ["-1500u", -2],
  ])("%s is %d thousandths, rounded up as MilliValue() does", (text, expected) => {
    expect(parseQuantity(text, 3)).toBe(expected);
  });

  it.each(["", ".", "-", "Gi", "1 Gi", "1gi", "1KI", "0x10", "1e", "1e1.5", "1Kii", "NaN", "1e999", "1".repeat(65)])(
    "%s is none",
    (text) => {
      expect(parseQuantity(text)).toBeNull();
    },
  );

  it.each([[null], [undefined], [true], [{}], [[]], [Number.NaN], [Number.POSITIVE_INFINITY]])(
    "%s is none",
    (value) => {
      expect(parseQuantity(value)).toBeNull();
    },
  );

  const suffixes: readonly (readonly [string, bigint, bigint])[] = [
    ["n", 1n, 10n ** 9n],
    ["u", 1n, 10n ** 6n],
    ["m", 1n, 1000n],
    ["", 1n, 1n],
    ["k", 1000n, 1n],
    ["Ki", 1024n, 1n],
    ["Mi", 1024n ** 2n, 1n],
    ["G", 10n ** 9n, 1n],
    ["Gi", 1024n ** 3n, 1n],
    ["e2", 100n, 1n],
    ["E-2", 1n, 100n],
  ];

  it("is the exact fraction, rounded away from zero, for any digits and suffix", () => {
    const digits = fc.nat({ max: 10 ** 9 });
    const decimals = fc.constantFrom(0, 3);
    fc.assert(
      fc.property(digits, fc.nat({ max: 99 }), fc.constantFrom(...suffixes), decimals, (whole, part, suffix, scale) => {
        const [name, numerator, denominator] = suffix;
        const text = `${whole}.${String(part).padStart(2, "0")}${name}`;
        const exact = (BigInt(whole) * 100n + BigInt(part)) * numerator * 10n ** BigInt(scale);
        const divisor = 100n * denominator;
        expect(parseQuantity(text, scale)).toBe(Number((exact + divisor - 1n) / divisor));
      }),
      { seed: 1 },
    );
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const amount = parseQuantity(text);
        expect(amount === null || Number.isFinite(amount)).toBe(true);
      }),
      { seed: 1 },
    );
  });
});
