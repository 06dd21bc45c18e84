import { protobufCursor } from "../../../kernel/protobuf.ts";
import { openEnvelope } from "./envelope.ts";
import { readRecord } from "./readRecord.ts";
import { statusShape } from "./shapes.ts";

/** The message of a `Status` in protobuf, cut to what is shown; `null` if it has none that can be read. */
export function readStatusMessage(body: Uint8Array): string | null {
  const cursor = protobufCursor(body);
  const envelope = openEnvelope(cursor, body.length);
  if (!envelope.ok || envelope.kind !== "Status") return null;
  const { message } = readRecord(cursor, envelope.end, statusShape);
  return !cursor.failed && typeof message === "string" ? message.slice(0, 300) : null;
}
