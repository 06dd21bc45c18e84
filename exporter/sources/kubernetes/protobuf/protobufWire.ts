import { isRecord } from "../../../kernel/parseJson.ts";
import {
  fieldOf,
  type ProtobufCursor,
  protobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import type { Decoded } from "../decoded.ts";
import { jsonFormat, uidOf } from "../jsonWire.ts";
import {
  type BodyFormat,
  type DecodedObject,
  eventOf,
  type FrameReader,
  type ListPage,
  type Malformed,
  type WatchEvent,
  type WireFormat,
} from "../wire.ts";
import { type Envelope, openEnvelope, openEvent } from "./envelope.ts";
import { readRecord } from "./readRecord.ts";
import { message, ownText, type Shape, shape, text } from "./shape.ts";
import { statusShape } from "./shapes.ts";

const mediaType = "application/vnd.kubernetes.protobuf";

/** Reads one object, from the cursor to its end. The cursor fails where the bytes are no message. */
export type ReadObject<Row> = (cursor: ProtobufCursor, end: number) => DecodedObject<Row>;

/** A kind in protobuf. */
export interface ProtobufKind<Row> {
  readonly kind: string;
  /** The reader of an object, by the API version in its envelope; the numbers of fields may differ between versions. */
  readonly readers: Readonly<Record<string, ReadObject<Row>>>;
}

/** Lists and watches in protobuf where the answer is protobuf, else in JSON. */
export function protobufWire<Row>(
  kind: ProtobufKind<Row>,
  decodeJson: (value: unknown) => Decoded<Row>,
): WireFormat<Row> {
  const json = jsonFormat(decodeJson);
  const protobuf = protobufFormat(kind);
  return {
    listAccept: `${mediaType}, application/json`,
    watchAccept: `${mediaType};stream=watch, application/json`,
    formatOf: (contentType) => (isProtobuf(contentType) ? protobuf : json),
  };
}

function isProtobuf(contentType: string | null): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === mediaType;
}

/**
 * Reads the wanted fields as a record and projects it in the same way as the JSON form. The fields of `rest` are added only
 * where the projection asks for them.
 */
export function readByShape<Row>(
  wanted: Shape,
  decode: (value: unknown, readRest: () => void) => Decoded<Row>,
  rest: Shape = noFields,
): ReadObject<Row> {
  return (cursor, end) => {
    const start = cursor.position;
    const record = readRecord(cursor, end, wanted);
    const readRest = (): void => {
      if (cursor.failed) return;
      cursor.position = start;
      readRecord(cursor, end, rest, record);
    };
    return { uid: uidOf(record), decoded: decode(record, readRest) };
  };
}

const noFields = shape({});

export function protobufFormat<Row>(kind: ProtobufKind<Row>): BodyFormat<Row> {
  return {
    createReader: createLengthReader,
    page: (body) => readPage(body, kind),
    event: (frame) => readEvent(frame, kind),
  };
}

const headBytes = 4;

/**
 * Frames of a watch in protobuf: the length in four bytes, big-endian, and then the event
 * (k8s.io/apimachinery/pkg/util/framer). Only a frame that is spread over chunks is copied.
 */
function createLengthReader(maxBytes: number): FrameReader {
  /** The beginning of a frame whose end has not been received. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  /** The length of that frame, including its head; the length of the head while that is incomplete. */
  let wanted = headBytes;

  /** Adds to the pending frame what it lacks; returns the number of bytes taken. */
  const take = (chunk: Buffer, start: number): number => {
    const count = Math.min(wanted - pendingBytes, chunk.length - start);
    if (count > 0) pending.push(chunk.subarray(start, start + count));
    pendingBytes += count;
    return count;
  };

  /** The pending frame once it is complete; `null` before that. */
  const whole = (): Buffer | null => {
    if (pendingBytes < wanted) return null;
    const joined = Buffer.concat(pending);
    pending = [joined];
    wanted = headBytes + joined.readUInt32BE(0);
    if (pendingBytes < wanted) return null;
    pending = [];
    pendingBytes = 0;
    wanted = headBytes;
    return joined.subarray(headBytes);
  };

  return {
    push: (arrived) => {
      const chunk = Buffer.isBuffer(arrived)
        ? arrived
        : Buffer.from(arrived.buffer, arrived.byteOffset, arrived.byteLength);
      const frames: Buffer[] = [];
      let start = 0;
      while (start < chunk.length) {
        const bodyAt = start + headBytes;
        const end = pendingBytes > 0 || bodyAt > chunk.length ? null : bodyAt + chunk.readUInt32BE(start);
        if (end !== null && end <= chunk.length && end - bodyAt <= maxBytes) {
          frames.push(chunk.subarray(bodyAt, end));
          start = end;
          continue;
        }
        start += take(chunk, start);
        const frame = whole();
        if (wanted - headBytes > maxBytes) return null;
        if (frame !== null) frames.push(frame);
      }
      return frames;
    },
  };
}

