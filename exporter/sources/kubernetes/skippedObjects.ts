import type { Problem } from "../../model/problem.ts";

/** Objects that could not be decoded, by uid. Everything is counted, only the first ones are reported. */
export interface SkippedObjects {
  readonly size: number;
  problems(): readonly Problem[];
  add(uid: string, problem: Problem): void;
  remove(uid: string): void;
}

const maxReported = 100;

export function createSkippedObjects(): SkippedObjects {
  const byUid = new Map<string, Problem | null>();
  let reported = 0;
  return {
    get size() {
      return byUid.size;
    },
    problems: () => [...byUid.values()].filter((problem) => problem !== null),
    add: (uid, problem) => {
      const before = byUid.get(uid);
      if (before) reported -= 1;
      const isReported = reported < maxReported;
      if (isReported) reported += 1;
      byUid.set(uid, isReported ? problem : null);
    },
    remove: (uid) => {
      if (byUid.get(uid)) reported -= 1;
      byUid.delete(uid);
    },
  };
}
