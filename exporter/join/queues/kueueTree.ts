import type { Problem } from "../../model/problem.ts";
import type { KueueClusterQueue, KueueCohort } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";
import type { GpuQuota } from "./kueueFlavors.ts";

/** A cohort or a ClusterQueue in its tree. */
export interface KueueNode {
  readonly name: string;
  /** `null` for a cohort. */
  readonly clusterQueue: KueueClusterQueue | null;
  /** `null` for a ClusterQueue, and for a cohort that exists only by name. */
  readonly cohort: KueueCohort | null;
  /** Index, smaller than its own; `null` for a root. */
  readonly parent: number | null;
  /** The cohort names itself as its own ancestor: Kueue admits nothing in the whole tree. */
  readonly isInCycle: boolean;
  readonly quotas: readonly GpuQuota[];
}

/** All trees of cohorts with their ClusterQueues, parents before children, otherwise by name; and what is wrong with them. */
export interface KueueTrees {
  readonly nodes: readonly KueueNode[];
  readonly problems: readonly Problem[];
}

type TreeObjects = Pick<QueueObjects, "kueueClusterQueues" | "kueueCohorts">;

const textOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Puts ClusterQueues under their cohorts. Cohorts and parents that are only named exist without quota, as in Kueue. A cycle is
 * broken at its first member by name, which becomes a root.
 */
export function kueueTrees(
  { kueueClusterQueues, kueueCohorts }: TreeObjects,
  gpuQuotasOf: (object: KueueClusterQueue | KueueCohort) => readonly GpuQuota[],
): KueueTrees {
  const cohorts = new Map<string, KueueCohort | null>();
  for (const { cohort } of kueueClusterQueues) if (cohort !== null) cohorts.set(cohort, null);
  for (const { parent } of kueueCohorts) if (parent !== null) cohorts.set(parent, null);
  for (const cohort of kueueCohorts) cohorts.set(cohort.name, cohort);
  const names = [...cohorts.keys()].sort(textOrder);
  const parents = new Map(names.map((name) => [name, cohorts.get(name)?.parent ?? null] as const));
  const { cut, inCycles } = breakCycles(names, parents);
  const children = Map.groupBy(names, (name) => (cut.has(name) ? null : (parents.get(name) ?? null)));
  const members = Map.groupBy(
    [...kueueClusterQueues].sort((a, b) => textOrder(a.name, b.name)),
    ({ cohort }) => cohort,
  );
  const nodes: KueueNode[] = [];
  const addQueues = (cohort: string | null, parent: number | null, isInCycle: boolean): void => {
    for (const clusterQueue of members.get(cohort) ?? []) {
      const quotas = gpuQuotasOf(clusterQueue);
      nodes.push({ name: clusterQueue.name, clusterQueue, cohort: null, parent, isInCycle, quotas });
    }
  };
  // Not by recursion: somebody may write a chain of thousands.
  const open: { readonly name: string; readonly parent: number | null; readonly bad: boolean }[] = [];
  for (const name of (children.get(null) ?? []).toReversed()) open.push({ name, parent: null, bad: false });
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { name, parent } = next;
    const cohort = cohorts.get(name) ?? null;
    const isInCycle = next.bad || inCycles.has(name);
    const own = nodes.push({
      name,
      clusterQueue: null,
      cohort,
      parent,
      isInCycle,
      quotas: cohort === null ? [] : gpuQuotasOf(cohort),
    });
    addQueues(name, own - 1, isInCycle);
    for (const child of (children.get(name) ?? []).toReversed())
      open.push({ name: child, parent: own - 1, bad: isInCycle });
  }
  addQueues(null, null, false);
  return { nodes, problems: [...cut].sort(textOrder).map(cycleProblem) };
}

/** Each cohort has one parent at most, so that every cycle is met by walking up from any of its members. */
function breakCycles(names: readonly string[], parents: ReadonlyMap<string, string | null>) {
  const cut = new Set<string>();
  const inCycles = new Set<string>();
  const done = new Set<string>();
  for (const start of names) {
    const path: string[] = [];
    const onPath = new Set<string>();
    let next: string | null = start;
    while (next !== null && !done.has(next) && !onPath.has(next)) {
      path.push(next);
      onPath.add(next);
      next = parents.get(next) ?? null;
    }
    if (next !== null && onPath.has(next)) {
      const cycle = path.slice(path.indexOf(next));
      for (const name of cycle) inCycles.add(name);
      const [first] = [...cycle].sort(textOrder);
      if (first !== undefined) cut.add(first);
    }
    for (const name of path) done.add(name);
  }
  return { cut, inCycles };
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
