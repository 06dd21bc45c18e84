import type { Problem } from "../../model/problem.ts";
import type { VolcanoQueue } from "../../model/queues/volcano.ts";
import { type ForestEntry, parentForest } from "./parentForest.ts";

/** The queue above all others, which Volcano makes itself. */
export const volcanoRootQueue = "root";

/** Volcano's queues in order, without `root`. */
export interface VolcanoTree {
  /** Parents before children. */
  readonly entries: readonly ForestEntry[];
  readonly queues: ReadonlyMap<string, VolcanoQueue>;
  /** The object of `root`; its amounts cap everything where there is a hierarchy. */
  readonly root: VolcanoQueue | null;
  /** Whether queues are below others: the `capacity` plugin with parents that are not `root`. */
  readonly isHierarchical: boolean;
  readonly problems: readonly Problem[];
}

/**
 * Queues as the plugin sees them: `proportion` knows no parents. Whether `capacity` has its `enableHierarchy` on is in the
 * scheduler's configuration alone; parents other than `root` are taken as evidence that it is.
 */
export function volcanoTree(all: readonly VolcanoQueue[], plugin: "proportion" | "capacity"): VolcanoTree {
  const queues = new Map<string, VolcanoQueue>();
  for (const queue of all) if (queue.name !== volcanoRootQueue) queues.set(queue.name, queue);
  const parentOf = ({ parent }: VolcanoQueue) =>
    plugin === "proportion" || parent === null || parent === "" || parent === volcanoRootQueue ? null : parent;
  const forest = parentForest([...queues.values()].map((queue) => ({ name: queue.name, parent: parentOf(queue) })));
  const orphans = [...queues.values()].filter((queue) => {
    const parent = parentOf(queue);
    return parent !== null && !queues.has(parent);
  });
  return {
    entries: forest.entries,
    queues,
    root: all.find((queue) => queue.name === volcanoRootQueue) ?? null,
    isHierarchical: forest.entries.some(({ parent }) => parent !== null) || forest.cycles.length > 0,
    problems: [...orphanProblems(orphans), ...forest.cycles.map(cycleProblem)],
  };
}

/** Both stop the whole plugin (`buildHierarchicalQueueAttrs` gives up), not only the wrong queue. */
const stops = "with enableHierarchy, Volcano's capacity plugin schedules nothing while this is so";

function orphanProblems(orphans: readonly VolcanoQueue[]): readonly Problem[] {
  const [first] = orphans.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (first === undefined) return [];
  const others = orphans.length === 1 ? "" : `, as do ${orphans.length - 1} others`;
  return [
    {
      source: "join",
      code: "volcano-queue-without-parent",
      severity: "warning",
      subject: first.name,
      message: `Queue ${first.name} names the parent ${first.parent}, which is not there${others}; ${stops}`,
      nextStep: "Create the parent queue, or set spec.parent to a queue that is there.",
    },
  ];
}

function cycleProblem(names: readonly string[]): Problem {
  return {
    source: "join",
    code: "volcano-queue-cycle",
    severity: "warning",
    subject: names[0] ?? null,
    message: `The parents of these queues lead in a circle: ${names.slice(0, 10).join(", ")}; ${stops}. ${names[0]} is shown as a top queue`,
    nextStep: "Give one of them a parent outside the circle.",
  };
}
