import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTextCache } from "../../exporter/kernel/textCache.ts";

describe("a cache of texts", () => {
  it("gives the text of the bytes, however full its places are", () => {
    const text = createTextCache(4);
    const strings = fc.array(fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.string({ minLength: 70 })));
    fc.assert(
      fc.property(strings, fc.nat({ max: 5 }), (all, offset) => {
        for (const expected of [...all, ...all]) {
          const bytes = Buffer.concat([Buffer.alloc(offset, 0x61), Buffer.from(expected), Buffer.from("after")]);
          const end = offset + Buffer.byteLength(expected);
          expect(text(bytes, offset, end)).toBe(bytes.toString("utf8", offset, end));
        }
      }),
      { seed: 1 },
    );
  });
});
