import type { KueueClusterQueue, KueueCohort } from "../../model/queues/kueue.ts";
import type { QueueObjects } from "../../model/queues/queueObjects.ts";

/** All that can lend to each other. */
export interface CohortTree {
  /** Name of its root. */
  readonly root: string;
  readonly queues: readonly KueueClusterQueue[];
  /** Cohorts with an object. */
  readonly cohorts: readonly KueueCohort[];
  /** Names that lead in a circle, from the smallest; `null` without one. */
  readonly circle: readonly string[] | null;
}

/** The trees of cohorts, those that exist only by name included. ClusterQueues without a cohort are in none. */
export function cohortTrees({ kueueClusterQueues, kueueCohorts }: QueueObjects): readonly CohortTree[] {
  const byName = new Map(kueueCohorts.map((cohort) => [cohort.name, cohort] as const));
  const roots = new Map<string, Root>();
  const trees = new Map<string, { queues: KueueClusterQueue[]; cohorts: KueueCohort[]; circle: Root["circle"] }>();
  const treeOf = (name: string) => {
    const { root, circle } = rootOf(name, byName, roots);
    const tree = trees.get(root) ?? { queues: [], cohorts: [], circle };
    trees.set(root, tree);
    return tree;
  };
  for (const cohort of kueueCohorts) treeOf(cohort.name).cohorts.push(cohort);
  for (const queue of kueueClusterQueues) if (queue.cohort !== null) treeOf(queue.cohort).queues.push(queue);
  return [...trees].map(([root, tree]) => ({ root, ...tree })).sort((a, b) => (a.root < b.root ? -1 : 1));
}

interface Root {
  readonly root: string;
  readonly circle: readonly string[] | null;
}

/** Walks up to the root, or into a circle, whose smallest name stands for it. */
function rootOf(start: string, cohorts: ReadonlyMap<string, KueueCohort>, known: Map<string, Root>): Root {
  const path: string[] = [];
  const seen = new Set<string>();
  let name = start;
  let found: Root | undefined;
  while (found === undefined) {
    const before = known.get(name);
    if (before !== undefined) found = before;
    else if (seen.has(name)) found = circleFrom(path.slice(path.indexOf(name)));
    else {
      path.push(name);
      seen.add(name);
      const parent = cohorts.get(name)?.parent ?? null;
      if (parent === null) found = { root: name, circle: null };
      else name = parent;
    }
  }
  for (const one of path) known.set(one, found);
  return found;
}

function circleFrom(names: readonly string[]): Root {
  const [root = ""] = [...names].sort();
  const from = names.indexOf(root);
  return { root, circle: [...names.slice(from), ...names.slice(0, from)] };
}
