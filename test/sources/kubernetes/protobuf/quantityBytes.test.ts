import fc from "fast-check";
import { expect, it } from "vitest";
import { usualAmount } from "../../../../exporter/sources/kubernetes/protobuf/quantityBytes.ts";
import { parseQuantity } from "../../../../exporter/sources/kubernetes/quantity.ts";

const amountOf = (text: string, decimals: 0 | 3): number | null => {
  const bytes = Buffer.from(`1${text}2`);
  return usualAmount(bytes, 1, bytes.length - 1, decimals);
};

it("of usual quantities is what their text says", () => {
  expect(["0", "8", "64Gi", "500Mi", "3Ki"].map((text) => amountOf(text, 0))).toEqual([
    0,
    8,
    64 * 2 ** 30,
    500 * 2 ** 20,
    3 * 2 ** 10,
  ]);
  expect(["250m", "2", "0"].map((text) => amountOf(text, 3))).toEqual([250, 2000, 0]);
});

it("is left to the whole grammar where it is anything else", () => {
  for (const text of ["", "-1", "+1", "1.5", "1e3", "1k", "1Ti", "1234567890", "Gi", "1 ", "1gi", "1mi"]) {
    expect(amountOf(text, 0)).toBeNull();
  }
  expect(amountOf("100m", 0)).toBeNull();
});

it("is never another than that of the whole grammar", () => {
  const digits = fc.oneof(fc.bigInt(0n, 10n ** 20n).map(String), fc.nat({ max: 99_999 }).map(String));
  const suffix = fc.constantFrom("", "m", "Ki", "Mi", "Gi", "Ti", "k", "M", "u", "i", "e3", ".5", "mi", "K");
  const quantity = fc.oneof(
    fc.tuple(digits, suffix).map(([whole, unit]) => whole + unit),
    fc.string({ maxLength: 6 }),
  );
  fc.assert(
    fc.property(quantity, fc.constantFrom(0 as const, 3 as const), (text, decimals) => {
      const amount = amountOf(text, decimals);
      if (amount !== null) expect(amount).toBe(parseQuantity(text, decimals));
    }),
    { seed: 1, numRuns: 2000 },
  );
});
