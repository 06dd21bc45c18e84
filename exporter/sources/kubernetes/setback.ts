import { isRecord, parseJson } from "../../kernel/parseJson.ts";
import { protobufCursor } from "../../kernel/protobuf.ts";
import type { ApiClient } from "./apiClient.ts";
import { isProtobufObject, openEnvelope } from "./protobuf/envelope.ts";
import { readRecord } from "./protobuf/readRecord.ts";
import { statusShape } from "./protobuf/shapes.ts";

/** Why a kind cannot be read right now. */
export interface Setback {
  /** `absent`: the API server does not have this kind. */
  readonly state: "forbidden" | "absent" | "failing";
  readonly message: string;
  /** The time that the server asked to wait; `null` if it did not. */
  readonly retryAfterSeconds: number | null;
}

export function failing(message: string, retryAfterSeconds: number | null = null): Setback {
  return { state: "failing", message, retryAfterSeconds };
}

/** A whole answer with the status 200, or why there is none; `status` is `null` where there was no answer. */
export type GoodAnswer =
  | { readonly ok: true; readonly body: Buffer; readonly contentType: string | null }
  | { readonly ok: false; readonly status: number | null; readonly setback: Setback };

/** Sends a GET whose answer is only useful with the status 200. */
export async function getGood(
  client: ApiClient,
  path: string,
  options: Parameters<ApiClient["get"]>[1],
): Promise<GoodAnswer> {
  const answer = await client.get(path, options);
  if (!answer.ok) return { ok: false, status: null, setback: failing(answer.message) };
  if (answer.status === 200) return answer;
  const setback = setbackOf(answer.status, answer.body, answer.retryAfterSeconds);
  return { ok: false, status: answer.status, setback };
}

/** The setback that an HTTP answer other than 200 means. */
export function setbackOf(status: number, body: Buffer, retryAfterSeconds: number | null): Setback {
  const message = `HTTP ${status}: ${statusMessage(body)}`;
  if (status === 403) return { state: "forbidden", message, retryAfterSeconds };
  if (status === 404) return { state: "absent", message, retryAfterSeconds };
  return { state: "failing", message, retryAfterSeconds };
}

/** The message of a `Status` object, or the beginning of whatever else the server sent. */
function statusMessage(body: Buffer): string {
  if (isProtobufObject(body)) return readStatusMessage(body) ?? "a status that cannot be read";
  const text = body.toString("utf8", 0, 2000).trim();
  const status = parseJson(text);
  // Some answers come from a proxy, not from the API server.
  return (isRecord(status) && typeof status.message === "string" ? status.message : text).slice(0, 300);
}

/** The message of a `Status` in protobuf, cut to what is shown; `null` if it has none that can be read. */
function readStatusMessage(body: Uint8Array): string | null {
  const cursor = protobufCursor(body);
  const envelope = openEnvelope(cursor, body.length);
  if (!envelope.ok || envelope.kind !== "Status") return null;
  const { message } = readRecord(cursor, envelope.end, statusShape);
  return !cursor.failed && typeof message === "string" ? message.slice(0, 300) : null;
}
