import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ProtobufCursor,
  protobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../exporter/kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, varintTag, wantedTags } from "../../exporter/kernel/protobufFields.ts";

const tags = [bytesTag(1), bytesTag(20), varintTag(3), varintTag(25)];
const wanted = wantedTags(...tags);

/** Tag, place of the value and, of bytes, its end. */
type Found = readonly [tag: number, at: number, limit: number | null];

function seekAll(cursor: ProtobufCursor, end: number): readonly Found[] {
  const found: Found[] = [];
  for (let tag = seekField(cursor, end, wanted); tag !== 0; tag = seekField(cursor, end, wanted)) {
    const isBytes = wireTypeOf(tag) === wireTypes.bytes;
    found.push([tag, cursor.position, isBytes ? cursor.limit : null]);
    if (isBytes) leaveField(cursor, cursor.limit);
    else skipField(cursor, tag, end);
  }
  return found;
}

/** The naive twin: field by field. */
function readAll(cursor: ProtobufCursor, end: number): readonly Found[] {
  const found: Found[] = [];
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (cursor.failed) break;
    const at = cursor.position;
    if (tags.includes(tag) && wireTypeOf(tag) === wireTypes.bytes) {
      const limit = readLimit(cursor, end);
      if (!cursor.failed) found.push([tag, cursor.position, limit]);
      leaveField(cursor, limit);
    } else {
      if (tags.includes(tag)) found.push([tag, at, null]);
      skipField(cursor, tag, end);
    }
  }
  return found;
}

function expectSame(bytes: Uint8Array, end: number): void {
  const [seeking, reading] = [protobufCursor(bytes), protobufCursor(bytes)];
  expect(seekAll(seeking, end)).toEqual(readAll(reading, end));
  expect(seeking.failed).toBe(reading.failed);
  if (!seeking.failed) expect(seeking.position).toBe(reading.position);
}

/** Numbers of any length, also longer than they need to be. */
const varint = fc
  .tuple(fc.oneof(fc.nat({ max: 400 }), fc.nat({ max: 70_000 })), fc.nat({ max: 2 }))
  .map(([value, padding]) => {
    const bytes: number[] = [];
    for (let rest = value; ; rest = Math.floor(rest / 128)) {
      bytes.push((rest % 128) + (rest >= 128 || padding > 0 ? 128 : 0));
      if (rest < 128) break;
    }
    for (let more = padding; more > 0; more -= 1) bytes.push(more > 1 ? 128 : 0);
    return bytes;
  });
const field = fc.oneof(
  fc.tuple(fc.constantFrom(10, 18, 90), fc.uint8Array({ maxLength: 200 })).map(([tag, value]) => {
    const length = value.length < 128 ? [value.length] : [(value.length % 128) + 128, 1];
    return [tag, ...length, ...value];
  }),
  fc
    .uint8Array({ maxLength: 200 })
    .map((value) => [0xa2, 1, value.length % 128, ...value.subarray(0, value.length % 128)]),
  varint.map((value) => [24, ...value]),
  varint.map((value) => [0xc8, 1, ...value]),
  varint.map((value) => [40, ...value]),
  fc.constant([0x0d, 1, 2, 3, 4]),
  fc.constant([0x8a, 0, 2, 7, 7]),
);

describe("seeking wanted fields", () => {
  it("finds what reading field by field finds", () => {
    const message = fc.array(field, { maxLength: 12 }).map((fields) => Uint8Array.from(fields.flat()));
    fc.assert(
      fc.property(message, (bytes) => expectSame(bytes, bytes.length)),
      { seed: 1, numRuns: 500 },
    );
  });

  it("finds and fails as reading field by field does, in any bytes", () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(fc.oneof(field, varint), { maxLength: 6 }).map((parts) => Uint8Array.from(parts.flat())),
    );
    fc.assert(
      fc.property(anyBytes, fc.nat({ max: 60 }), (bytes, end) => expectSame(bytes, Math.min(end, bytes.length))),
      { seed: 2, numRuns: 3000 },
    );
  });
});
