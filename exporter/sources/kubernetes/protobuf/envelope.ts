import {
  fieldOf,
  type ProtobufCursor,
  readLimit,
  readTag,
  skipField,
  wireTypeOf,
  wireTypes,
} from "../../../kernel/protobuf.ts";
import { bytesTag } from "../../../kernel/protobufFields.ts";
import type { Malformed } from "../wire.ts";
import { readSharedText } from "./readRecord.ts";

/** What is before every object of the API in protobuf (k8s.io/apimachinery/pkg/runtime/serializer/protobuf). */
const magic = 0x6b_38_73_00;
const magicBytes = 4;

/** Whether bytes begin as an object in protobuf does. */
export function isProtobufObject(bytes: Buffer, start = 0): boolean {
  return bytes.length - start >= magicBytes && bytes.readUInt32BE(start) === magic;
}

/** The content of the envelope of an object; the cursor is at the beginning of the object. */
export interface Envelope {
  readonly ok: true;
  readonly apiVersion: string;
  readonly kind: string;
  /** Where the object ends. */
  readonly end: number;
}

/** Opens the envelope (`runtime.Unknown`) that reaches from the cursor to `end`. */
export function openEnvelope(cursor: ProtobufCursor, end: number): Envelope | Malformed {
  if (cursor.failed || end - cursor.position < magicBytes || !isProtobufObject(cursor.bytes, cursor.position)) {
    return { ok: false, message: "it does not begin as protobuf of Kubernetes does" };
  }
  cursor.position += magicBytes;
  let typeMeta = { apiVersion: "", kind: "" };
  let encoding = "";
  let raw = { start: end, end };
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    const field = fieldOf(tag);
    if (wireTypeOf(tag) !== wireTypes.bytes || field > 3) skipField(cursor, tag, end);
    else if (field === 1) typeMeta = readTypeMeta(cursor, readLimit(cursor, end));
    else if (field === 2) raw = passOver(cursor, end);
    else encoding = readSharedText(cursor, end);
  }
  if (cursor.failed) return { ok: false, message: "its envelope is cut or broken" };
  if (encoding !== "") return { ok: false, message: `its content is encoded as ${encoding.slice(0, 40)}` };
  cursor.position = raw.start;
  return { ok: true, apiVersion: typeMeta.apiVersion, kind: typeMeta.kind, end: raw.end };
}

function readTypeMeta(cursor: ProtobufCursor, end: number): { readonly apiVersion: string; readonly kind: string } {
  let apiVersion = "";
  let kind = "";
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === bytesTag(1)) apiVersion = readSharedText(cursor, end);
    else if (tag === bytesTag(2)) kind = readSharedText(cursor, end);
    else skipField(cursor, tag, end);
  }
  return { apiVersion, kind };
}

/** Passes over bytes with a length; returns where they are. */
function passOver(cursor: ProtobufCursor, end: number): { readonly start: number; readonly end: number } {
  const limit = readLimit(cursor, end);
  const start = cursor.position;
  cursor.position = limit;
  return { start, end: limit };
}

/** One event of a watch (`WatchEvent` of meta/v1); the cursor is at the envelope of its object. */
export interface EventFrame {
  readonly type: string;
  /** Where the object's envelope ends. */
  readonly end: number;
}

/** Opens the event that the cursor holds. */
export function openEvent(cursor: ProtobufCursor): EventFrame {
  const end = cursor.bytes.length;
  let type = "";
  let object = { start: end, end };
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === bytesTag(1)) type = readSharedText(cursor, end);
    else if (tag === bytesTag(2)) object = passOverRaw(cursor, readLimit(cursor, end));
    else skipField(cursor, tag, end);
  }
  if (!cursor.failed) cursor.position = object.start;
  return { type, end: object.end };
}

/** `RawExtension` of k8s.io/apimachinery/pkg/runtime: bytes in field 1. */
function passOverRaw(cursor: ProtobufCursor, end: number): { readonly start: number; readonly end: number } {
  let raw = { start: end, end };
  while (cursor.position < end) {
    const tag = readTag(cursor, end);
    if (tag === bytesTag(1)) raw = passOver(cursor, end);
    else skipField(cursor, tag, end);
  }
  return raw;
}
