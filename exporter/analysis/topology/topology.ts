import type { GangSize, TopologySource } from "../../model/topology.ts";

/** How well the free GPUs of each pool can be used by gangs that must stay within a domain of a level. */
export interface Topology {
  /** Pools with nodes in a domain of some level, ordered by name; empty where there is no topology. */
  readonly pools: readonly PoolTopology[];
}

export interface PoolTopology {
  readonly pool: string;
  /** GPUs of the pool on one node: as most of its nodes have, the larger number where as many have another. */
  readonly gpusPerNode: number;
  /** Levels by which nodes of the pool are in domains; those of one source are in order, the coarsest first. */
  readonly levels: readonly LevelFit[];
}

/**
 * One level of one pool. Only ready and schedulable nodes have free GPUs. `freeGpus` counts everything that is free, parts of
 * GPUs included, as expected fragmentation does.
 */
export interface LevelFit {
  readonly level: string;
  readonly source: TopologySource;
  /** Domains with nodes of the pool, ordered by name. */
  readonly domains: readonly DomainFit[];
  /** Domains in which all nodes of the pool are wholly free. */
  readonly freeDomains: number;
  /** Nodes of the pool that are in no domain of this level, and what is free on them: no gang of this level can use it. */
  readonly nodesOutside: number;
  readonly freeGpusOutside: number;
  /** Free GPUs in its domains. */
  readonly freeGpus: number;
  /** For each of `gangSizes`, in their order. */
  readonly gangs: readonly GangFitOfLevel[];
  /**
   * The part of `freeGpus` that gangs are expected not to be able to use; see `expectedUnusable`. `null`: no domain could take
   * a gang even if it were empty.
   */
  readonly unusableGpus: number | null;
}

/** How often gangs of one size fit into the domains of a level. */
export interface GangFitOfLevel {
  /** GPUs of the whole gang. */
  readonly gpus: GangSize;
  /** GPUs that each of its pods asks for, and the number of pods. */
  readonly gpusPerPod: number;
  readonly pods: number;
  /** Gangs that could start now side by side, each within one domain. */
  readonly slots: number;
  /** The same if every node of the pool were empty and ready. */
  readonly possibleSlots: number;
}

/** What one domain of a level has of a pool. */
export interface DomainFit {
  readonly domain: string;
  readonly nodes: number;
  /** Nodes whose GPUs are all free. */
  readonly wholeFreeNodes: number;
  readonly freeGpus: number;
  /** Gangs that could start now in this domain, for each of `gangSizes`. */
  readonly slots: readonly number[];
}

/** The value for a cluster without topology. */
export const noTopology: Topology = { pools: [] };
