import { fieldOf, type ProtobufCursor } from "../../../kernel/protobuf.ts";
import { bytesTag, seekField, wantedTags } from "../../../kernel/protobufFields.ts";
import type { Malformed } from "../wire.ts";

/** The bytes before every object of the API in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf). */
const magic = 0x6b_38_73_00;
const magicBytes = 4;

/** Whether bytes begin as an object in protobuf does. */
export function isProtobufObject(bytes: Buffer, start = 0): boolean {
  return bytes.length - start >= magicBytes && bytes.readUInt32BE(start) === magic;
}

/** An envelope that has been opened; the cursor is at the beginning of the object in it. */
export interface Envelope {
  readonly ok: true;
  readonly apiVersion: string;
  readonly kind: string;
  /** Position of the end of the object. */
  readonly end: number;
}

/** Opens the envelope (`runtime.Unknown`) that reaches from the cursor to `end`. */
export function openEnvelope(cursor: ProtobufCursor, end: number): Envelope | Malformed {
  if (cursor.failed || end - cursor.position < magicBytes || !isProtobufObject(cursor.bytes, cursor.position)) {
    return { ok: false, message: "it does not begin as protobuf of Kubernetes does" };
  }
  const nothing: Range = { start: end, end };
  const parts = rangesOf(cursor, { start: cursor.position + magicBytes, end });
  const typeMeta = rangesOf(cursor, parts.get(1) ?? nothing);
  if (cursor.failed) return { ok: false, message: "its envelope is cut or broken" };
  const encoding = textIn(cursor, parts.get(3));
  if (encoding !== "") return { ok: false, message: `its content is encoded as ${encoding.slice(0, 40)}` };
  const raw = parts.get(2) ?? nothing;
  cursor.position = raw.start;
  return {
    ok: true,
    apiVersion: textIn(cursor, typeMeta.get(1)),
    kind: textIn(cursor, typeMeta.get(2)),
    end: raw.end,
  };
}

/** One event of a watch (`WatchEvent` of meta/v1); the cursor is at the envelope of its object. */
export interface EventFrame {
  readonly type: string;
  /** Position of the end of the object's envelope. */
  readonly end: number;
}

/** Opens the event that the cursor holds. Its object is in field 1 of a `RawExtension` of k8s.io/apimachinery/pkg/runtime. */
export function openEvent(cursor: ProtobufCursor): EventFrame {
  const end = cursor.bytes.length;
  const nothing: Range = { start: end, end };
  const parts = rangesOf(cursor, { start: cursor.position, end });
  const object = rangesOf(cursor, parts.get(2) ?? nothing).get(1) ?? nothing;
  cursor.position = cursor.failed ? end : object.start;
  return { type: textIn(cursor, parts.get(1)), end: object.end };
}

/** A range of the bytes. */
interface Range {
  readonly start: number;
  readonly end: number;
}

const firstFields = wantedTags(bytesTag(1), bytesTag(2), bytesTag(3));

/** The ranges of the fields 1 to 3 of a message that contain bytes, by field number; of a field that occurs twice, the last. */
function rangesOf(cursor: ProtobufCursor, { start, end }: Range): ReadonlyMap<number, Range> {
  const ranges = new Map<number, Range>();
  cursor.position = start;
  for (let tag = seekField(cursor, end, firstFields); tag !== 0; tag = seekField(cursor, end, firstFields)) {
    ranges.set(fieldOf(tag), { start: cursor.position, end: cursor.limit });
    cursor.position = cursor.limit;
  }
  return ranges;
}

function textIn(cursor: ProtobufCursor, range: Range | undefined): string {
  return range === undefined ? "" : cursor.bytes.toString("utf8", range.start, range.end);
}
