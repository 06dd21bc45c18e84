import type { Namespace } from "../../model/cluster.ts";
import type { Problem } from "../../model/problem.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { flavorsByName } from "./kueueFlavors.ts";
import { createKueueGangCache, type KueueGangCache } from "./kueueGangCache.ts";
import { kueueGangs } from "./kueueGangs.ts";
import { type GpuUnit, gpuUnits, quotaIn, unitsIn } from "./kueueQuotas.ts";
import { reservedIn } from "./kueueReserved.ts";
import { type KueueNode, kueueForest } from "./kueueTree.ts";
import type { DeclaredQueue, PoolFacts, QueueSystem } from "./queueSystem.ts";
import type { ReclaimRule } from "./reclaimRule.ts";

/** The input for finding the queues of Kueue. */
export interface KueueInput {
  readonly objects: Pick<
    QueueObjects,
    | "kueueClusterQueues"
    | "kueueLocalQueues"
    | "kueueCohorts"
    | "kueueResourceFlavors"
    | "kueueWorkloads"
    | "kueueAdmissionChecks"
    | "limitRanges"
  >;
  readonly pools: readonly PoolFacts[];
  /** The namespaces by name; `null` where they could not be read. */
  readonly namespaces: ReadonlyMap<string, Namespace> | null;
  /**
   * Whether Kueue's fair sharing is on, by its configuration; `null` or absent: not read, so ClusterQueues with a share
   * decide.
   */
  readonly fairSharing?: boolean | null;
}

/**
 * Kueue: trees of cohorts over ClusterQueues. A flavor's quota counts over the pools of the nodes that carry its labels; a
 * queue is in a domain when it has a quota of GPUs in one of the flavors there.
 */
export function kueueSystem(
  { objects, pools, namespaces, fairSharing = null }: KueueInput,
  cache: KueueGangCache = createKueueGangCache(),
): QueueSystem {
  const flavors = flavorsByName(objects.kueueResourceFlavors, pools, cache.flavorPools);
  const { nodes, trees } = kueueForest(objects);
  const units = gpuUnits(nodes, flavors, pools);
  const used = new Set([...units.values()].map(({ flavor }) => flavor));
  const { gangs, dispatched, reserving } = kueueGangs({ objects, pools, namespaces, flavors, nodes, cache });
  const isShared = fairSharing ?? objects.kueueClusterQueues.some(({ weightedShare }) => weightedShare !== null);
  const reclaims = nodes.map(({ clusterQueue }) => (clusterQueue === null ? null : reclaimOf(clusterQueue, isShared)));
  return {
    scheduler: "kueue",
    isInUse: used.size > 0 || gangs.length > 0 || dispatched.length > 0,
    scopes: [...used].filter(({ pools }) => pools.length > 0).map(({ scope }) => scope),
    queuesIn: ({ scopes }) => {
      const isInDomain = (flavor: string) => scopes.has(flavor);
      const reserved = reservedIn(nodes, reserving, flavors, isInDomain);
      return queuesOf(nodes, unitsIn(units, isInDomain), reserved, reclaims);
    },
    gangs,
    dispatched,
    leafOf: null,
    problems: trees.flatMap(({ root, circle }) => (circle === null ? [] : [cycleProblem(root)])),
  };
}

function cycleProblem(name: string): Problem {
  return {
    source: "join",
    code: "kueue-cohort-cycle",
    severity: "error",
    subject: name,
    message: `Cohort ${name} is its own ancestor; Kueue admits nothing in the whole tree, which is shown as if ${name} had no parent`,
    nextStep: "Take spec.parentName out of one of the cohorts on the way from it back to itself.",
  };
}

/**
 * What Kueue takes back for a ClusterQueue (v0.19, pkg/scheduler/preemption): up to its nominal quota, with fair sharing up to
 * its share.
 */
function reclaimOf({ name, cohort, preemption }: KueueClusterQueue, fairSharing: boolean): ReclaimRule {
  const { reclaimWithinCohort: policy } = preemption;
  const takes = policy === "Any" ? "any" : policy === "LowerPriority" ? "lower-priority" : "nothing";
  const setting = `spec.preemption.reclaimWithinCohort of ClusterQueue ${name} is ${policy}`;
  return {
    takes: cohort === null ? "nothing" : takes,
    upTo: fairSharing ? "entitlement" : "guarantee",
    gives: true,
    keptFromPriority: null,
    setting:
      cohort === null ? `ClusterQueue ${name} is in no cohort: nothing is lent to it or taken back for it` : setting,
  };
}

function queuesOf(
  nodes: readonly KueueNode[],
  units: ReadonlyMap<string, GpuUnit>,
  reserved: readonly (number | null)[],
  reclaims: readonly (ReclaimRule | null)[],
): readonly DeclaredQueue[] {
  const queues: DeclaredQueue[] = [];
  // For each node of the tree: its place in the list.
  const places: (number | null)[] = new Array(nodes.length).fill(null);
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i];
    const quota = node === undefined ? null : quotaIn(node, units);
    if (node === undefined || quota === null) continue;
    const { name, clusterQueue, cohort, parent } = node;
    const reclaim = reclaims[i] ?? null;
    const place = queues.push({
      kind: clusterQueue === null ? "Cohort" : "ClusterQueue",
      name,
      // A cohort whose members have no quota here is left out; a queue with quota keeps its cohort, which then has
      // quota, too.
      parent: places[parent ?? -1] ?? null,
      isLeaf: clusterQueue !== null,
      // Written out: there may be tens of thousands.
      guaranteed: quota.guaranteed,
      limit: quota.limit,
      lendingLimit: quota.lendingLimit,
      weight: Math.max(0, clusterQueue?.weight ?? cohort?.weight ?? 1),
      zeroWeight: "last",
      priority: 0,
      isStrictOrder: clusterQueue?.queueingStrategy === "StrictFIFO",
      ...(reclaim === null ? {} : { reclaim }),
      reserved: reserved[i] ?? null,
    });
    places[i] = place - 1;
  }
  return queues;
}
