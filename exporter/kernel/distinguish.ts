import { compareText } from "./compareText.ts";
import { mix, type TraitHash, together } from "./traitHash.ts";

/** Things that have something to do with each other, by index. */
export interface LinkedThings {
  /** What each is by itself. */
  readonly traits: Float64Array;
  /**
   * The things related to a thing, each followed by the kind of the relation (`hashOf`). Both sides know of it. `null`:
   * relations are not examined, and names decide at once.
   */
  readonly linksOf: ((thing: number) => readonly number[]) | null;
  /** Of things that differ in this (0, 1, 2, ...) those with the lowest are distinguished by name before any others. */
  readonly rankOf: (thing: number) => number;
  /** Decides between things that nothing else distinguishes. */
  readonly nameOf: (thing: number) => string;
}

/** Decides which of two things comes first; 0 only for the same thing. */
export type InOrder = (one: number, other: number) => number;

/**
 * Puts things in an order that follows from what they are, from what the related things are, and so on (colour refinement:
 * Weisfeiler and Leman 1968; only what changed is looked at again, as Hopcroft 1971). Where that leaves several alike, the
 * first by name comes first, and after it everything that this distinguishes in its turn: so what belongs together is named
 * together. Other names exchange only things that this method cannot distinguish: those in the same position, with as many of
 * the same around each of them.
 */
export function distinguish(things: LinkedThings): InOrder {
  const { traits, linksOf, nameOf } = things;
  if (linksOf === null) {
    const names: string[] = [];
    const named = (thing: number): string => {
      names[thing] ??= nameOf(thing);
      return names[thing];
    };
    return (a, b) => (traits[a] ?? 0) - (traits[b] ?? 0) || compareText(named(a), named(b));
  }
  const hashes = Float64Array.from(traits);
  const tied = tiedOf(hashes);
  const search: Search = {
    ...things,
    linksOf,
    hashes,
    tied,
    queues: [],
    places: new Map(),
    rounds: 0,
  };
  enqueue(search, [...tied.keys()]);
  refine(search, new Set([...tied.values()].flatMap((members) => [...members])));
  const unnamed = Float64Array.from(hashes);
  search.places.clear();
  for (let hash = nextOf(search); hash !== undefined; hash = nextOf(search)) {
    const named = namesFirst(search, hash);
    for (const first of named) {
      const members = tied.get(hash);
      if (members === undefined) break;
      if (hashes[first] !== hash) continue;
      search.rounds += 1;
      const changed = recolor(search, hash, [first], mix(hash, search.rounds));
      refine(search, changed);
    }
  }
  const placeOf = (thing: number): number => search.places.get(hashes[thing] ?? 0) ?? 0;
  return (a, b) => (unnamed[a] ?? 0) - (unnamed[b] ?? 0) || placeOf(a) - placeOf(b);
}

interface Search extends LinkedThings {
  readonly linksOf: NonNullable<LinkedThings["linksOf"]>;
  readonly hashes: Float64Array;
  /** Things that have the same hash, by it; hashes of one thing alone are left out. */
  readonly tied: Map<TraitHash, Set<number>>;
  /** Hashes of things that are to be distinguished by name, if nothing else does before; by `rankOf`. */
  readonly queues: TraitHash[][];
  /** By hash: how many come before it, counted among those that were alike before any was named. */
  readonly places: Map<TraitHash, number>;
  rounds: number;
}

/** In an order that no name decides. */
function enqueue({ tied, queues, rankOf }: Search, fresh: readonly TraitHash[]): void {
  for (const hash of fresh.toSorted(ascending)) {
    const [first = 0] = tied.get(hash) ?? [];
    const rank = rankOf(first);
    while (queues.length <= rank) queues.push([]);
    queues[rank]?.push(hash);
  }
}

const nextOf = ({ queues }: Search): TraitHash | undefined => queues.find((queue) => queue.length > 0)?.shift();

const ascending = (a: number, b: number): number => a - b;

function tiedOf(hashes: Float64Array): Map<TraitHash, Set<number>> {
  const inOrder = hashes.toSorted();
  const twice = new Set<TraitHash>();
  for (let i = 1; i < inOrder.length; i += 1) if (inOrder[i] === inOrder[i - 1]) twice.add(inOrder[i] ?? 0);
  const tied = new Map<TraitHash, Set<number>>();
  if (twice.size === 0) return tied;
  for (const [thing, hash] of hashes.entries()) {
    if (!twice.has(hash)) continue;
    const known = tied.get(hash);
    if (known === undefined) tied.set(hash, new Set([thing]));
    else known.add(thing);
  }
  return tied;
}

