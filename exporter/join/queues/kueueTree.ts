import { compareText } from "../../kernel/compareText.ts";
import type { KueueClusterQueue, KueueCohort } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import { addQuotas, type NodeQuotas, type OpenNodeQuota, ownQuotas } from "./nodeQuotas.ts";
import { cutCycles } from "./parentForest.ts";

/** A cohort or a ClusterQueue in its tree. */
export interface KueueNode {
  readonly name: string;
  /** `null` for a cohort. */
  readonly clusterQueue: KueueClusterQueue | null;
  /** `null` for a ClusterQueue, and for a cohort that exists only by name. */
  readonly cohort: KueueCohort | null;
  /** Index, smaller than its own; `null` for a root. */
  readonly parent: number | null;
  /** The cohort is its own ancestor: Kueue admits nothing in the whole tree. */
  readonly isInCycle: boolean;
  /** The quotas of it and of everything below it. */
  readonly quotas: NodeQuotas;
}

/** Queues and cohorts that can lend to each other. */
export interface CohortTree {
  /** Name of its root. */
  readonly root: string;
  readonly queues: readonly KueueClusterQueue[];
  /** Cohorts with an object. */
  readonly cohorts: readonly KueueCohort[];
  /** Names that form a cycle, from the smallest, which is the root here; `null` without one. */
  readonly circle: readonly string[] | null;
}

/** Cohorts with their ClusterQueues, as one moment has them. */
export interface KueueForest {
  /** Parents before children, otherwise by name; ClusterQueues without a cohort come last. */
  readonly nodes: readonly KueueNode[];
  /** The trees by the name of their root; ClusterQueues without a cohort are in none. */
  readonly trees: readonly CohortTree[];
}

type ForestObjects = Pick<QueueObjects, "kueueClusterQueues" | "kueueCohorts">;

const known = new WeakMap<ForestObjects, KueueForest>();

/**
 * Puts ClusterQueues under their cohorts, once for the same objects. Cohorts and parents that are only named exist without quota,
 * as in Kueue. A cycle is broken at its first member by name, which becomes a root.
 */
export function kueueForest(objects: ForestObjects): KueueForest {
  const found = known.get(objects) ?? plant(objects);
  known.set(objects, found);
  return found;
}

function plant({ kueueClusterQueues, kueueCohorts }: ForestObjects): KueueForest {
  const cohorts = new Map<string, KueueCohort | null>();
  for (const { cohort } of kueueClusterQueues) if (cohort !== null) cohorts.set(cohort, null);
  for (const { parent } of kueueCohorts) if (parent !== null) cohorts.set(parent, null);
  for (const cohort of kueueCohorts) cohorts.set(cohort.name, cohort);
  const names = [...cohorts.keys()].sort(compareText);
  const parents = new Map(names.map((name) => [name, cohorts.get(name)?.parent ?? null] as const));
  const circles = cutCycles(names, parents);
  const inCycles = new Set(circles.flat());
  const children = Map.groupBy(names, (name) => parents.get(name) ?? null);
  const members = Map.groupBy(
    [...kueueClusterQueues].sort((a, b) => compareText(a.name, b.name)),
    ({ cohort }) => cohort,
  );
  const nodes: (KueueNode & { readonly quotas: Map<string, OpenNodeQuota> })[] = [];
  const addQueues = (cohort: string | null, parent: number | null, isInCycle: boolean): void => {
    for (const clusterQueue of members.get(cohort) ?? [])
      nodes.push({
        name: clusterQueue.name,
        clusterQueue,
        cohort: null,
        parent,
        isInCycle,
        quotas: ownQuotas(clusterQueue.quotas),
      });
  };
  // No recursion: an attacker may write a chain of thousands.
  const open: { readonly name: string; readonly parent: number | null; readonly bad: boolean }[] = [];
  for (const name of (children.get(null) ?? []).toReversed()) open.push({ name, parent: null, bad: false });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name, parent } = next;
    const isInCycle = next.bad || inCycles.has(name);
    const object = cohorts.get(name) ?? null;
    const quotas = ownQuotas(object?.quotas ?? []);
    const own = nodes.push({ name, clusterQueue: null, cohort: object, parent, isInCycle, quotas });
    addQueues(name, own - 1, isInCycle);
    for (const child of (children.get(name) ?? []).toReversed())
      open.push({ name: child, parent: own - 1, bad: isInCycle });
  }
  const trees = treesOf(nodes, circles);
  addQueues(null, null, false);
  // Children come behind their parents, and are complete when they are added to them.
  for (const { parent, quotas } of nodes.toReversed()) {
    const above = nodes[parent ?? -1];
    if (above !== undefined) addQuotas(above.quotas, quotas);
  }
  return { nodes, trees };
}

/** A tree is a root with everything before the next root. */
function treesOf(nodes: readonly KueueNode[], circles: readonly (readonly string[])[]): readonly CohortTree[] {
  const circleOf = new Map(circles.map((circle) => [circle[0], circle] as const));
  const trees: (CohortTree & { readonly queues: KueueClusterQueue[]; readonly cohorts: KueueCohort[] })[] = [];
  for (const { name, clusterQueue, cohort, parent } of nodes) {
    if (parent === null) trees.push({ root: name, queues: [], cohorts: [], circle: circleOf.get(name) ?? null });
    const tree = trees.at(-1);
    if (clusterQueue !== null) tree?.queues.push(clusterQueue);
    if (cohort !== null) tree?.cohorts.push(cohort);
  }
  return trees;
}
