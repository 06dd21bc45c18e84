/**
 * What keeps a gang off free GPUs of which there would be enough (the first that, lifted alone, would let it in):
 * `topology`: the queue system's own topology has no place; `mig_geometry`: enough free slices, but no place for the
 * profile; `cpu`, `memory`, `cpu_and_memory`; `model`: the GPUs that are free are of other models than it takes;
 * `selector`: its node selector, affinity or the nodes' taints; `spread`: the free GPUs are scattered over too many nodes.
 */
export const blockers = [
  "topology",
  "mig_geometry",
  "cpu",
  "memory",
  "cpu_and_memory",
  "model",
  "selector",
  "spread",
] as const;

export type Blocker = (typeof blockers)[number];

/** A waiting gang for which enough GPUs are free in its pools, and that fits on no set of nodes. */
export interface BlockedWork {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  /** `kind/namespace/name uid` of the gang: stable while it waits. */
  readonly key: string;
  /** Pools that could serve it. */
  readonly pools: readonly string[];
  /** Physical GPUs that it needs to start, and that are free in its pools. */
  readonly gpus: number;
  readonly freeGpus: number;
  readonly blocker: Blocker;
  /** Since when it has been so without a break, seconds since the epoch. */
  readonly since: number;
  /** For longer than five minutes: it counts in `blockedGpus`. */
  readonly isStanding: boolean;
}

/** Work that is blocked at one moment. */
export interface Blocked {
  readonly work: readonly BlockedWork[];
  /** Since when each is blocked, by `key`: what the next moment must be told. */
  readonly since: ReadonlyMap<string, number>;
}

/** A moment in which nothing is blocked. */
export const nothingBlocked: Blocked = { work: [], since: new Map() };
