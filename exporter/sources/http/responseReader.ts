import { takeChunkLine } from "./chunkLines.ts";
import { type AttemptFailure, attemptFailure } from "./getResult.ts";
import { keepsBodyOf, maxSectionBytes, notHttp, refusalOf, tooLarge } from "./limits.ts";
import { areFieldLines, parseResponseHead } from "./responseHead.ts";
import { appendBody, bodyOf, ownBody, type ResponseReading } from "./responseReading.ts";

/** The outcome of some bytes: more are needed, the answer is complete, or it has failed. */
export type ReadingStep = "more" | "done" | AttemptFailure;

/** Position after what was taken in, or what is wrong. */
type Taken = number | AttemptFailure;

const prefix = "HTTP/1.";
const endOfSection = Buffer.from("\r\n\r\n");
/**
 * Takes in the next bytes of a connection that carries one answer. After `done` the body is `bodyOf`, and the connection may
 * carry another answer if `keepsAlive`, which is false where bytes follow the answer's end. How the bytes were cut into pieces
 * does not change the outcome.
 */
export function takeBytes(reading: ResponseReading, bytes: Buffer): ReadingStep {
  reading.hasBegun ||= bytes.length > 0;
  let at = 0;
  while (at < bytes.length && reading.place !== "done") {
    const taken = takeSome(reading, bytes, at);
    if (typeof taken !== "number") return reading.refusal === null ? taken : withBody(reading, reading.refusal);
    at = taken;
  }
  if (reading.place !== "done") {
    ownBody(reading);
    return "more";
  }
  if (at < bytes.length) reading.keepsAlive = false;
  return reading.refusal === null ? "done" : withBody(reading, reading.refusal);
}

/** Reports that no more bytes will come. */
export function endOfBytes(reading: ResponseReading): "done" | AttemptFailure {
  if (reading.refusal !== null) return withBody(reading, reading.refusal);
  if (reading.place === "close") return "done";
  return attemptFailure("reset", "the connection was cut before the answer was complete");
}

function takeSome(reading: ResponseReading, bytes: Buffer, at: number): Taken {
  switch (reading.place) {
    case "head":
    case "trailers":
      return takeSection(reading, bytes, at);
    case "length":
    case "close":
    case "chunk":
      return takeBody(reading, bytes, at);
    default:
      return takeChunkLine(reading, bytes[at] ?? 0) ?? at + 1;
  }
}

/** Takes in lines up to a blank one. */
function takeSection(reading: ResponseReading, bytes: Buffer, at: number): Taken {
  const known = reading.section.length;
  const found = known === 0 ? bytes.indexOf(endOfSection, at) : -1;
  const to = Math.min(found < 0 ? bytes.length : found, at + maxSectionBytes);
  const text = reading.section + bytes.toString("latin1", at, to);
  if (reading.place === "head" && !text.startsWith(prefix.slice(0, text.length))) {
    return notHttp("it does not begin as HTTP/1 does");
  }
  const end = found >= 0 ? found - at : text.indexOf("\r\n\r\n", Math.max(0, known - 3));
  const length = end < 0 ? text.length : end + endOfSection.length;
  const isTooLarge = reading.overhead + length > maxSectionBytes;
  if ((end < 0 || isTooLarge) && /[^\r]\n|\r[^\n]/.test(text)) return notHttp("a line does not end with CR LF");
  if (isTooLarge) return attemptFailure("too_large", "the answer's headers are too large");
  reading.section = end < 0 ? text : "";
  if (end < 0) return to;
  reading.overhead += length;
  const fault =
    reading.place === "head" ? takeHead(reading, text.slice(0, end)) : takeTrailers(reading, text.slice(2, end));
  return fault ?? at + length - known;
}

function takeHead(reading: ResponseReading, text: string): AttemptFailure | null {
  const { limits } = reading;
  const head = parseResponseHead(text);
  if (typeof head === "string") return notHttp(head);
  if (head.status === 101) return notHttp("it changes the protocol, which nobody asked for");
  if (head.status < 200) return null;
  const refusal = refusalOf(head.status, head.contentEncoding, head.length, limits.maxBytes);
  if (refusal !== null && !keepsBodyOf(refusal, limits)) return refusal;
  reading.refusal = refusal;
  reading.keepsAlive = head.keepsAlive;
  reading.overhead = 0;
  reading.left = head.length;
  reading.place = head.framing === "chunked" ? "chunkSize" : head.framing;
  if (head.framing === "length" && head.length === 0) reading.place = "done";
  return null;
}

function takeTrailers(reading: ResponseReading, text: string): AttemptFailure | null {
  if (!areFieldLines(text)) return notHttp("a trailer is malformed");
  reading.place = "done";
  return null;
}

function takeBody(reading: ResponseReading, bytes: Buffer, at: number): Taken {
  const { limits, refusal } = reading;
  const isBounded = reading.place !== "close";
  const here = isBounded ? Math.min(bytes.length - at, reading.left) : bytes.length - at;
  const left = (refusal === null ? limits.maxBytes : (limits.errorBytes ?? 0)) - reading.size;
  if (refusal === null && here > left) return tooLarge(limits.maxBytes);
  const to = at + Math.min(here, left);
  appendBody(reading, bytes, at, to);
  if (isBounded) reading.left -= to - at;
  if (isBounded && reading.left === 0) reading.place = reading.place === "length" ? "done" : "chunkEnd";
  else if (refusal !== null && here >= left) reading.place = "done";
  return to;
}

/** The refusal with the body of the error as text, as far as it was received. */
function withBody(reading: ResponseReading, refusal: AttemptFailure): AttemptFailure {
  reading.keepsAlive = false;
  return { ...refusal, body: bodyOf(reading).toString("utf8") };
}
