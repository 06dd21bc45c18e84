import { createHmac } from "node:crypto";

/** Replaces names by pseudonyms; the same name always gets the same pseudonym. */
export interface Pseudonyms {
  /**
   * The pseudonym of a name of one or many parts. The pseudonyms of `search-train/ranker-x2x4z` and `ranker-x2x4z` have the
   * second half in common.
   */
  readonly ofName: (name: string) => string;
  /** A text with every UUID in it replaced. */
  readonly withoutUuids: (text: string) => string;
}

/** Letters that Kubernetes makes suffixes of. Words with vowels are never taken for a suffix (`stemOfName`). */
const suffixLetters = "bcdfghjklmnpqrstvwxz2456789";
const generated = /^[bcdfghjklmnpqrstvwxz2456789]{5,10}$/;
const digits = /^\d+$/;
const digest = /^(?=.*\d)[0-9a-f]{8,64}$/;
/** A UUID, with the prefix that NVIDIA puts before it. */
const uuid =
  /(?<![0-9a-z])(?:GPU-|MIG-GPU-|MIG-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])/gi;
const [consonants, vowels] = ["bdfgklmnprstvz", "aeiou"];
const uuidLength = 36;
/**
 * The fewest syllables of a pseudonym; a syllable has two letters. A name whose pseudonym is already taken gets a longer one.
 */
const fewestSyllables = 3;

/** Creates pseudonyms by a keyed hash. The salt is not kept, and without it no name can be found by trying. */
export function createPseudonyms(salt: Buffer): Pseudonyms {
  const words = new Map<string, string>();
  const taken = new Set<string>();
  const bytesOf = (text: string): Buffer => createHmac("sha256", salt).update(text).digest();

  const wordOf = (part: string): string => {
    const known = words.get(part);
    if (known !== undefined) return known;
    const bytes = bytesOf(part);
    let syllables = fewestSyllables;
    let word = syllablesOf(bytes, syllables);
    while (taken.has(word)) word = syllablesOf(bytes, ++syllables);
    taken.add(word);
    words.set(part, word);
    return word;
  };

  /** A suffix that a machine put behind a name stays recognizable as one, so that names keep what they have in common. */
  const ofPart = (part: string, i: number, isAfterSuffix: boolean): string => {
    if (part === "" || (isAfterSuffix && digits.test(part))) return part;
    if (i > 0 && generated.test(part)) return letters(bytesOf(part), part.length, suffixLetters);
    if (i > 0 && digest.test(part)) return `0${letters(bytesOf(part), part.length - 1, "0123456789abcdef")}`;
    return wordOf(part);
  };

  const ofRun = (run: string): string => {
    let isAfter = false;
    const parts = run.split("-").map((part, i) => {
      const made = ofPart(part, i, isAfter);
      isAfter = i > 0 && (generated.test(part) || digest.test(part) || (isAfter && digits.test(part)));
      return made;
    });
    return parts.join("-");
  };

  const withoutUuids = (text: string): string =>
    text.replace(uuid, (found) => {
      const hex = bytesOf(found.slice(-uuidLength).toLowerCase()).toString("hex");
      const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)];
      return found.slice(0, -uuidLength) + groups.join("-");
    });

  /** Replaces UUIDs as such, and everything else run by run; a run consists of letters, digits and dashes. */
  const ofName = (name: string): string => {
    const pieces: string[] = [];
    let at = 0;
    for (const { 0: found, index } of name.matchAll(uuid)) {
      pieces.push(runsOf(name.slice(at, index), ofRun), withoutUuids(found));
      at = index + found.length;
    }
    return [...pieces, runsOf(name.slice(at), ofRun)].join("");
  };

  return { ofName, withoutUuids };
}

const runsOf = (text: string, replace: (run: string) => string): string => text.replace(/[\p{L}\p{N}-]+/gu, replace);

function syllablesOf(bytes: Buffer, count: number): string {
  const syllable = (i: number): string =>
    letters(bytes.subarray(2 * i), 1, consonants) + letters(bytes.subarray(2 * i + 1), 1, vowels);
  return Array.from({ length: count }, (_, i) => syllable(i % (bytes.length / 2))).join("");
}

function letters(bytes: Buffer, count: number, alphabet: string): string {
  return Array.from({ length: count }, (_, i) => alphabet[(bytes[i % bytes.length] ?? 0) % alphabet.length]).join("");
}
