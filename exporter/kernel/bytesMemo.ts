import type { ProtobufCursor } from "./protobuf.ts";

/** Reads a value from the cursor to `end`. */
export type ReadBytes<Value> = (cursor: ProtobufCursor, end: number) => Value;

/** Longer ones stand in few objects, and would make the memory large. */
const maxBytes = 1024;

/**
 * The same reader, but what it made of some bytes is given again for the same bytes: parts that are alike in most
 * objects are decoded once. With `limit` values it begins anew. The cursor is left anywhere; where it fails, the value
 * means nothing.
 */
export function createBytesMemo<Value>(read: ReadBytes<Value>, limit = 4096): ReadBytes<Value> {
  const known = new Map<string, Value>();
  return (cursor, end) => {
    const { bytes, position } = cursor;
    if (end - position > maxBytes) return read(cursor, end);
    const key = bytes.toString("latin1", position, end);
    const found = known.get(key);
    if (found !== undefined) return found;
    const value = read(cursor, end);
    if (cursor.failed) return value;
    if (known.size >= limit) known.clear();
    known.set(key, value);
    return value;
  };
}
