import { createTupleInterner, type TuplePart } from "../../kernel/tupleInterner.ts";

/** Gives each distinct tuple an index, and keeps their parts one after the other. */
export interface TupleList {
  readonly parts: TuplePart[];
  indexOf(tuple: readonly TuplePart[]): number;
}

export function createTupleList(): TupleList {
  const interner = createTupleInterner();
  const parts: TuplePart[] = [];
  return {
    parts,
    indexOf(tuple) {
      const known = interner.size();
      const id = interner.idOf(tuple);
      if (id === known) parts.push(...tuple);
      return id;
    },
  };
}

/** Cuts a list of parts into tuples. */
export function tuples(parts: readonly TuplePart[], length: number): readonly (readonly TuplePart[])[] {
  return Array.from({ length: parts.length / length }, (_, i) => parts.slice(i * length, (i + 1) * length));
}
