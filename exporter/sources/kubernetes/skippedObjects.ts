import type { Problem } from "../../model/problem.ts";

/** Objects that could not be decoded, by uid. Everything is counted, only the first ones are told of. */
export interface SkippedObjects {
  readonly size: number;
  problems(): readonly Problem[];
  add(uid: string, problem: Problem): void;
  remove(uid: string): void;
}

const maxTold = 100;

export function createSkippedObjects(): SkippedObjects {
  const byUid = new Map<string, Problem | null>();
  let told = 0;
  return {
    get size() {
      return byUid.size;
    },
    problems: () => [...byUid.values()].filter((problem) => problem !== null),
    add: (uid, problem) => {
      const before = byUid.get(uid);
      if (before) told -= 1;
      const isTold = told < maxTold;
      if (isTold) told += 1;
      byUid.set(uid, isTold ? problem : null);
    },
    remove: (uid) => {
      if (byUid.get(uid)) told -= 1;
      byUid.delete(uid);
    },
  };
}
