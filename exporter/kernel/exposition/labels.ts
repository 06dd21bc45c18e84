import { byte, endOfLabelName, skipBlanks } from "./bytes.ts";

/** The longest label value (in bytes as written) that is accepted; names of Kubernetes have at most 253. */
export const maxLabelBytes = 4096;

/** Receives one label: where its name is, and where its value is between the quotes, still escaped. */
export type TakeLabel = (nameFrom: number, nameTo: number, valueFrom: number, valueTo: number) => void;

/**
 * Reads the label block whose opening brace is at `open`, at most up to `lineEnd`. Returns the position after the closing
 * brace, or -1 when the block is malformed. Accepts what real pages contain: blanks anywhere between the parts, a comma at the
 * end, a missing comma.
 */
export function readLabels(bytes: Buffer, open: number, lineEnd: number, take: TakeLabel): number {
  let at = skipBlanks(bytes, open + 1, lineEnd);
  while (at < lineEnd && bytes[at] !== byte.closeBrace) {
    at = readLabel(bytes, at, lineEnd, take);
    if (at < 0) return -1;
  }
  return at >= lineEnd ? -1 : at + 1;
}

/** Reads one label and the comma after it. Returns the position after them, or -1 when the label is malformed. */
function readLabel(bytes: Buffer, start: number, lineEnd: number, take: TakeLabel): number {
  const nameEnd = endOfLabelName(bytes, start, lineEnd);
  const equals = skipBlanks(bytes, nameEnd, lineEnd);
  if (nameEnd === start || equals >= lineEnd || bytes[equals] !== byte.equals) return -1;
  const quote = skipBlanks(bytes, equals + 1, lineEnd);
  if (quote >= lineEnd || bytes[quote] !== byte.quote) return -1;
  const closing = endOfValue(bytes, quote + 1, lineEnd);
  if (closing < 0 || closing - quote - 1 > maxLabelBytes) return -1;
  take(start, nameEnd, quote + 1, closing);
  const after = skipBlanks(bytes, closing + 1, lineEnd);
  return after < lineEnd && bytes[after] === byte.comma ? skipBlanks(bytes, after + 1, lineEnd) : after;
}

/** The position of the closing quote; -1 when the line ends before it. */
function endOfValue(bytes: Buffer, from: number, lineEnd: number): number {
  let at = from;
  while (at < lineEnd) {
    const value = bytes[at];
    if (value === byte.quote) return at;
    at += value === byte.backslash ? 2 : 1;
  }
  return -1;
}

/**
 * A label value without the escapes `\\`, `\"` and `\n`. Any other backslash is literal, as in pages that do not escape at all.
 */
export function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\([\\"n])/g, (_match, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
