import type { Analysis } from "../analysis/analysis.ts";
import { blockedByPool } from "../analysis/blocked/blockedByPool.ts";
import { domainGuarantees } from "../analysis/fairness/guarantees.ts";
import type { NodeView, Snapshot } from "../join/snapshot.ts";
import { strandedReasons } from "../model/fragmentation.ts";
import type { CapacityTime, DomainTime, PlacementTime } from "./capacityPosting.ts";
import type { HourPart } from "./stepTime.ts";

/** What each domain and pool of the earlier moment had over a step: its amounts of that moment times the seconds of each hour. */
export function capacityTimeOf(before: Analysis, parts: readonly HourPart[]): CapacityTime {
  const { domains } = before.snapshot.queueing;
  const domainTimes = domainTimesOf(before.snapshot.queueing, parts);
  const placement = placementTimesOf(before, parts);
  const domainPools = domains.flatMap(({ name, pools }) => pools.map((pool) => ({ domain: name, pool })));
  return { domains: domainTimes, placement, domainPools, poolModels: poolModelsOf(before.snapshot) };
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

/** An amount for each reason. */
export function strandedTimes(of: (reason: (typeof strandedReasons)[number]) => number): PlacementTime["stranded"] {
  const [constraint, gpus, cpu, memory, both] = strandedReasons;
  return { constraint: of(constraint), gpus: of(gpus), cpu: of(cpu), memory: of(memory), cpu_and_memory: of(both) };
}

/** Names come from the cluster; no cluster has more models than this. */
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