function namesFirst({ tied, nameOf }: Search, hash: TraitHash): readonly number[] {
  const named = [...(tied.get(hash) ?? [])].map((thing) => ({ thing, name: nameOf(thing) }));
  return named.sort((a, b) => compareText(a.name, b.name)).map(({ thing }) => thing);
}

/** Examines things again whose relations have changed, until nothing more is distinguished. */
function refine(search: Search, first: ReadonlySet<number>): void {
  const { hashes, tied } = search;
  const stillTied = (things: Iterable<number>) => [...things].filter((thing) => tied.has(hashes[thing] ?? 0));
  for (let changed = stillTied(first); changed.length > 0; ) {
    search.rounds += 1;
    const splits: { readonly hash: TraitHash; readonly parts: readonly Part[] }[] = [];
    for (const [hash, members] of Map.groupBy(changed, (thing) => hashes[thing] ?? 0)) {
      const all = tied.get(hash);
      if (all !== undefined) splits.push({ hash, parts: partsOf(search, all, members) });
    }
    const next = new Set<number>();
    const fresh: TraitHash[] = [];
    for (const { hash, parts } of splits) {
      const inOrder = parts.toSorted((a, b) => b.size - a.size || a.around - b.around);
      // The largest keeps its hash: what has to do with that alone need not be looked at again.
      for (const { around, size, members } of inOrder.slice(1)) {
        const own = mix(mix(hash, around), search.rounds);
        for (const one of recolor(search, hash, members(), own)) next.add(one);
        if (size > 1) fresh.push(own);
      }
    }
    enqueue(search, fresh);
    changed = stillTied(next);
  }
}

/** Things of one hash with the same around them. */
interface Part {
  readonly around: TraitHash;
  readonly size: number;
  readonly members: () => readonly number[];
}

function partsOf(search: Search, all: ReadonlySet<number>, changed: readonly number[]): readonly Part[] {
  const byAround = new Map<TraitHash, number[]>();
  for (const thing of changed) {
    const around = aroundOf(search, thing);
    const known = byAround.get(around);
    if (known === undefined) byAround.set(around, [thing]);
    else known.push(thing);
  }
  const looked = new Set(changed);
  const unchanged = all.size - looked.size;
  // For all others nothing around them has changed: one of them represents them.
  const other = unchanged === 0 ? undefined : firstOf(all, (thing) => !looked.has(thing));
  const same = other === undefined ? null : aroundOf(search, other);
  if (same !== null && !byAround.has(same)) byAround.set(same, []);
  return [...byAround].map(([around, members]) =>
    around === same
      ? {
          around,
          size: members.length + unchanged,
          members: () => [...all].filter((one) => !looked.has(one) || members.includes(one)),
        }
      : { around, size: members.length, members: () => members },
  );
}

function firstOf(all: Iterable<number>, is: (thing: number) => boolean): number | undefined {
  for (const thing of all) if (is(thing)) return thing;
  return undefined;
}

function aroundOf(search: Search, thing: number): TraitHash {
  const links = search.linksOf(thing);
  let around: TraitHash = links.length;
  for (let i = 0; i < links.length; i += 2)
    around = together(around, mix(search.hashes[links[i] ?? 0] ?? 0, links[i + 1] ?? 0));
  return around;
}

/** Gives things a hash of their own; those of their neighbours that are not yet distinguished. */
function recolor(search: Search, hash: TraitHash, members: readonly number[], own: TraitHash): ReadonlySet<number> {
  const { hashes, tied, places, linksOf } = search;
  const before = tied.get(hash);
  const place = places.get(hash) ?? 0;
  places.set(own, place);
  places.set(hash, place + members.length);
  for (const thing of members) {
    before?.delete(thing);
    hashes[thing] = own;
  }
  if (before !== undefined && before.size < 2) tied.delete(hash);
  if (members.length > 1) tied.set(own, new Set(members));
  const changed = new Set<number>();
  for (const thing of members) {
    const links = linksOf(thing);
    for (let i = 0; i < links.length; i += 2) {
      const other = links[i] ?? 0;
      if (tied.has(hashes[other] ?? 0)) changed.add(other);
    }
  }
  return changed;
}
