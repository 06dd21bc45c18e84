import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOf, mix, together } from "../../exporter/kernel/traitHash.ts";

describe("hashes of traits", () => {
  const hash = fc.string().map(hashOf);

  it("add up to the same in any order, and mix to something else in another", () => {
    fc.assert(
      fc.property(hash, hash, hash, (a, b, c) => {
        expect(together(together(a, b), c)).toBe(together(a, together(c, b)));
        for (const one of [mix(a, b), together(a, b)]) expect(Number.isSafeInteger(one) && one >= 0).toBe(true);
        if (a !== b) expect(mix(a, b)).not.toBe(mix(b, a));
      }),
    );
  });

  it("differ for what is different", () => {
    const texts = ["", "0", "1", "a", "b", "ab", "ba", "[1,2]", "[2,1]", "[12]"];
    expect(new Set(texts.map(hashOf)).size).toBe(texts.length);
  });
});
