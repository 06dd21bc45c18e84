import { failCursor, type ProtobufCursor, readLimit, readTag, skipField, wireTypeOf, wireTypes } from "./protobuf.ts";

/** The tags of the fields of a message that a reader wants; the value at each of these tags is 1. */
export type WantedTags = Uint8Array;

/** The tag of a field that contains a text, bytes or a nested message. */
export function bytesTag(field: number): number {
  return field * 8 + wireTypes.bytes;
}

/** The tag of a field that contains a number or a flag. */
export function varintTag(field: number): number {
  return field * 8 + wireTypes.varint;
}

export function wantedTags(...tags: readonly number[]): WantedTags {
  const wanted = new Uint8Array(Math.max(...tags, 0) + 1);
  for (const tag of tags) wanted[tag] = 1;
  return wanted;
}

/**
 * Moves to the next wanted field of the message that ends at `end`, and returns its tag; 0 where there is none, or the cursor
 * failed. The cursor is then at the value. For bytes, `limit` is the end of the value, and the caller must move there. All
 * other fields are skipped, which are nearly all bytes of an object.
 */
export function seekField(cursor: ProtobufCursor, end: number, wanted: WantedTags): number {
  const { bytes } = cursor;
  let at = cursor.position;
  while (at < end) {
    const tag = shortVarint(bytes, at, end);
    const lengthAt = at + (tag < 0x80 ? 1 : 2);
    const length = shortVarint(bytes, lengthAt, end);
    const valueAt = lengthAt + (length < 0x80 ? 1 : 2);
    const wireType = shortWireType(tag, length);
    if (wireType === wireTypes.bytes) {
      if (valueAt + length > end) return failCursor(cursor);
      if (wanted[tag] === 1) {
        cursor.position = valueAt;
        cursor.limit = valueAt + length;
        return tag;
      }
      at = valueAt + length;
    } else if (wireType === wireTypes.varint && wanted[tag] !== 1) {
      // The bytes that were taken for a length are the number itself.
      at = valueAt;
    } else {
      cursor.position = at;
      const found = readOddField(cursor, end, wanted);
      if (found !== 0) return found;
      at = cursor.position;
    }
  }
  cursor.position = at;
  return 0;
}

/** A varint of one or two bytes, as nearly all tags and lengths are; `odd` if there is none. */
function shortVarint(bytes: Buffer, at: number, end: number): number {
  const low = at < end ? (bytes[at] ?? 0) : odd;
  if (low < 0x80) return low;
  const high = at + 1 < end ? (bytes[at + 1] ?? 0) : 0;
  // The second byte is 0 only if the varint is longer than it needs to be.
  return high > 0 && high < 0x80 ? (low & 0x7f) | (high << 7) : odd;
}

/** The wire type of a field whose tag and length, or number, are short; `odd` for any other field. */
function shortWireType(tag: number, length: number): number {
  return tag < 8 || length === odd ? odd : wireTypeOf(tag);
}

/** A number that two bytes cannot represent; as a tag, it has none of the wire types that are read here. */
const odd = 2 ** 20 + 7;

function readOddField(cursor: ProtobufCursor, end: number, wanted: WantedTags): number {
  const tag = readTag(cursor, end);
  const isWanted = !cursor.failed && tag < wanted.length && wanted[tag] === 1;
  if (!isWanted) skipField(cursor, tag, end);
  else if (wireTypeOf(tag) === wireTypes.bytes) cursor.limit = readLimit(cursor, end);
  return isWanted && !cursor.failed ? tag : 0;
}

/** Continues after a value that was read; a cursor that has failed stays at its end. */
export function leaveField(cursor: ProtobufCursor, limit: number): void {
  if (!cursor.failed) cursor.position = limit;
}