/** The reader for the content that an envelope announces. */
function readerFor<Row>(
  { kind, apiVersion }: Envelope,
  expected: string,
  readers: ProtobufKind<Row>["readers"],
): ReadObject<Row> | Malformed {
  const found = `${apiVersion} ${kind}`.slice(0, 100);
  if (kind !== expected || !Object.hasOwn(readers, apiVersion)) {
    return { ok: false, message: `${found} came where ${expected} was expected` };
  }
  return readers[apiVersion] ?? { ok: false, message: `${found} cannot be read` };
}

const listMetaShape = shape({ 1: message("metadata", shape({ 2: text("resourceVersion"), 3: text("continue") })) });

function readPage<Row>(body: Uint8Array, expected: ProtobufKind<Row>): ListPage<Row> | Malformed {
  const cursor = protobufCursor(body);
  const envelope = openEnvelope(cursor, body.length);
  if (!envelope.ok) return { ok: false, message: `the list cannot be read: ${envelope.message}` };
  const read = readerFor(envelope, `${expected.kind}List`, expected.readers);
  if (typeof read !== "function") return { ok: false, message: `the list cannot be read: ${read.message}` };
  const { end } = envelope;
  const start = cursor.position;
  const { metadata } = readRecord(cursor, end, listMetaShape);
  if (!cursor.failed) cursor.position = start;
  const objects = readItems(cursor, end, read);
  if (cursor.failed) return { ok: false, message: "the list cannot be read: it is cut or broken" };
  const { resourceVersion, continue: next } = isRecord(metadata) ? metadata : {};
  if (typeof resourceVersion !== "string") return { ok: false, message: "the list has no resourceVersion" };
  return { ok: true, resourceVersion, continueToken: typeof next === "string" ? next : null, objects };
}

/** The objects of a list, which are field 2 of every list. */
function readItems<Row>(cursor: ProtobufCursor, end: number, read: ReadObject<Row>): readonly DecodedObject<Row>[] {
  const objects: DecodedObject<Row>[] = [];
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (fieldOf(tag) === 2 && wireTypeOf(tag) === wireTypes.bytes) {
      const limit = readLimit(cursor, end);
      objects.push(read(cursor, limit));
    } else skipField(cursor, tag, end);
  }
  return objects;
}

/** The identity of an object: `metadata` is field 1 of every kind. */
const identityShape = shape({
  1: message(
    "metadata",
    shape({ 1: ownText("name"), 3: text("namespace"), 5: ownText("uid"), 6: ownText("resourceVersion") }),
  ),
});

function readEvent<Row>(frame: Uint8Array, expected: ProtobufKind<Row>): WatchEvent<Row> {
  const cursor = protobufCursor(frame);
  const event = openEvent(cursor);
  if (cursor.failed) return malformed("an event is cut or broken");
  const envelope = openEnvelope(cursor, event.end);
  if (!envelope.ok) return malformed(`an event's object cannot be read: ${envelope.message}`);
  if (event.type === "ERROR") return readError(cursor, envelope.end);
  const read = readerFor(envelope, expected.kind, expected.readers);
  if (typeof read !== "function") return malformed(`an event's object cannot be read: ${read.message}`);
  const { end } = envelope;
  const start = cursor.position;
  const identity = readRecord(cursor, end, identityShape);
  const resourceVersion = isRecord(identity.metadata) ? identity.metadata.resourceVersion : undefined;
  if (cursor.failed) return malformed("an event's object is cut or broken");
  const found = eventOf(event.type, resourceVersion, uidOf(identity), () => {
    cursor.position = start;
    return read(cursor, end);
  });
  return cursor.failed ? malformed("an event's object is cut or broken") : found;
}

function readError<Row>(cursor: ProtobufCursor, end: number): WatchEvent<Row> {
  const { code, message: found } = readRecord(cursor, end, statusShape);
  if (cursor.failed) return malformed("an error of the watch is cut or broken");
  return { type: "error", code: typeof code === "number" ? code : 500, message: String(found).slice(0, 500) };
}

function malformed<Row>(found: string): WatchEvent<Row> {
  return { type: "malformed", message: found };
}
