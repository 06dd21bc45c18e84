import type { ServerMemory } from "./serving/serverMemory.ts";

/** The sources that can count a node's GPUs, the worst first. */
export const countSources = ["instance-type", "resources", "labels", "slices"] as const;

export type CountSource = (typeof countSources)[number];

/** What was known of a node's GPUs while its boot id stayed: they never become fewer. */
export interface NodeMemory {
  readonly bootId: string;
  readonly physicalGpus: number;
  /** The source that counted them; a better one may correct the number downwards. */
  readonly countedBy: CountSource;
  readonly models: readonly string[];
  /** UUIDs seen since the boot. */
  readonly uuids: readonly string[];
}

/**
 * What one cycle must hand to the next; data in and out of the join, and what must survive a restart.
 * Times are seconds since the epoch. Keys: device = `node/UUID` or `node/UUID/GPU_I_ID`; pod = uid.
 */
export interface Memory {
  readonly nodes: ReadonlyMap<string, NodeMemory>;
  /** What the counters of servers last read, by uid of their pod. */
  readonly servers: ReadonlyMap<string, ServerMemory>;
  /** Since when every sample of a device was idle. */
  readonly idleSince: ReadonlyMap<string, number>;
  /** Since when every sample of a device looked busy and computed nothing. */
  readonly stalledSince: ReadonlyMap<string, number>;
  /** For these devices: since when there has been no sample. */
  readonly stalledUnseenSince: ReadonlyMap<string, number>;
  /** When a device that nobody held was last active. */
  readonly activeUnallocatedAt: ReadonlyMap<string, number>;
  /** When a part of a device was last held; kept while telemetry may still lag behind. */
  readonly allocatedAt: ReadonlyMap<string, number>;
  /** Since when a gang has been partly bound, by gang id. */
  readonly gangSince: ReadonlyMap<string, number>;
  /**
   * Of gangs that have been whole, by gang id: most members that were bound or done at once. 0: some are done since, and those
   * that are gone may have been among them.
   */
  readonly gangMost: ReadonlyMap<string, number>;
  /**
   * By gang id: when the newest of its members was created that were there when it was whole last, seconds since the epoch.
   */
  readonly gangNewest: ReadonlyMap<string, number>;
  /** Since when a pod has waited for a node. */
  readonly pendingSince: ReadonlyMap<string, number>;
  /** Since when a node has not been ready. */
  readonly notReadySince: ReadonlyMap<string, number>;
  /** Since when a leaf queue has been short of its entitlement. The analysis finds this, and the join only passes it on. */
  readonly shortSince: ReadonlyMap<string, number>;
  /** Since when waiting gangs have been blocked, by `BlockedWork.key`. The analysis finds this, too. */
  readonly blockedSince: ReadonlyMap<string, number>;
  /** Since when nodes have been idle, by `kind/node`. The analysis finds this, too. */
  readonly idleNodeSince: ReadonlyMap<string, number>;
}

/** The memory of a process that has seen nothing yet. */
export const emptyMemory: Memory = {
  nodes: new Map(),
  servers: new Map(),
  idleSince: new Map(),
  stalledSince: new Map(),
  stalledUnseenSince: new Map(),
  activeUnallocatedAt: new Map(),
  allocatedAt: new Map(),
  gangSince: new Map(),
  gangMost: new Map(),
  gangNewest: new Map(),
  pendingSince: new Map(),
  notReadySince: new Map(),
  shortSince: new Map(),
  blockedSince: new Map(),
  idleNodeSince: new Map(),
};

/**
 * The memory after the wall clock was set by `seconds`: times that Fairlead itself observed keep their age, so that no GPU
 * becomes idle because of a clock. Times from objects of the API do not change.
 */
export function afterClockJump(memory: Memory, seconds: number): Memory {
  return {
    ...memory,
    servers: movedServers(memory.servers, seconds),
    idleSince: moved(memory.idleSince, seconds),
    stalledSince: moved(memory.stalledSince, seconds),
    stalledUnseenSince: moved(memory.stalledUnseenSince, seconds),
    activeUnallocatedAt: moved(memory.activeUnallocatedAt, seconds),
    allocatedAt: moved(memory.allocatedAt, seconds),
    gangSince: moved(memory.gangSince, seconds),
    shortSince: moved(memory.shortSince, seconds),
    blockedSince: moved(memory.blockedSince, seconds),
    idleNodeSince: moved(memory.idleNodeSince, seconds),
  };
}

function moved(times: ReadonlyMap<string, number>, seconds: number): ReadonlyMap<string, number> {
  return new Map([...times].map(([key, time]) => [key, time + seconds] as const));
}

function movedServers(servers: Memory["servers"], seconds: number): Memory["servers"] {
  return new Map(
    [...servers].map(([key, server]) => {
      const since = server.since === null ? null : server.since + seconds;
      return [key, { ...server, since }] as const;
    }),
  );
}
