import type { TreeNode } from "./entitledNode.ts";
import { entitledTree } from "./entitleTree.ts";

/** A queue as an example gives it; what it leaves out means nothing. */
export interface WorkedQueue {
  readonly name: string;
  readonly parent?: string;
  readonly quota?: number;
  readonly limit?: number;
  /** Of the quota: what others may use. */
  readonly lends?: number;
  readonly weight?: number;
  readonly zeroWeight?: "last" | "never";
  readonly priority?: number;
  readonly isFloor?: boolean;
  readonly demand?: number;
  /** Held, of its demand. */
  readonly allocated?: number;
  readonly usage?: number;
}

/** An example that someone else published, in units of whatever it divides. */
export interface WorkedExample {
  readonly name: string;
  readonly capacity: number;
  readonly queues: readonly WorkedQueue[];
  /** What the source says. */
  readonly published: Readonly<Record<string, number>>;
  /** What we say where that is something else, and why. */
  readonly ours?: Readonly<Record<string, number>>;
  readonly because?: "integer rounding" | "over-subscription" | "no guarantee without demand";
}

/** What the queues of an example, parents first, are entitled to, by name. */
export function entitledIn(
  capacity: number,
  queues: readonly WorkedQueue[],
  kValue = 0,
): Readonly<Record<string, number>> {
  const nodes = queues.map((queue, id): TreeNode => {
    const parent = queues.findIndex(({ name }) => name === queue.parent);
    return {
      id,
      parent: parent < 0 ? null : parent,
      guaranteed: queue.quota ?? 0,
      limit: queue.limit ?? Number.POSITIVE_INFINITY,
      lendingLimit: queue.lends ?? Number.POSITIVE_INFINITY,
      weight: queue.weight ?? 1,
      zeroWeight: queue.zeroWeight ?? "never",
      priority: queue.priority ?? 0,
      isFloor: queue.isFloor ?? false,
      demand: queue.demand ?? 0,
      allocated: queue.allocated ?? 0,
      usage: queue.usage ?? 0,
    };
  });
  const { grants } = entitledTree(nodes, capacity, { kValue });
  return Object.fromEntries(queues.map(({ name }, i) => [name, Math.round((grants[i] ?? 0) * 1e6) / 1e6]));
}
