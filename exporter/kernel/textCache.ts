/** Returns the text of some bytes; it is the same string for bytes that were seen lately. */
export type TextCache = (bytes: Buffer, start: number, end: number) => string;

const maxCachedBytes = 64;
const firstHash = 0x811c9dc5;
const hashPrime = 0x01000193;
/** The number of bytes at either end that make the hash: names differ there. */
const hashedBytes = 12;

/**
 * Creates a cache, so that texts that are in many objects (namespaces, node names, keys of labels) are made once and shared. It
 * has a fixed number of places (a power of two), and a text replaces another one with the same hash: hostile text can make it
 * slow, but not large. Long texts and those that are not ASCII are not kept.
 */
export function createTextCache(places = 16_384): TextCache {
  const cached: string[] = new Array(places).fill("");
  const mask = places - 1;
  return (bytes, start, end) => {
    const length = end - start;
    if (length === 0) return "";
    if (length > maxCachedBytes) return bytes.toString("utf8", start, end);
    const place = hashOf(bytes, start, end) & mask;
    const known = cached[place] ?? "";
    if (known.length === length && equals(known, bytes, start)) return known;
    if (!isAscii(bytes, start, end)) return bytes.toString("utf8", start, end);
    const text = bytes.toString("latin1", start, end);
    cached[place] = text;
    return text;
  };
}

function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = firstHash ^ (end - start);
  const firstEnd = Math.min(end, start + hashedBytes);
  for (let at = start; at < firstEnd; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), hashPrime);
  for (let at = Math.max(firstEnd, end - hashedBytes); at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), hashPrime);
  }
  return hash ^ (hash >>> 15);
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if ((bytes[at] ?? 0) > 0x7f) return false;
  return true;
}

function equals(text: string, bytes: Buffer, start: number): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
