import type { Analysis } from "../analysis/analysis.ts";
import { blockedByPool } from "../analysis/blocked/blocked.ts";
import { domainGuarantees } from "../analysis/fairness/guarantees.ts";
import type { NodeView, Snapshot } from "../join/snapshot.ts";
import type { StrandedReason } from "../model/fragmentation.ts";
import { strandedReasons } from "../model/fragmentation.ts";
import type { HourPart } from "./stepTime.ts";

/** What a quota domain could give out, what it gave out and what it did not, within one hour; physical GPU-seconds. */
export interface DomainTime {
  readonly hour: number;
  readonly domain: string;
  /** Covered time in which the domain existed. */
  readonly seconds: number;
  /** The GPUs that could be given out, as in `QuotaDomain.capacity`. */
  readonly capacity: number;
  readonly allocated: number;
  /** Eligible demand that was pending. */
  readonly pending: number;
  /** The part of `seconds` in which the guarantees were known. */
  readonly guaranteedSeconds: number;
  /** What its queues were guaranteed in that time. */
  readonly guaranteed: number;
}

/** How the free GPUs of a pool were spread over its nodes within one hour, physical GPU-seconds. */
export interface PlacementTime {
  readonly hour: number;
  readonly pool: string;
  /** Covered time in which the pool existed. */
  readonly seconds: number;
  /** Fully free GPUs of usable nodes. */
  readonly free: number;
  /** The part of these that no typical pod could use. */
  readonly stranded: Readonly<Record<StrandedReason, number>>;
  /** What blocked work needs to start; work that fits several pools counts in one of them. */
  readonly blocked: number;
  /**
   * Whole GPUs of the largest pod that one node could take, times seconds; then the smallest and the largest such pod at any
   * moment.
   */
  readonly largestPlaceable: number;
  readonly largestPlaceableMin: number;
  readonly largestPlaceableMax: number;
}

/** How well the free GPUs of a pool fitted gangs that must stay within one domain of a level, within one hour. */
export interface TopologyTime {
  readonly hour: number;
  readonly pool: string;
  /** Name of the level of the cluster's topology, such as the node label of racks. */
  readonly level: string;
  /** Covered time in which the pool had nodes in a domain of the level. */
  readonly seconds: number;
  /** The part of `seconds` in which at least one gang could have started, for each of `gangSizes`. */
  readonly fitted: readonly number[];
}

/** Capacity over a step, with the pools of its domains and the models of its pools. */
export interface CapacityTime {
  readonly domains: readonly DomainTime[];
  readonly placement: readonly PlacementTime[];
  /** Empty for clusters without topology. */
  readonly topology: readonly TopologyTime[];
  readonly domainPools: readonly { readonly domain: string; readonly pool: string }[];
  readonly poolModels: readonly { readonly pool: string; readonly model: string }[];
}

/** The capacity of a gap, in which nothing is counted. */
export const noCapacityTime: CapacityTime = {
  domains: [],
  placement: [],
  topology: [],
  domainPools: [],
  poolModels: [],
};

/**
 * The capacity of each domain and pool of the earlier moment over a step: its amounts at that moment times the seconds of each
 * hour.
 */
export function capacityTimeOf(before: Analysis, parts: readonly HourPart[]): CapacityTime {
  const { domains } = before.snapshot.queueing;
  const domainTimes = domainTimesOf(before.snapshot.queueing, parts);
  const placement = placementTimesOf(before, parts);
  const topology = topologyTimesOf(before, parts);
  const domainPools = domains.flatMap(({ name, pools }) => pools.map((pool) => ({ domain: name, pool })));
  return { domains: domainTimes, placement, topology, domainPools, poolModels: poolModelsOf(before.snapshot) };
}

function domainTimesOf(queueing: Snapshot["queueing"], parts: readonly HourPart[]): readonly DomainTime[] {
  const { domains, queues } = queueing;
  const allocated = new Float64Array(domains.length);
  const pending = new Float64Array(domains.length);
  for (const view of queues) {
    if (!view.isLeaf) continue;
    allocated[view.domain] = (allocated[view.domain] ?? 0) + view.allocated;
    pending[view.domain] = (pending[view.domain] ?? 0) + view.pending;
  }
  const guarantees = domainGuarantees(queueing);
  return parts.flatMap(({ hour, seconds }) =>
    domains.map(({ name, capacity }, i) => {
      const guaranteed = guarantees[i] ?? null;
      return {
        hour,
        domain: name,
        seconds,
        capacity: capacity * seconds,
        allocated: (allocated[i] ?? 0) * seconds,
        pending: (pending[i] ?? 0) * seconds,
        guaranteedSeconds: guaranteed === null ? 0 : seconds,
        guaranteed: (guaranteed ?? 0) * seconds,
      };
    }),
  );
}

function placementTimesOf(analysis: Analysis, parts: readonly HourPart[]): readonly PlacementTime[] {
  const blocked = new Map<string, number>();
  for (const { pool, gpus } of blockedByPool(analysis)) blocked.set(pool, (blocked.get(pool) ?? 0) + gpus);
  return parts.flatMap(({ hour, seconds }) =>
    analysis.placement.pools.map(({ pool, freeGpus, strandedGpus, largestPlaceablePod }) => ({
      hour,
      pool,
      seconds,
      free: freeGpus * seconds,
      stranded: strandedTimes((reason) => (strandedGpus[reason] ?? 0) * seconds),
      blocked: (blocked.get(pool) ?? 0) * seconds,
      largestPlaceable: largestPlaceablePod * seconds,
      largestPlaceableMin: largestPlaceablePod,
      largestPlaceableMax: largestPlaceablePod,
    })),
  );
}

function topologyTimesOf({ topology }: Analysis, parts: readonly HourPart[]): readonly TopologyTime[] {
  return parts.flatMap(({ hour, seconds }) =>
    topology.pools.flatMap(({ pool, levels }) =>
      levels.map(({ level, gangs }) => ({
        hour,
        pool,
        level,
        seconds,
        fitted: gangs.map(({ slots }) => (slots > 0 ? seconds : 0)),
      })),
    ),
  );
}

/** A record with the amount for each reason. */
export function strandedTimes(of: (reason: (typeof strandedReasons)[number]) => number): PlacementTime["stranded"] {
  const [constraint, gpus, cpu, memory, both] = strandedReasons;
  return { constraint: of(constraint), gpus: of(gpus), cpu: of(cpu), memory: of(memory), cpu_and_memory: of(both) };
}

/** The most pairs of pool and model that are kept. Names come from the cluster, and no cluster has more models than this. */
const mostModels = 1000;

/** The GPU models of each pool, each pair once. */
function poolModelsOf({ nodes, devices }: Snapshot): CapacityTime["poolModels"] {
  const known = new Map<string, Set<string>>();
  const found: { readonly pool: string; readonly model: string }[] = [];
  const add = (pool: string, model: string): void => {
    const models = known.get(pool) ?? new Set<string>();
    if (models.has(model) || found.length >= mostModels) return;
    known.set(pool, models.add(model));
    found.push({ pool, model });
  };
  const addDevices = (node: NodeView): void => {
    for (const index of node.devices) {
      const device = devices[index];
      if (device !== undefined) add(device.pool, device.model);
    }
  };
  for (const node of nodes) {
    const [pool, ...others] = node.pools;
    if (pool === undefined) continue;
    if (others.length > 0) addDevices(node);
    else for (const model of node.gpuModels) add(pool, model);
  }
  return found;
}
