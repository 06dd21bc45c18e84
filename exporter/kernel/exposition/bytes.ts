/** The bytes that have a meaning in the exposition format. */
export const byte = {
  tab: 0x09,
  newline: 0x0a,
  carriageReturn: 0x0d,
  blank: 0x20,
  quote: 0x22,
  hash: 0x23,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  equals: 0x3d,
  backslash: 0x5c,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const nameStart = 1;
const nameRest = 2;
const metricOnly = 4;

/** The class of every byte, as bits: it may begin a name, may continue one, or is allowed only in metric names (`:`). */
const classes = new Uint8Array(256);
for (const letter of "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
  classes[letter.charCodeAt(0)] = nameStart | nameRest;
for (const digit of "0123456789") classes[digit.charCodeAt(0)] = nameRest;
classes[":".charCodeAt(0)] = metricOnly;

/** The end (exclusive) of the label name that begins at `at`; `at` itself when there is none. */
export function endOfLabelName(bytes: Uint8Array, at: number, end: number): number {
  return endOfName(bytes, at, end, nameStart, nameRest);
}

/** The end (exclusive) of the metric name that begins at `at`; `at` itself when there is none. */
export function endOfMetricName(bytes: Uint8Array, at: number, end: number): number {
  return endOfName(bytes, at, end, nameStart | metricOnly, nameRest | metricOnly);
}

function endOfName(bytes: Uint8Array, at: number, end: number, first: number, rest: number): number {
  if (at >= end || !((classes[bytes[at] ?? 0] ?? 0) & first)) return at;
  let next = at + 1;
  while (next < end && (classes[bytes[next] ?? 0] ?? 0) & rest) next += 1;
  return next;
}

/** The first position at or after `at` that is not a blank, tab or carriage return. */
export function skipBlanks(bytes: Uint8Array, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const value = bytes[next];
    if (value !== byte.blank && value !== byte.tab && value !== byte.carriageReturn) break;
    next += 1;
  }
  return next;
}

/** Whether two ranges of one buffer hold the same bytes. */
export function isSameRange(view: DataView, one: number, other: number, length: number): boolean {
  return isSameBytes(view, one, view, other, length);
}

/**
 * Whether `length` bytes at `from` in one buffer are equal to those at `otherFrom` in another. Eight bytes are compared at a
 * time: for names and label blocks of 30 to 400 bytes, this is faster than a call into native code and than floats or 32-bit
 * integers. No big integers are made, because the compiler compares the machine words.
 */
export function isSameBytes(view: DataView, from: number, other: DataView, otherFrom: number, length: number): boolean {
  const last = length - 8;
  if (last < 0) {
    for (let offset = 0; offset < length; offset += 1)
      if (view.getUint8(from + offset) !== other.getUint8(otherFrom + offset)) return false;
    return true;
  }
  // Comparing two words in each turn takes a twentieth less time for whole pages.
  let offset = 0;
  for (; offset < last - 8; offset += 16) {
    if (view.getBigUint64(from + offset, true) !== other.getBigUint64(otherFrom + offset, true)) return false;
    if (view.getBigUint64(from + offset + 8, true) !== other.getBigUint64(otherFrom + offset + 8, true)) return false;
  }
  if (offset < last && view.getBigUint64(from + offset, true) !== other.getBigUint64(otherFrom + offset, true))
    return false;
  // The last eight bytes may overlap those before, which is cheaper than up to seven single bytes.
  return view.getBigUint64(from + last, true) === other.getBigUint64(otherFrom + last, true);
}

/** A hash with few collisions for the bytes of a short name; `hashOfName` gives the same hash for the name as text. */
export function hashOfRange(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash;
}

/** The hash that `hashOfRange` gives for an ASCII name. */
export function hashOfName(name: string): number {
  return hashOfRange(Buffer.from(name, "latin1"), 0, name.length);
}

/** Whether a range spells an ASCII name. */
export function spells(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let offset = 0; offset < name.length; offset += 1)
    if (bytes[from + offset] !== name.charCodeAt(offset)) return false;
  return true;
}
