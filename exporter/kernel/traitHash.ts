/**
 * A number that represents the properties of something. It is whole, below 2 ** 53, and almost certainly different for
 * different properties. It is the same on every machine and in every run, but nothing that is stored may depend on it.
 */
export type TraitHash = number;

const two32 = 2 ** 32;
const high = (hash: TraitHash): number => Math.floor(hash / two32);

/** The hash of two hashes, which depends on their order (the finish of MurmurHash3, over two halves). */
export function mix(a: TraitHash, b: TraitHash): TraitHash {
  const [one, other] = [a | 0, high(a)];
  let low = Math.imul(one ^ (b | 0), 0x9e3779b1) ^ other;
  let top = Math.imul(other ^ high(b) ^ (b | 0), 0x5f356495) ^ one;
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(top ^ (top >>> 13), 0xc2b2ae35);
  top = Math.imul(top ^ (top >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (top & 0x1fffff) * two32 + (low >>> 0);
}

/** The hash of two hashes, which does not depend on their order, so that the hashes of many things can be added up. */
export const together = (a: TraitHash, b: TraitHash): TraitHash =>
  ((high(a) + high(b)) & 0x1fffff) * two32 + (((a >>> 0) + (b >>> 0)) >>> 0);

/** The hash of a text. */
export function hashOf(text: string): TraitHash {
  let [low, top] = [text.length, 7];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    top = Math.imul(top ^ unit, 0x5f356495);
  }
  return mix((top & 0x1fffff) * two32 + (low >>> 0), 4);
}
