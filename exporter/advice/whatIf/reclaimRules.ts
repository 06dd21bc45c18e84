import { topQueue } from "../../join/queues/topQueue.ts";
import { kaiNonPreemptibleFrom } from "../../model/queues/kai.ts";
import type { ClusterCopy } from "./clusterCopy.ts";

/** How the scheduler of a queue takes back what others borrow from it. */
export interface ReclaimRules {
  readonly scheduler: "kueue" | "kai" | "volcano";
  readonly domain: number;
  /** Whose work may be taken: any work, or only work of lower priority. */
  readonly policy: "any" | "lower-priority";
  /** The amount up to which a queue may reclaim, and down to which a borrower may lose: `guaranteed` or `entitled`. */
  readonly sure: "guaranteed" | "entitled";
  /** Index of the top of the tree within which GPUs are reclaimed (for Kueue, the root cohort); `null`: the whole domain. */
  readonly tree: number | null;
  /** Whether Volcano takes from queues that are not `reclaimable`, too. */
  readonly takesKept: boolean;
  /** Whether the scheduler looks for a node before it takes anything. */
  readonly looksAtNodes: boolean;
}

/**
 * The rules of a queue's own scheduler; `null` if it takes nothing back. `asIf`: for Kueue, the policy that is assumed; for
 * Volcano, every queue is assumed to be `reclaimable`. Sources: Kueue v0.19 (`preemption.reclaimWithinCohort`; with fair
 * sharing a queue may reclaim up to its share), KAI v0.17 (reclaim up to the fair share, after a simulated placement), Volcano
 * v1.15 (action `reclaim` up to deserved, from queues that are `reclaimable`).
 */
export function reclaimRules(
  copy: ClusterCopy,
  index: number,
  asIf: "Any" | "LowerPriority" | null,
): ReclaimRules | null {
  const queue = copy.queues[index];
  const { queueObjects, schedulerSettings } = copy.analysis.snapshot;
  if (queue === undefined || queue.scheduler === "none") return null;
  const { scheduler, domain } = queue;
  if (scheduler === "kueue") {
    const object = queueObjects.kueueClusterQueues.find(({ name }) => name === queue.name);
    const policy = asIf ?? object?.preemption.reclaimWithinCohort ?? "Never";
    if (object === undefined || object.cohort === null || policy === "Never") return null;
    const sure = schedulerSettings.kueue?.fairSharing === true ? "entitled" : "guaranteed";
    const tree = topQueue(copy.queues, index);
    return {
      scheduler,
      domain,
      sure,
      tree,
      takesKept: false,
      looksAtNodes: false,
      policy: policy === "Any" ? "any" : "lower-priority",
    };
  }
  return {
    scheduler,
    domain,
    policy: "any",
    sure: "entitled",
    tree: null,
    takesKept: asIf !== null,
    looksAtNodes: true,
  };
}

/** The amount that is assured to a queue under the rules, physical GPUs. */
export function sureOf(copy: ClusterCopy, index: number, { sure }: ReclaimRules): number {
  const queue = copy.queues[index];
  const entitled = copy.analysis.fairness.queues[index]?.entitled ?? null;
  const guaranteed = queue?.guaranteed ?? 0;
  return sure === "entitled" && entitled !== null ? Math.max(guaranteed, entitled) : guaranteed;
}

/** Whether the rules allow taking the work of a leaf queue. */
export function mayReclaim(
  copy: ClusterCopy,
  rules: ReclaimRules,
  { leaf, priority, forPriority }: { readonly leaf: number; readonly priority: number; readonly forPriority: number },
): boolean {
  const queue = copy.queues[leaf];
  if (queue === undefined || queue.domain !== rules.domain || queue.scheduler !== rules.scheduler) return false;
  if (rules.tree !== null && topQueue(copy.queues, leaf) !== rules.tree) return false;
  if (rules.policy === "lower-priority" && priority >= forPriority) return false;
  if (rules.scheduler === "kai") return priority < kaiNonPreemptibleFrom;
  if (rules.scheduler === "volcano") {
    const object = copy.analysis.snapshot.queueObjects.volcanoQueues.find(({ name }) => name === queue.name);
    return object !== undefined && (object.reclaimable || rules.takesKept);
  }
  return true;
}
