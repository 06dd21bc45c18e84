import { isRecord, type JsonRecord, parseJson } from "../../kernel/parseJson.ts";
import type { Decoded } from "./decoded.ts";
import {
  type BodyFormat,
  createLineReader,
  type DecodedObject,
  eventOf,
  type ListPage,
  type Malformed,
  type WatchEvent,
  type WireFormat,
} from "./wire.ts";

/** Lists and watches in JSON only, whatever content type an answer has; `decode` projects one object. */
export function jsonWire<Row>(decode: (value: unknown) => Decoded<Row>): WireFormat<Row> {
  const format = jsonFormat(decode);
  return { listAccept: "application/json", watchAccept: "application/json", formatOf: () => format };
}

export function jsonFormat<Row>(decode: (value: unknown) => Decoded<Row>): BodyFormat<Row> {
  const toObject = (value: unknown): DecodedObject<Row> => ({ uid: uidOf(value), decoded: decode(value) });
  return {
    createReader: createLineReader,
    page: (body) => decodePage(parseJson(body), toObject),
    event: (frame) => decodeEvent(parseJson(frame), toObject),
  };
}

function decodePage<Row>(list: unknown, toObject: (value: unknown) => DecodedObject<Row>): ListPage<Row> | Malformed {
  if (!isRecord(list)) return { ok: false, message: "the list is no JSON object" };
  const metadata = metadataOf(list);
  const { resourceVersion, continue: next } = metadata;
  if (typeof resourceVersion !== "string") return { ok: false, message: "the list has no resourceVersion" };
  // Go writes an empty list as null.
  const entries = list.items ?? [];
  if (!Array.isArray(entries)) return { ok: false, message: "the list's items are no list" };
  const continueToken = typeof next === "string" && next !== "" ? next : null;
  return { ok: true, resourceVersion, continueToken, objects: entries.map(toObject) };
}

function decodeEvent<Row>(event: unknown, toObject: (value: unknown) => DecodedObject<Row>): WatchEvent<Row> {
  if (!isRecord(event) || !isRecord(event.object)) return { type: "malformed", message: "an event is no JSON object" };
  const { type, object } = event;
  if (type === "ERROR") {
    const { code, message } = object;
    return { type: "error", code: typeof code === "number" ? code : 500, message: String(message).slice(0, 500) };
  }
  return eventOf(type, metadataOf(object).resourceVersion, uidOf(object), () => toObject(object));
}

function metadataOf(object: JsonRecord): JsonRecord {
  return isRecord(object.metadata) ? object.metadata : {};
}

/** The uid of an object. It is the same one that `decodeObject` gives to the record. */
export function uidOf(value: unknown): string {
  const { uid, namespace, name } = isRecord(value) ? metadataOf(value) : {};
  if (typeof uid === "string" && uid !== "") return uid;
  return `${typeof namespace === "string" ? namespace : ""}/${typeof name === "string" ? name : ""}`;
}
