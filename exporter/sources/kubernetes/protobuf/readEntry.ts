import type { ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import type { TextMapLimits } from "../textMap.ts";
import { sharedText } from "./readRecord.ts";

const keyTag = bytesTag(1);
const valueTag = bytesTag(2);
const entryTags = wantedTags(keyTag, valueTag);

/**
 * Reads one entry of a map of texts into a record, as `textMap` does it; `false` where the entry is none that it
 * would take as it is. The record must not have a prototype with content.
 */
export function readTextEntry(
  cursor: ProtobufCursor,
  end: number,
  limits: TextMapLimits,
  into: Record<string, string>,
): boolean {
  let key = "";
  let valueAt = end;
  let valueEnd = end;
  for (let tag = seekField(cursor, end, entryTags); tag !== 0; tag = seekField(cursor, end, entryTags)) {
    const { limit } = cursor;
    if (tag === keyTag) key = sharedText(cursor.bytes, cursor.position, limit);
    else {
      valueAt = cursor.position;
      valueEnd = limit;
    }
    leaveField(cursor, limit);
  }
  if (cursor.failed || key === "__proto__") return false;
  if (!limits.keep(key)) return true;
  const value = sharedText(cursor.bytes, valueAt, valueEnd);
  into[key] = value;
  return value.length <= limits.maxValueChars;
}
