import { bareRecord } from "../../../kernel/bareRecord.ts";
import {
  fieldOf,
  type ProtobufCursor,
  readInt32,
  readInt64,
  readVarint,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import { bytesTag, leaveField, seekField, varintTag, wantedTags } from "../../../kernel/protobufFields.ts";
import { createTextCache } from "../../../kernel/textCache.ts";
import type { Field, Shape } from "./shape.ts";

type WritableRecord = Record<string, unknown>;

/** Names, keys and values that occur in many objects are shared. */
const sharedText = createTextCache();

/**
 * Reads the wanted fields of a message into the record that `JSON.parse` would return for the same object, so that one
 * projection serves both formats. There are differences that no projection sees: a time is a `Date`, an empty text is absent
 * where Go would not have written it, and a map has no prototype.
 *
 * Fields of another wire type than expected are treated as unknown. The cursor fails where the bytes are no message.
 */
export function readRecord(
  cursor: ProtobufCursor,
  end: number,
  shape: Shape,
  into: WritableRecord = {},
): WritableRecord {
  const { tags, fields } = shape;
  for (let tag = seekField(cursor, end, tags); tag !== 0; tag = seekField(cursor, end, tags)) {
    const field = fields[fieldOf(tag)];
    if (field === undefined) break;
    if (wireTypeOf(tag) === wireTypes.varint) readNumber(cursor, end, field, into);
    else {
      const { limit } = cursor;
      readBytes(cursor, limit, field, into);
      leaveField(cursor, limit);
    }
  }
  return into;
}

function readNumber(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  if (field.type === "flag") into[field.name] = readVarint(cursor, end) !== 0;
  else setNumber(into, field, field.type === "int32" ? readInt32(cursor, end) : readInt64(cursor, end));
}

function setText(into: WritableRecord, { name, isEmptyAbsent }: Field, value: string): void {
  if (value === "" && isEmptyAbsent) unset(into, name);
  else into[name] = value;
}

function setNumber(into: WritableRecord, field: Field, value: number): void {
  if (value === 0 && field.isEmptyAbsent) unset(into, field.name);
  else into[field.name] = value;
}

/** Removes a field if it has a value; `delete` of an absent field would still make the record slow. */
function unset(into: WritableRecord, name: string): void {
  if (into[name] !== undefined) delete into[name];
}

/** Reads a text, a message or an entry of a map, from the cursor to `end`. */
function readBytes(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  const { name } = field;
  switch (field.type) {
    case "text":
      setText(into, field, sharedText(cursor.bytes, cursor.position, end));
      return;
    case "ownText":
      setText(into, field, cursor.bytes.toString("utf8", cursor.position, end));
      return;
    case "texts":
      listIn(into, name).push(sharedText(cursor.bytes, cursor.position, end));
      return;
    case "quantity":
      into[name] = readFirstText(cursor, end);
      return;
    case "time": {
      const value = readTime(cursor, end);
      if (value === null) unset(into, name);
      else into[name] = value;
      return;
    }
    case "message":
      // A message that comes in several parts is merged, as every protobuf reader does.
      readRecord(cursor, end, field.shape, recordIn(into, name, emptyRecord));
      return;
    case "inline":
      readRecord(cursor, end, field.shape, into);
      return;
    case "messages":
      readEntryOfList(cursor, end, field, into);
      return;
    default:
      readEntry(cursor, end, field, recordIn(into, name, bareRecord));
  }
}

const keyTag = bytesTag(1);
const valueTag = bytesTag(2);
const keyTags = wantedTags(keyTag);
const entryTags = wantedTags(keyTag, valueTag);

function readEntryOfList(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  if (field.keep !== null) {
    const start = cursor.position;
    const isKept = field.keep(readFirstText(cursor, end));
    if (cursor.failed || !isKept) return;
    cursor.position = start;
  }
  listIn(into, field.name).push(readRecord(cursor, end, field.shape));
}

/** Reads one entry of a map; of two with the same key, the later counts. */
function readEntry(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  let key = "";
  let valueAt = -1;
  let valueEnd = -1;
  for (let tag = seekField(cursor, end, entryTags); tag !== 0; tag = seekField(cursor, end, entryTags)) {
    const { limit } = cursor;
    if (tag === keyTag) key = sharedText(cursor.bytes, cursor.position, limit);
    else {
      valueAt = cursor.position;
      valueEnd = limit;
    }
    cursor.position = limit;
  }
  if (cursor.failed || field.keep?.(key) === false) return;
  into[key] = valueAt === -1 ? emptyValue(field) : readValue(cursor, valueAt, valueEnd, field);
}

function readValue(cursor: ProtobufCursor, at: number, end: number, field: Field): unknown {
  if (field.type === "textMap") return sharedText(cursor.bytes, at, end);
  cursor.position = at;
  return field.type === "quantityMap" ? readFirstText(cursor, end) : readRecord(cursor, end, field.shape);
}

function emptyValue(field: Field): unknown {
  if (field.type === "textMap") return "";
  return field.type === "quantityMap" ? "0" : {};
}

/** The text in field 1, which is all that a `Quantity` of k8s.io/apimachinery/pkg/api/resource has. */
function readFirstText(cursor: ProtobufCursor, end: number): string {
  let found = "";
  while (seekField(cursor, end, keyTags) !== 0) {
    found = sharedText(cursor.bytes, cursor.position, cursor.limit);
    cursor.position = cursor.limit;
  }
  return found;
}

/** The limits of a `Timestamp`: the years 1 to 9999. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;
const secondsTags = wantedTags(varintTag(1));

/** The time of whole seconds since the epoch, as `Time` of apimachinery has them; `null` for the zero time, which is empty. */
function readTime(cursor: ProtobufCursor, end: number): Date | null {
  if (cursor.position === end) return null;
  let seconds = 0;
  while (seekField(cursor, end, secondsTags) !== 0) seconds = readInt64(cursor, end);
  return new Date(seconds >= firstSecond && seconds <= lastSecond ? seconds * 1000 : Number.NaN);
}

function listIn(into: WritableRecord, name: string): unknown[] {
  const known = into[name];
  if (Array.isArray(known)) return known;
  const list: unknown[] = [];
  into[name] = list;
  return list;
}

/** The record under a name; `make` creates it if it is absent. */
function recordIn(into: WritableRecord, name: string, make: () => WritableRecord): WritableRecord {
  const known = into[name];
  if (isWritable(known)) return known;
  const record = make();
  into[name] = record;
  return record;
}

const emptyRecord = (): WritableRecord => ({});

function isWritable(value: unknown): value is WritableRecord {
  return typeof value === "object" && value !== null;
}
