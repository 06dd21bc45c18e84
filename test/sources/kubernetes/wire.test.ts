import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineReader } from "../../../exporter/sources/kubernetes/wire.ts";

describe("lines of a watch", () => {
  it("are the same however the bytes are cut", () => {
    const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", ""));
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 10 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 10 }), cuts, (lines, places) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
        const reader = createLineReader(1000);
        const found: string[] = [];
        const ends = [...places.map((place) => Math.min(place, bytes.length)), bytes.length].sort((a, b) => a - b);
        let start = 0;
        for (const end of ends) {
          for (const frame of reader.push(bytes.subarray(start, end)) ?? []) found.push(frame.toString());
          start = end;
        }
        expect(found).toEqual(lines.filter((text) => text !== ""));
      }),
      { seed: 1 },
    );
  });

  it("longer than allowed are refused, whole or not", () => {
    expect(createLineReader(10).push(Buffer.from(`${"x".repeat(11)}\n`))).toBeNull();
    const reader = createLineReader(10);
    expect(reader.push(Buffer.from("xxxxxx"))).toEqual([]);
    expect(reader.push(Buffer.from("xxxxxx"))).toBeNull();
  });
});
