import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashOfName, hashOfRange, isSameRange, spells } from "../../../exporter/kernel/exposition/bytes.ts";

function isSame(one: readonly number[], other: readonly number[]): boolean {
  const bytes = Uint8Array.from([...one, ...other]);
  return isSameRange(new DataView(bytes.buffer), 0, one.length, one.length);
}

describe("comparing two ranges", () => {
  test.each([
    ["a zero and a zero with a sign", [0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0x80], false],
    ["the bytes of a NaN, which equals no number", Array(8).fill(0xff), Array(8).fill(0xff), true],
    ["nothing", [], [], true],
  ])("%s", (_case, one, other, same) => {
    expect(isSame(one, other)).toBe(same);
  });

  test("is equality of bytes", () => {
    const bytes = fc.array(fc.constantFrom(0, 1, 0x7f, 0x80, 0xf0, 0xff), { maxLength: 20 });
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.tuple(fc.nat(), fc.constantFrom(0, 0x80, 0xff)), { maxLength: 2 }),
        (one, changes) => {
          const other = [...one];
          for (const [at, value] of changes) if (other.length > 0) other[at % other.length] = value;
          expect(isSame(one, other)).toBe(one.every((value, index) => value === other[index]));
        },
      ),
      { seed: 21, numRuns: 1000 },
    );
  });
});

test("a name's hash is that of its bytes, and only the name itself spells it", () => {
  const bytes = Buffer.from("xUUIDx");
  expect(hashOfRange(bytes, 1, 5)).toBe(hashOfName("UUID"));
  expect([spells(bytes, 1, 5, "UUID"), spells(bytes, 1, 5, "UUIE"), spells(bytes, 1, 6, "UUID")]).toEqual([
    true,
    false,
    false,
  ]);
});
