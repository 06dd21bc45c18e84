import { bareRecord } from "../../../kernel/bareRecord.ts";
import {
  fieldOf,
  type ProtobufCursor,
  readInt32,
  readInt64,
  readLimit,
  readTag,
  readVarint,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import { createTextCache } from "../../../kernel/textCache.ts";
import type { JsonRecord } from "../fields.ts";
import type { Field, Shape } from "./shape.ts";

type WritableRecord = Record<string, unknown>;

/** Names, keys and values that stand in many objects are shared. */
export const sharedText = createTextCache();

/**
 * Reads the wanted fields of a message into the record that `JSON.parse` would give of the same object, so that one
 * projection serves both formats. Differences that no projection sees: a time is a `Date`, an empty text is absent
 * where Go would not have written it, and a map has no prototype.
 *
 * Fields of another wire type than expected count as unknown. Where the bytes are no message the cursor fails.
 */
export function readRecord(cursor: ProtobufCursor, end: number, shape: Shape, into: WritableRecord = {}): JsonRecord {
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    const field = shape[fieldOf(tag)];
    if (field === undefined) skipField(cursor, tag, end);
    else if (wireTypeOf(tag) === wireTypes.bytes) readBytesField(cursor, end, field, into, tag);
    else if (wireTypeOf(tag) === wireTypes.varint) readVarintField(cursor, end, field, into);
    else skipField(cursor, tag, end);
  }
  return into;
}

function readVarintField(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  switch (field.type) {
    case "int32":
      setNumber(into, field, readInt32(cursor, end));
      return;
    case "int64":
      setNumber(into, field, readInt64(cursor, end));
      return;
    case "flag":
      into[field.name] = readVarint(cursor, end) !== 0;
      return;
    default:
      readVarint(cursor, end);
  }
}

function setNumber(into: WritableRecord, field: Field, value: number): void {
  if (value === 0 && field.isEmptyAbsent) unset(into, field.name);
  else into[field.name] = value;
}

/** Deleting what is not there would still make the record slow. */
function unset(into: WritableRecord, name: string): void {
  if (into[name] !== undefined) delete into[name];
}

function readBytesField(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord, tag: number): void {
  const { name } = field;
  switch (field.type) {
    case "text": {
      const value = readSharedText(cursor, end);
      if (value === "" && field.isEmptyAbsent) unset(into, name);
      else into[name] = value;
      return;
    }
    case "texts":
      listIn(into, name).push(readSharedText(cursor, end));
      return;
    case "quantity":
      into[name] = readFirstText(cursor, readLimit(cursor, end));
      return;
    case "time": {
      const value = readTime(cursor, readLimit(cursor, end));
      if (value === null) unset(into, name);
      else into[name] = value;
      return;
    }
    case "message":
      // A message that comes in parts is put together, as every protobuf reader does.
      readRecord(cursor, readLimit(cursor, end), field.shape, recordIn(into, name));
      return;
    case "inline":
      readRecord(cursor, readLimit(cursor, end), field.shape, into);
      return;
    case "messages":
      readEntryOfList(cursor, readLimit(cursor, end), field, into);
      return;
    case "textMap":
    case "quantityMap":
    case "messageMap":
      readEntry(cursor, readLimit(cursor, end), field, mapIn(into, name));
      return;
    default:
      skipField(cursor, tag, end);
  }
}

const keyTag = (1 << 3) | wireTypes.bytes;
const valueTag = (2 << 3) | wireTypes.bytes;

function readEntryOfList(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  if (field.keep !== null) {
    const start = cursor.position;
    const isKept = field.keep(readFirstText(cursor, end));
    if (cursor.failed) return;
    cursor.position = isKept ? start : end;
    if (!isKept) return;
  }
  listIn(into, field.name).push(readRecord(cursor, end, field.shape));
}

/** One entry of a map; of two with the same key the later counts. */
function readEntry(cursor: ProtobufCursor, end: number, field: Field, into: WritableRecord): void {
  let key = "";
  let valueAt = -1;
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === keyTag) key = readSharedText(cursor, end);
    else {
      if (tag === valueTag) valueAt = cursor.position;
      skipField(cursor, tag, end);
    }
  }
  if (cursor.failed || field.keep?.(key) === false) return;
  into[key] = valueAt === -1 ? emptyValue(field) : readValue(cursor, valueAt, end, field);
  if (!cursor.failed) cursor.position = end;
}

function readValue(cursor: ProtobufCursor, at: number, end: number, field: Field): unknown {
  cursor.position = at;
  if (field.type === "textMap") return readSharedText(cursor, end);
  const limit = readLimit(cursor, end);
  return field.type === "quantityMap" ? readFirstText(cursor, limit) : readRecord(cursor, limit, field.shape);
}

function emptyValue(field: Field): unknown {
  if (field.type === "textMap") return "";
  return field.type === "quantityMap" ? "0" : {};
}

/** The text in field 1, which is all that a `Quantity` of k8s.io/apimachinery/pkg/api/resource has. */
function readFirstText(cursor: ProtobufCursor, end: number): string {
  let found = "";
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === keyTag) found = readSharedText(cursor, end);
    else skipField(cursor, tag, end);
  }
  return found;
}

/** Of the times that a `Timestamp` may hold: the years 1 to 9999. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;
const secondsTag = (1 << 3) | wireTypes.varint;

/** Whether seconds since the epoch are a time that the API can hold. */
export function isTimestamp(seconds: number): boolean {
  return seconds >= firstSecond && seconds <= lastSecond;
}

/** Seconds of a `Time` of apimachinery (whole ones: it never writes parts); `null` where it is the zero time. */
export function readSeconds(cursor: ProtobufCursor, end: number): number | null {
  if (cursor.position === end) return null;
  let seconds = 0;
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === secondsTag) seconds = readInt64(cursor, end);
    else skipField(cursor, tag, end);
  }
  return seconds;
}

function readTime(cursor: ProtobufCursor, end: number): Date | null {
  const seconds = readSeconds(cursor, end);
  if (seconds === null) return null;
  return new Date(isTimestamp(seconds) ? seconds * 1000 : Number.NaN);
}

/** A text through the cache of those seen lately. */
export function readSharedText(cursor: ProtobufCursor, end: number): string {
  const limit = readLimit(cursor, end);
  const start = cursor.position;
  cursor.position = limit;
  return cursor.failed ? "" : sharedText(cursor.bytes, start, limit);
}

function listIn(into: WritableRecord, name: string): unknown[] {
  const known = into[name];
  if (Array.isArray(known)) return known;
  const list: unknown[] = [];
  into[name] = list;
  return list;
}

function recordIn(into: WritableRecord, name: string): WritableRecord {
  const known = into[name];
  if (isWritable(known)) return known;
  const record: WritableRecord = {};
  into[name] = record;
  return record;
}

function mapIn(into: WritableRecord, name: string): WritableRecord {
  const known = into[name];
  if (isWritable(known)) return known;
  const record: WritableRecord = bareRecord();
  into[name] = record;
  return record;
}

function isWritable(value: unknown): value is WritableRecord {
  return typeof value === "object" && value !== null;
}
