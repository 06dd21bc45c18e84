import { byte, skipBlanks } from "./bytes.ts";
import { readDecimal } from "./decimal.ts";

/** The longest line that is read, in bytes; a longer one is malformed. */
export const maxLineBytes = 65_536;

/** The most bytes of an ordinary line after its labels: a value, and perhaps a time stamp. */
export const maxExpectedTail = 64;

/**
 * The value of a sample whose name and labels end at `from`; `NaN` where it is not a finite number, `null` where the rest of
 * the line is malformed.
 */
export function readSampleValue(bytes: Buffer, from: number, lineEnd: number): number | null {
  const start = skipBlanks(bytes, from, lineEnd);
  const end = endOfToken(bytes, start, lineEnd);
  if (end === start) return null;
  const value = readDecimal(bytes, start, end);
  return Number.isNaN(value) || isEndOfSample(bytes, end, lineEnd) ? value : null;
}

/** The position of the newline that ends an ordinary line; -1 when it is not near. */
export function nearNewline(bytes: Buffer, from: number): number {
  const searchEnd = Math.min(bytes.length, from + maxExpectedTail);
  for (let at = from; at < searchEnd; at += 1) if (bytes[at] === byte.newline) return at;
  return -1;
}

function endOfToken(bytes: Buffer, from: number, lineEnd: number): number {
  let at = from;
  while (at < lineEnd) {
    const value = bytes[at];
    if (value === byte.blank || value === byte.tab || value === byte.carriageReturn) break;
    at += 1;
  }
  return at;
}

/** Whether the line may end like this after the value: with nothing, a time stamp, an exemplar (`# ...`) or both. */
function isEndOfSample(bytes: Buffer, from: number, lineEnd: number): boolean {
  let at = skipBlanks(bytes, from, lineEnd);
  if (at === lineEnd || bytes[at] === byte.hash) return true;
  const end = endOfToken(bytes, at, lineEnd);
  if (Number.isNaN(readDecimal(bytes, at, end))) return false;
  at = skipBlanks(bytes, end, lineEnd);
  return at === lineEnd || bytes[at] === byte.hash;
}
