import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fieldOf,
  protobufCursor,
  readInt32,
  readInt64,
  readLimit,
  readTag,
  readVarint,
  skipField,
  wireTypeOf,
} from "../../exporter/kernel/protobuf.ts";

/** The varint of a number of 64 bits, two's complement where it is negative. */
function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest !== 0n);
  return bytes;
}

const at = (bytes: readonly number[]) => protobufCursor(Buffer.from(bytes));
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe("varints", () => {
  it("are read as JSON reads the same number", () => {
    fc.assert(
      fc.property(int64, (value) => {
        const bytes = varint(value);
        const cursor = at([...bytes, 1]);
        expect(readInt64(cursor, bytes.length)).toBe(Number(value));
        expect(cursor.position).toBe(bytes.length);
        expect(readVarint(at(bytes), bytes.length)).toBe(Number(BigInt.asUintN(64, value)));
        expect(readInt32(at(bytes), bytes.length)).toBe(Number(BigInt.asIntN(32, value)));
      }),
      { seed: 1 },
    );
  });

  it("may be longer than needed", () => {
    expect(readVarint(at([0x81, 0x80, 0x00]), 3)).toBe(1);
  });

  it.each([
    ["empty", []],
    ["cut", [0x80]],
    ["longer than ten bytes", Array(11).fill(0x80)],
  ])("that are %s fail", (_, bytes) => {
    const cursor = at(bytes);
    expect(readVarint(cursor, bytes.length)).toBe(0);
    expect(cursor.failed).toBe(true);
  });

  it("are not read beyond the limit", () => {
    const cursor = at([0x80, 0x01]);
    readVarint(cursor, 1);
    expect(cursor.failed).toBe(true);
  });
});

describe("tags", () => {
  it("have a field and a wire type", () => {
    const tag = readTag(at([0xc2, 0x01]), 2);
    expect([fieldOf(tag), wireTypeOf(tag)]).toEqual([24, 2]);
  });

  it.each([
    ["field 0", [0x02]],
    ["a field above the largest", varint(2n ** 32n + 2n)],
  ])("with %s fail", (_, bytes) => {
    const cursor = at(bytes);
    readTag(cursor, bytes.length);
    expect(cursor.failed).toBe(true);
  });
});

describe("texts", () => {
  it("reach up to their length", () => {
    const cursor = at([3, 0x61, 0xc3, 0xa4, 0x62]);
    expect(readLimit(cursor, 5)).toBe(4);
    expect(cursor.position).toBe(1);
    expect(readLimit(at([0]), 1)).toBe(1);
  });

  it.each([[[4, 0x61]], [varint(2n ** 63n)], [[0xff, 0xff, 0xff, 0xff, 0x0f, 0x61]]])(
    "longer than the message fail: %j",
    (bytes) => {
      const cursor = at(bytes);
      readLimit(cursor, bytes.length);
      expect(cursor.failed).toBe(true);
    },
  );

  it("end at the limit of their message, not at the end of the bytes", () => {
    const cursor = at([3, 0x61, 0x62, 0x63]);
    readLimit(cursor, 3);
    expect(cursor.failed).toBe(true);
  });
});

describe("skipping", () => {
  const skip = (bytes: readonly number[]): { position: number; failed: boolean } => {
    const cursor = at(bytes);
    skipField(cursor, readTag(cursor, bytes.length), bytes.length);
    return { position: cursor.position, failed: cursor.failed };
  };

  it.each([
    ["a varint", [0x08, 0xac, 0x02, 9], 3],
    ["eight bytes", [0x09, 1, 2, 3, 4, 5, 6, 7, 8, 9], 9],
    ["four bytes", [0x0d, 1, 2, 3, 4, 9], 5],
    ["bytes with a length", [0x0a, 2, 1, 2, 9], 4],
    ["a group with a group in it", [0x0b, 0x08, 1, 0x13, 0x14, 0x0c, 9], 6],
  ])("passes over %s", (_, bytes, position) => {
    expect(skip(bytes)).toEqual({ position, failed: false });
  });

  it.each([
    ["eight bytes that are cut", [0x09, 1, 2]],
    ["four bytes that are cut", [0x0d, 1]],
    ["a group without end", [0x0b, 0x08, 1]],
    ["a group that ends as another", [0x0b, 0x14]],
    ["an end without a group", [0x0c]],
    ["an unknown wire type", [0x0e]],
    ["groups nested too deep", Array(40).fill(0x0b)],
  ])("fails at %s", (_, bytes) => {
    expect(skip(bytes)).toEqual({ position: bytes.length, failed: true });
  });

  it("comes to an end within any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 200 }), (bytes, wanted) => {
        const cursor = protobufCursor(bytes);
        const end = Math.min(wanted, bytes.length);
        while (cursor.position < end) {
          const before = cursor.position;
          skipField(cursor, readTag(cursor, end), end);
          expect(cursor.position).toBeGreaterThan(before);
          if (!cursor.failed) expect(cursor.position).toBeLessThanOrEqual(end);
        }
      }),
      { seed: 1, numRuns: 2000 },
    );
  });
});
