import type { Problem } from "../../model/problem.ts";
import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { QueueView } from "./queueing.ts";

/** Nobody divides GPUs over more levels than this on purpose. */
const mostLevels = 50;

type PlacedQueue = Pick<QueueView, "scheduler" | "kind" | "name" | "parent">;

/** Reports each scheduler with queues that are nested unreasonably deep. Parents come before children. */
export function deepTrees(queues: readonly PlacedQueue[]): readonly Problem[] {
  const found = new Map<QueueScheduler, { readonly first: PlacedQueue; deepest: number }>();
  const levels: number[] = [];
  for (const queue of queues) {
    // The root of each scheduler does not count as a level.
    const level = queue.parent === null ? 0 : (levels[queue.parent] ?? 0) + 1;
    levels.push(level);
    if (level <= mostLevels) continue;
    const known = found.get(queue.scheduler);
    if (known === undefined) found.set(queue.scheduler, { first: queue, deepest: level });
    else known.deepest = Math.max(known.deepest, level);
  }
  return [...found.values()].map(
    ({ first, deepest }): Problem => ({
      source: "join",
      code: "queue-tree-deep",
      severity: "warning",
      subject: first.name,
      message: `${first.kind} ${first.name} of ${first.scheduler} is on level ${mostLevels + 1} of its tree, the deepest on level ${deepest}; all are counted, but such a chain is hardly meant`,
      nextStep: "Look at what writes these queues: their parents are probably set by mistake.",
    }),
  );
}
