import type { IdleKind } from "../../model/idleKinds.ts";
/** One idle node. */
export interface IdleNode {
  /** Index into `Snapshot.nodes`. */
  readonly node: number;
  readonly kind: IdleKind;
  /** Kept ready on purpose (a label of `idle.warmPools`): counted apart, never called waste. */
  readonly isWarmPool: boolean;
  /** Since when it has been idle of this kind without a break, seconds since the epoch. */
  readonly since: number;
}

/** Nodes that serve nobody, or nothing, at one moment. */
export interface IdleNodes {
  /** By index of node. */
  readonly nodes: readonly IdleNode[];
  /** Since when, by `kind/node`: what the next moment must know. */
  readonly since: ReadonlyMap<string, number>;
  /** Nodes that are kept ready on purpose, idle or not; indices into `Snapshot.nodes`. */
  readonly warm: ReadonlySet<number>;
}

/** A moment without an idle node. */
export const noIdleNodes: IdleNodes = { nodes: [], since: new Map(), warm: new Set() };
