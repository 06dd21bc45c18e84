import fc from "fast-check";
import { expect, test } from "vitest";
import { plainDecimal } from "../../exporter/kernel/plainDecimal.ts";

test.each([
  [0, "0"],
  [12.29, "12.29"],
  [-0.5, "-0.5"],
  [1e-7, "0.0000001"],
  [1.25e-9, "0.00000000125"],
  [-3e21, "-3000000000000000000000"],
  [1.5e22, "15000000000000000000000"],
])("%s is written %s", (value, text) => {
  expect(plainDecimal(value)).toBe(text);
});

test("reading it gives the same number, and it never has an exponent", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = plainDecimal(value);
      expect(text).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Number(text)).toBe(value === 0 ? 0 : value);
    }),
    { seed: 7 },
  );
});
