/** A part of a tuple; `null` is a value of its own. */
export type TuplePart = string | null;

/** Gives each distinct tuple of texts a small integer, counted from 0. All tuples of one interner have the same length. */
export interface TupleInterner {
  idOf(parts: readonly TuplePart[]): number;
  /** The number of distinct tuples that it has seen. */
  size(): number;
}

interface Branch {
  readonly next: Map<TuplePart, Branch>;
  id: number;
}

/** Creates an empty interner. It compares part by part, so that no joined text can make two tuples look alike. */
export function createTupleInterner(): TupleInterner {
  const root: Branch = { next: new Map(), id: -1 };
  let size = 0;
  return {
    idOf(parts) {
      let branch = root;
      for (const part of parts) {
        let next = branch.next.get(part);
        if (next === undefined) {
          next = { next: new Map(), id: -1 };
          branch.next.set(part, next);
        }
        branch = next;
      }
      if (branch.id < 0) {
        branch.id = size;
        size += 1;
      }
      return branch.id;
    },
    size: () => size,
  };
}
