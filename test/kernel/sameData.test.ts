import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sameData } from "../../exporter/kernel/sameData.ts";

const data = fc.jsonValue({ maxDepth: 3 });

describe("sameData", () => {
  it("agrees with Node's own comparison", () => {
    fc.assert(
      fc.property(data, data, (one, other) => {
        expect(sameData(one, other)).toBe(isDeepStrictEqual(one, other));
        expect(sameData(one, structuredClone(one))).toBe(true);
      }),
      { seed: 1 },
    );
  });

  it.each([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [[1, 2], [1]],
    [[], {}],
    [{ a: null }, { a: {} }],
    [0, null],
    ["", null],
  ])("tells %j from %j", (one, other) => {
    expect(sameData(one, other)).toBe(false);
    expect(sameData(other, one)).toBe(false);
  });

  it("does not look at prototypes", () => {
    expect(sameData(Object.assign(Object.create(null), { a: "b" }), { a: "b" })).toBe(true);
  });
});
