import type { NodeTimeState } from "../model/idleKinds.ts";

/** The states of nodes that are kept when they lasted long; of idle nodes, those that are not kept ready on purpose. */
export const nodeStreakStates = [
  "idle_unallocated",
  "idle_allocated",
  "cordoned",
  "not_ready",
] as const satisfies readonly NodeTimeState[];

export type NodeStreakState = (typeof nodeStreakStates)[number];

/** A node that was in one state for an hour at least, without a break. Node and `begins` (seconds since the epoch) name it. */
export interface NodeStreak {
  readonly node: string;
  readonly nodePool: string;
  /** The first of a node that has several. */
  readonly pool: string;
  readonly state: NodeStreakState;
  /** Physical GPUs; `null` when nobody knows how many. */
  readonly gpus: number | null;
  /** The first moment at which it was seen so. */
  readonly begins: number;
  /** The first at which it was not, or the last one that was seen; `null` while it lasts. */
  readonly ends: number | null;
}
