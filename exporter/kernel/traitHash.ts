/**
 * Numbers that represent what things are: whole, below 2 ** 53, and all but surely different for what is different. They are
 * the same on every machine and in every run; nothing that is kept may rest on them all the same.
 */
export type TraitHash = number;

/** What a hash can be made of; absent is the same as `null`. */
export type Trait = string | number | boolean | null | undefined;

const two32 = 2 ** 32;
const high = (hash: TraitHash): number => Math.floor(hash / two32);

/** Of two hashes, where it matters which of them comes first (the finish of MurmurHash3, over two halves). */
export function mix(a: TraitHash, b: TraitHash): TraitHash {
  const [one, other] = [a | 0, high(a)];
  let low = Math.imul(one ^ (b | 0), 0x9e3779b1) ^ other;
  let top = Math.imul(other ^ high(b) ^ (b | 0), 0x5f356495) ^ one;
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(top ^ (top >>> 13), 0xc2b2ae35);
  top = Math.imul(top ^ (top >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return (top & 0x1fffff) * two32 + (low >>> 0);
}

/** Of two hashes, whichever comes first: so those of many things are added up. */
export const together = (a: TraitHash, b: TraitHash): TraitHash =>
  ((high(a) + high(b)) & 0x1fffff) * two32 + (((a >>> 0) + (b >>> 0)) >>> 0);

const number = new Float64Array(1);
const halves = new Uint32Array(number.buffer);

/** Few texts are what many things are; they are forgotten all at once when they grow many. */
const mostTexts = 10_000;
const texts = new Map<string, TraitHash>();

/** Of some traits in their order. */
export function hashOf(...traits: readonly Trait[]): TraitHash {
  let hash = traits.length;
  for (const trait of traits) hash = mix(hash, hashOfOne(trait ?? null));
  return hash;
}

function hashOfOne(trait: string | number | boolean | null): TraitHash {
  if (trait === null) return 1;
  if (typeof trait === "boolean") return trait ? 3 : 2;
  if (typeof trait === "number") {
    number[0] = trait === 0 ? 0 : trait;
    return mix(5 * two32 + (halves[0] ?? 0), halves[1] ?? 0);
  }
  const known = texts.get(trait);
  if (known !== undefined) return known;
  if (texts.size >= mostTexts) texts.clear();
  const hash = hashOfText(trait);
  texts.set(trait, hash);
  return hash;
}

function hashOfText(text: string): TraitHash {
  let [low, top] = [text.length, 7];
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    low = Math.imul(low ^ unit, 0x9e3779b1);
    top = Math.imul(top ^ unit, 0x5f356495);
  }
  return mix((top & 0x1fffff) * two32 + (low >>> 0), 4);
}

/** A hash that is worked out once for each object, which never changes: most are the same ones in the next cycle. */
export function hashedOnce<Item extends object>(hash: (item: Item) => TraitHash): (item: Item) => TraitHash {
  const known = new WeakMap<Item, TraitHash>();
  return (item) => {
    const before = known.get(item);
    if (before !== undefined) return before;
    const made = hash(item);
    known.set(item, made);
    return made;
  };
}
