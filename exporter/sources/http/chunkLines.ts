import type { AttemptFailure } from "./getResult.ts";
import { maxSectionBytes, notHttp, tooLarge } from "./limits.ts";
import type { ResponseReading } from "./responseReading.ts";

/** The most digits of a chunk's size: a number with more would exceed any cap. */
const maxDigits = 12;
const lineFeed = 10;
const carriageReturn = 13;
const semicolon = 59;
const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const quoted = '"(?:[\\t\\x20!\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
/** The extensions of RFC 9112 7.1.1, without the blanks that it advises against. */
const extensions = new RegExp(`^(?:;${token}(?:=(?:${token}|${quoted}))?)*$`);

/**
 * Takes in a byte of the line before a chunk (its size, in hexadecimal, and extensions, which are skipped) or of the
 * line end after it (RFC 9112 7.1); returns what is wrong with it.
 */
export function takeChunkLine(reading: ResponseReading, value: number): AttemptFailure | null {
  switch (reading.place) {
    case "chunkSize":
      return takeSize(reading, value);
    case "chunkExtension":
      return takeExtension(reading, value);
    case "chunkSizeEnd":
      return value === lineFeed ? startChunk(reading) : notHttp("a chunk's line does not end with CR LF");
    default:
      return takeEnd(reading, value);
  }
}

function takeSize(reading: ResponseReading, value: number): AttemptFailure | null {
  const digit = hexDigit(value);
  if (digit >= 0) {
    reading.left = reading.left * 16 + digit;
    reading.digits += 1;
    return reading.digits > maxDigits ? notHttp("a chunk's size is too long") : null;
  }
  const isEnd = value === carriageReturn || value === semicolon;
  if (reading.digits === 0 || !isEnd) return notHttp("a chunk's size is malformed");
  if (value === carriageReturn) reading.place = "chunkSizeEnd";
  else {
    reading.place = "chunkExtension";
    reading.section = ";";
  }
  return null;
}

function takeExtension(reading: ResponseReading, value: number): AttemptFailure | null {
  if (value === carriageReturn) {
    reading.place = "chunkSizeEnd";
    return extensions.test(reading.section) ? null : notHttp("a chunk's extension is malformed");
  }
  reading.overhead += 1;
  reading.section += String.fromCharCode(value);
  return reading.overhead > maxSectionBytes ? notHttp("its chunk extensions are too large") : null;
}

function startChunk(reading: ResponseReading): AttemptFailure | null {
  const { limits, left, refusal, size } = reading;
  reading.digits = 0;
  reading.place = left === 0 ? "trailers" : "chunk";
  reading.section = left === 0 ? "\r\n" : "";
  return refusal === null && size + left > limits.maxBytes ? tooLarge(limits.maxBytes) : null;
}

function takeEnd(reading: ResponseReading, value: number): AttemptFailure | null {
  if (value !== (reading.digits === 0 ? carriageReturn : lineFeed)) return notHttp("a chunk is longer than it says");
  reading.digits += 1;
  if (value !== lineFeed) return null;
  reading.digits = 0;
  reading.place = "chunkSize";
  return null;
}

function hexDigit(value: number): number {
  if (value >= 48 && value <= 57) return value - 48;
  const lower = value | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
