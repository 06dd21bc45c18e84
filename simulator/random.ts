/** The FNV-1a hash of a text, 32 bit: the same text gives the same number on every machine. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** A ratio in [0, 1) that depends only on the two numbers. It has no state, so any moment can be asked for in any order. */
export function noise(key: number, moment: number): number {
  let x = (key ^ Math.imul(moment | 0, 0x9e3779b1)) >>> 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return ((x ^ (x >>> 16)) >>> 0) / 4294967296;
}

/** A stream of pseudo-random numbers. */
export interface RandomStream {
  /** The next ratio in [0, 1). */
  next(): number;
  /** A whole number in [from, to], both included. */
  between(from: number, to: number): number;
  /** One entry of a list that is not empty. */
  pick<T>(list: readonly [T, ...T[]]): T;
}

/** A stream by Mulberry32: small, fast, and good enough for habits, but not for secrets. */
export function createRandomStream(seed: number): RandomStream {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
  };
}

/**
 * A whole number below 2^32 from a text. FNV alone leaves texts that differ in their last letter close together; this spreads
 * them.
 */
function scattered(text: string, part: number): number {
  return Math.floor(noise(hashText(`${part}/${text}`), part + 1) * 4294967296);
}

/** A text in the shape of a UUID that depends only on `text`. */
export function uuidFrom(text: string): string {
  let hex = "";
  for (let part = 0; part < 4; part++) hex += scattered(text, part).toString(16).padStart(8, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A name suffix as Kubernetes generates them (no vowels). */
export function nameSuffix(text: string, length = 5): string {
  let suffix = "";
  for (let i = 0; i < length; i++) suffix += suffixAlphabet[scattered(text, i) % suffixAlphabet.length];
  return suffix;
}
