import type { NodeTimeState } from "../model/idleKinds.ts";

/** The states of nodes that are kept if they last long; of idle nodes, those that are not kept ready on purpose. */
export const nodeStreakStates = [
  "idle_unallocated",
  "idle_allocated",
  "cordoned",
  "not_ready",
] as const satisfies readonly NodeTimeState[];

export type NodeStreakState = (typeof nodeStreakStates)[number];

/**
 * A node that was in one state for at least an hour without a break. Node and `begins` (seconds since the epoch) identify it.
 */
export interface NodeStreak {
  readonly node: string;
  readonly nodePool: string;
  /** The first pool of a node that has several. */
  readonly pool: string;
  readonly state: NodeStreakState;
  /** Physical GPUs; `null` if unknown. */
  readonly gpus: number | null;
  /** The first moment at which the node was seen in this state. */
  readonly begins: number;
  /**
   * The first moment at which it was seen in another state, or the last one at which it was seen at all; `null` while the
   * streak lasts.
   */
  readonly ends: number | null;
}
