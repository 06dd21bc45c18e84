import type { Problem } from "../../model/problem.ts";
import { type KaiQueue, kaiNonPreemptibleFrom } from "../../model/queues/kai.ts";
import type { KaiShard } from "./kaiShards.ts";
import { parentForest } from "./parentForest.ts";
import type { DeclaredQueue } from "./queueSystem.ts";
import type { ReclaimRule } from "./reclaimRule.ts";

/** The queues that one shard's scheduler reads, as a tree. */
export interface KaiForest {
  readonly shard: KaiShard;
  /** The queues, parents before children; `parent` is an index into this list. */
  readonly queues: readonly DeclaredQueue[];
  /** Leaves in which the scheduler runs work: not those below a parent that it cannot find. */
  readonly servedLeaves: ReadonlyMap<string, KaiLeaf>;
  readonly problems: readonly Problem[];
}

/** The most that a group in a leaf can get. */
export interface KaiLeaf {
  /** Smallest limit on the way to the root, GPUs. */
  readonly limit: number;
  /** Smallest quota on the way to the root, GPUs: the cap of what cannot be preempted. */
  readonly quota: number;
}

/**
 * The tree of one shard. A queue whose parent this scheduler does not see is dropped by it with all below
 * (`cleanQueueOrphans`), and queues in a cycle are below no top queue (`getTopQueues`): both get nothing here. A missing
 * parent is in the tree by its name.
 */
export function kaiForest(shard: KaiShard, all: readonly KaiQueue[]): KaiForest {
  const declared = new Map<string, KaiQueue>();
  for (const queue of all) if (shard.owns(queue.nodePool)) declared.set(queue.name, queue);
  const elsewhere = new Set(all.map((queue) => queue.name).filter((name) => !declared.has(name)));
  const isOrphan = (queue: KaiQueue) => queue.parent !== null && !declared.has(queue.parent);
  const forest = parentForest(
    [...declared.values()].map(({ name, parent }) => ({
      name,
      // A queue of another shard is no record of this one.
      parent: parent !== null && elsewhere.has(parent) ? null : parent,
    })),
  );
  const cut = new Set(forest.cycles.map(([smallest]) => smallest));
  const servedLeaves = new Map<string, KaiLeaf>();
  const bounds: (KaiLeaf | null)[] = [];
  const queues = forest.entries.map((entry): DeclaredQueue => {
    const queue = declared.get(entry.name);
    const served = queue !== undefined && !isOrphan(queue) && !cut.has(entry.name) ? queue : undefined;
    const record = declare(entry.name, served, queue, entry.parent, entry.isLeaf);
    const above = entry.parent === null ? { limit: Infinity, quota: Infinity } : (bounds[entry.parent] ?? null);
    const bound =
      served === undefined || above === null
        ? null
        : {
            limit: Math.min(above.limit, amount(served.gpu?.limit)),
            quota: Math.min(above.quota, amount(served.gpu?.quota)),
          };
    bounds.push(bound);
    if (entry.isLeaf && bound !== null) servedLeaves.set(entry.name, bound);
    return record;
  });
  const orphans = [...declared.values()].filter(isOrphan);
  return { shard, queues, servedLeaves, problems: [...orphanProblems(orphans), ...forest.cycles.map(cycleProblem)] };
}

/**
 * Quota, limit and weight as KAI's proportion plugin reads them. `served` is missing if the scheduler drops the queue, which
 * then has no quota and no weight, whatever it declares.
 */
function declare(
  name: string,
  served: KaiQueue | undefined,
  queue: KaiQueue | undefined,
  parent: number | null,
  isLeaf: boolean,
): DeclaredQueue {
  return {
    kind: "Queue",
    name,
    parent,
    isLeaf,
    guaranteed: served === undefined ? 0 : amount(served.gpu?.quota),
    limit: queue === undefined ? Infinity : amount(queue.gpu?.limit),
    lendingLimit: Infinity,
    weight: served === undefined ? 0 : Math.max(0, served.gpu?.overQuotaWeight ?? 0),
    zeroWeight: "never",
    priority: queue?.priority ?? 100,
    isStrictOrder: false,
    ...(isLeaf ? { reclaim: kaiReclaim } : {}),
    reserved: null,
  };
}

/** KAI reclaims up to the fair share, whatever the priority, from groups that can be preempted. */
const kaiReclaim: ReclaimRule = {
  takes: "any",
  upTo: "entitlement",
  gives: true,
  keptFromPriority: kaiNonPreemptibleFrom,
  setting: `its PodGroups cannot be preempted: priority ${kaiNonPreemptibleFrom} and above`,
};

/** The GPUs of an amount: -1 means no bound, and an absent amount means none, as does any other negative one. */
function amount(value: number | undefined): number {
  if (value === -1) return Infinity;
  return value === undefined ? 0 : Math.max(0, value);
}

function orphanProblems(orphans: readonly KaiQueue[]): readonly Problem[] {
  const [first] = orphans.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (first === undefined) return [];
  const others = orphans.length === 1 ? "" : `, as do ${orphans.length - 1} others`;
  return [
    {
      source: "join",
      code: "kai-queue-without-parent",
      severity: "warning",
      subject: first.name,
      message: `Queue ${first.name} names parentQueue ${first.parent}, which its scheduler does not see${others}; KAI drops such a queue and all below it`,
      nextStep:
        "Create the parent queue with the same node-pool label, or set spec.parentQueue to a queue that is there.",
    },
  ];
}

function cycleProblem(names: readonly string[]): Problem {
  return {
    source: "join",
    code: "kai-queue-cycle",
    severity: "warning",
    subject: names[0] ?? null,
    message: `The parentQueue of these queues lead in a circle: ${names.slice(0, 10).join(", ")}; KAI gives them no share. ${names[0]} is shown as a top queue`,
    nextStep: "Give one of them a parent outside the circle.",
  };
}
