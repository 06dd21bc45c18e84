/**
 * Reads the protobuf wire format (protobuf.dev/programming-guides/encoding) of untrusted bytes. A cursor moves over the fields
 * of a message; the caller reads the wanted ones and skips the rest by their length.
 *
 * Nothing here throws or reads beyond the limit that it is given. Bytes that are not a message make the cursor fail: it moves
 * to its end, so that every loop of the form `while (cursor.position < end)` stops, and what was read is invalid.
 */
export interface ProtobufCursor {
  readonly bytes: Buffer;
  position: number;
  /** The end of the value that `seekField` found. */
  limit: number;
  failed: boolean;
}

/** The low three bits of a tag; groups (3 and 4) are always skipped. */
export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

const maxGroupDepth = 32;
const maxFieldNumber = 2 ** 29 - 1;
const maxVarintBytes = 10;

export function protobufCursor(bytes: Uint8Array): ProtobufCursor {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { bytes: buffer, position: 0, limit: 0, failed: false };
}

/** Marks the bytes as invalid. Returns 0, so that a reader can return it. */
export function failCursor(cursor: ProtobufCursor): 0 {
  cursor.failed = true;
  cursor.position = cursor.bytes.length;
  return 0;
}

/** Reads an unsigned varint; above 2^53, it is rounded to the nearest number. */
export function readVarint(cursor: ProtobufCursor, end: number): number {
  const at = cursor.position;
  if (at < end) {
    const byte = cursor.bytes[at] ?? 0;
    if (byte < 0x80) {
      cursor.position = at + 1;
      return byte;
    }
  }
  return readLongVarint(cursor, end);
}

/** The halves of the varint that was read last, if it had more than one byte. */
let lastLow = 0;
let lastHigh = 0;

function readLongVarint(cursor: ProtobufCursor, end: number): number {
  const { bytes } = cursor;
  let at = cursor.position;
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 7 * maxVarintBytes; shift += 7) {
    if (at >= end) return failCursor(cursor);
    const byte = bytes[at] ?? 0;
    at += 1;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift > 28) high |= bits << (shift - 32);
    else {
      low |= bits << 28;
      high |= bits >>> 4;
    }
    if (byte < 0x80) {
      cursor.position = at;
      lastLow = low;
      lastHigh = high;
      return (high >>> 0) * 2 ** 32 + (low >>> 0);
    }
  }
  return failCursor(cursor);
}

/** Reads a signed 64-bit number (`int64`); beyond 2^53, it is rounded to the nearest number. */
export function readInt64(cursor: ProtobufCursor, end: number): number {
  const unsigned = readVarint(cursor, end);
  return unsigned < 0x80 ? unsigned : lastHigh * 2 ** 32 + (lastLow >>> 0);
}

/** Reads a signed 32-bit number (`int32`); higher bits are cut off, as other readers do. */
export function readInt32(cursor: ProtobufCursor, end: number): number {
  const unsigned = readVarint(cursor, end);
  return unsigned < 0x80 ? unsigned : lastLow;
}

/** Reads the tag of the next field; 0 if there is none. `fieldOf` and `wireTypeOf` give its parts. */
export function readTag(cursor: ProtobufCursor, end: number): number {
  const tag = readVarint(cursor, end);
  if (tag < 8 || tag > maxFieldNumber * 8 + 7) return failCursor(cursor);
  return tag;
}

export function fieldOf(tag: number): number {
  return tag >>> 3;
}

export function wireTypeOf(tag: number): number {
  return tag & 7;
}

/** Reads the length of a text, of bytes or of a nested message, and returns its end. The cursor is then at its start. */
export function readLimit(cursor: ProtobufCursor, end: number): number {
  const length = readVarint(cursor, end);
  if (length <= end - cursor.position) return cursor.position + length;
  failCursor(cursor);
  return cursor.position;
}

/** Skips the value of a field. */
export function skipField(cursor: ProtobufCursor, tag: number, end: number): void {
  switch (wireTypeOf(tag)) {
    case wireTypes.bytes:
      cursor.position = readLimit(cursor, end);
      return;
    case wireTypes.varint:
      readVarint(cursor, end);
      return;
    case wireTypes.fixed64:
      skipBytes(cursor, 8, end);
      return;
    case wireTypes.fixed32:
      skipBytes(cursor, 4, end);
      return;
    case wireTypes.startGroup:
      skipGroup(cursor, fieldOf(tag), end);
      return;
    default:
      failCursor(cursor);
  }
}

function skipBytes(cursor: ProtobufCursor, count: number, end: number): void {
  if (end - cursor.position < count) failCursor(cursor);
  else cursor.position += count;
}

function skipGroup(cursor: ProtobufCursor, field: number, end: number): void {
  const open = [field];
  while (open.length > 0) {
    const tag = readTag(cursor, end);
    const wireType = wireTypeOf(tag);
    if (cursor.failed) return;
    if (wireType === wireTypes.endGroup) {
      if (open.pop() !== fieldOf(tag)) failCursor(cursor);
    } else if (wireType === wireTypes.startGroup) {
      open.push(fieldOf(tag));
      if (open.length > maxGroupDepth) failCursor(cursor);
    } else skipField(cursor, tag, end);
    if (cursor.failed) return;
  }
}
