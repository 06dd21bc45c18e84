import type { IdleKind, NodeTimeState } from "../model/idleKinds.ts";

/** The states in which the time of idle nodes is counted. */
export const idleNodeStates = [
  "idle_unallocated",
  "idle_allocated",
  "warm_unallocated",
  "warm_allocated",
] as const satisfies readonly NodeTimeState[];

export type IdleNodeState = (typeof idleNodeStates)[number];

/** The kind of an idle node, as a state of its time shows it. */
export interface IdleNodeClass {
  readonly kind: IdleKind;
  readonly isWarmPool: boolean;
}

/** Kind and warm pool of each state of idle nodes. */
export const idleNodeClasses: Readonly<Record<IdleNodeState, IdleNodeClass>> = {
  idle_unallocated: { kind: "unallocated", isWarmPool: false },
  idle_allocated: { kind: "allocated", isWarmPool: false },
  warm_unallocated: { kind: "unallocated", isWarmPool: true },
  warm_allocated: { kind: "allocated", isWarmPool: true },
};

/** The state in which the time of an idle node is counted. */
export function idleNodeState(kind: IdleKind, isWarmPool: boolean): IdleNodeState {
  return `${isWarmPool ? "warm" : "idle"}_${kind}`;
}

/** Whether node time in this state is the time of an idle node. */
export function isIdleNodeState(state: string): state is IdleNodeState {
  return Object.hasOwn(idleNodeClasses, state);
}
