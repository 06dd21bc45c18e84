import type { Blocker } from "../../model/blockers.ts";
import type { Analysis } from "../analysis.ts";

/** Standing blocked work of one pool, by what blocks it. */
export interface BlockedInPool {
  readonly pool: string;
  readonly blocker: Blocker;
  readonly gangs: number;
  /** Physical GPUs that they need to start. */
  readonly gpus: number;
  readonly longestSeconds: number;
}

/** Work that has been blocked for more than five minutes; what several pools could serve counts once, in the first by name. */
export function blockedByPool({ blocked, snapshot }: Pick<Analysis, "blocked" | "snapshot">): readonly BlockedInPool[] {
  const sums = new Map<string, BlockedInPool>();
  for (const { pools, blocker, gpus, since, isStanding } of blocked.work) {
    const pool = [...pools].sort()[0];
    if (!isStanding || pool === undefined) continue;
    const key = `${blocker} ${pool}`;
    const before = sums.get(key) ?? { pool, blocker, gangs: 0, gpus: 0, longestSeconds: 0 };
    const longestSeconds = Math.max(before.longestSeconds, snapshot.at - since);
    sums.set(key, { ...before, gangs: before.gangs + 1, gpus: before.gpus + gpus, longestSeconds });
  }
  return [...sums.values()];
}
