import { kueueForest } from "../../join/queues/kueueTree.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueClusterQueue, KueueQuota } from "../../model/queues/kueue.ts";
import {
  type CohortWork,
  cohortWork,
  lentQuotas,
  lowestBorrowed,
  mayBorrow,
  ofOnePriority,
  type TakesLower,
  takesBackLower,
} from "./cohortWork.ts";
import type { Finding } from "./finding.ts";
import { kueueFinding } from "./kueueFindings.ts";
import { kueueWork, type QueueWork } from "./kueueWork.ts";

type Nothing = Extract<TakesLower, { readonly does: "nothing" }>;

/**
 * Preemption policies of ClusterQueues under which no queue can take back what is lent, and policies that have no effect
 * because of the priorities of the existing work: `LowerPriority` takes only from strictly lower priorities, `Any` of
 * reclaimWithinCohort from all. Source: Kueue v0.19 (pkg/scheduler/preemption: SatisfiesPreemptionPolicy, findCandidates;
 * classical: classifyPreemptionVariant).
 */
export function kueuePreemptionFindings(snapshot: Snapshot): readonly Finding[] {
  const { queueObjects, schedulerSettings } = snapshot;
  const { kueueClusterQueues } = queueObjects;
  if (kueueClusterQueues.length === 0) return [];
  const work = kueueWork(snapshot);
  // Only classical preemption reads it.
  const readsBorrow = schedulerSettings.kueue?.fairSharing !== true;
  const findings: Finding[] = [];
  const dead = new Map<string, DeadPolicy[]>();
  for (const queue of kueueClusterQueues) dead.set(queue.name, deadWithin(queue, work.get(queue.name)));
  for (const tree of kueueForest(queueObjects).trees) {
    if (tree.circle !== null || tree.queues.length < 2) continue;
    const ofTree = cohortWork(tree, work);
    for (const queue of tree.queues) {
      const found = reclaimFinding(queue, ofTree);
      if (found !== null) findings.push(found);
      if (readsBorrow) dead.get(queue.name)?.push(...deadBorrowing(queue, ofTree));
    }
  }
  for (const [name, policies] of dead) if (policies.length > 0) findings.push(noCandidates(name, policies));
  return findings;
}

function reclaimFinding(queue: KueueClusterQueue, tree: CohortWork): Finding | null {
  const { reclaimWithinCohort } = queue.preemption;
  if (reclaimWithinCohort !== "Never" && reclaimWithinCohort !== "LowerPriority") return null;
  const lent = lentQuotas(queue, tree);
  const [first] = lent;
  if (first === undefined) return null;
  const takes = takesBackLower(queue, lent, tree);
  if (reclaimWithinCohort === "Never") return noReclaim(queue, first, takes);
  return takes.does === "nothing" ? reclaimsNothing(queue, first, takes) : null;
}

function noReclaim({ name, cohort }: KueueClusterQueue, quota: KueueQuota, takes: TakesLower): Finding {
  const set = `Set spec.preemption.reclaimWithinCohort of ClusterQueue ${name} to Any`;
  return kueueFinding(
    "kueue-no-reclaim",
    "ClusterQueue",
    name,
    `spec.preemption.reclaimWithinCohort is Never (the default): what others in cohort ${cohort} borrow of its ${amountOf(quota)} comes back only when their work ends.`,
    takes.does === "something"
      ? `${set}; or to LowerPriority, which takes back from work of lower priority than that which waits, and there is such work now.`
      : takes.does === "nothing"
        ? `${set}: LowerPriority would take back nothing, because ${becauseOf(takes)}.`
        : `${set}: LowerPriority takes back only from work of lower priority than that which waits.`,
  );
}

function reclaimsNothing({ name, cohort }: KueueClusterQueue, quota: KueueQuota, takes: Nothing): Finding {
  return kueueFinding(
    "kueue-reclaim-no-candidates",
    "ClusterQueue",
    name,
    `spec.preemption.reclaimWithinCohort is LowerPriority, which takes back from strictly lower priorities alone, but ${becauseOf(takes)}: what others in cohort ${cohort} borrow of its ${amountOf(quota)} comes back only when their work ends.`,
    `Set spec.preemption.reclaimWithinCohort of ClusterQueue ${name} to Any, which takes back what is borrowed whatever the priority; or give its work a WorkloadPriorityClass with a value above ${takes.lowest}, so that LowerPriority takes back from the others.`,
  );
}

const amountOf = ({ nominal, resource, flavor }: KueueQuota): string => `${nominal} ${resource} (${flavor})`;

function becauseOf({ waiting, highest, lowest }: Nothing): string {
  if (waiting === 0) return `all work with GPUs in its cohort has priority ${highest}`;
  const own = waiting === 1 ? `the Workload that waits has priority ${highest}` : atMost(waiting, highest);
  return `${own}, and what others borrow has priority ${lowest} or more`;
}

const atMost = (waiting: number, highest: number): string =>
  `the ${waiting} Workloads that wait have priority ${highest} or less`;

/** A policy under which nothing can be preempted, and what would change that. */
interface DeadPolicy {
  readonly why: string;
  readonly change: string;
}

/**
 * Policies within a queue that take nothing: while all its work has one priority, none of it is lower than the waiting work.
 */
function deadWithin({ preemption }: KueueClusterQueue, work: QueueWork | undefined): DeadPolicy[] {
  const { waiting, admitted } = work ?? { waiting: null, admitted: null };
  if (preemption.withinClusterQueue !== "LowerPriority" || waiting === null || admitted === null) return [];
  const priority = admitted.lowest;
  if ([admitted.highest, waiting.lowest, waiting.highest].some((one) => one !== priority)) return [];
  return [
    {
      why: `withinClusterQueue is LowerPriority, but all its ${waiting.count + admitted.count} Workloads with GPUs, of which ${waiting.count} wait, have priority ${priority}`,
      change: `a WorkloadPriorityClass with a value above ${priority} for what should go first; or withinClusterQueue LowerOrNewerEqualPriority, if what was queued earlier should take the place of what was queued later`,
    },
  ];
}

/**
 * Policies of borrowing that take nothing: a queue that borrows takes only from strictly lower priorities up to the threshold.
 */
function deadBorrowing(queue: KueueClusterQueue, tree: CohortWork): readonly DeadPolicy[] {
  const { name, quotas, preemption } = queue;
  const { borrowWithinCohort, reclaimWithinCohort, borrowMaxPriority: threshold = null } = preemption;
  if (borrowWithinCohort !== "LowerPriority" || reclaimWithinCohort === "Never") return [];
  const waiting = tree.ofQueue.get(name)?.waiting ?? null;
  const borrowed = quotas.filter((quota) => gpuLikeResource(quota.resource) && mayBorrow(quota));
  if (waiting === null || borrowed.length === 0) return [];
  const one = ofOnePriority(tree);
  if (one.does === "nothing") {
    return [
      {
        why: `borrowWithinCohort is LowerPriority, but all work with GPUs in its cohort has priority ${one.highest}`,
        change: `a WorkloadPriorityClass with a value above ${one.highest} for work that should borrow at the cost of others: no other value of borrowWithinCohort takes from equal priorities`,
      },
    ];
  }
  const lowest = lowestBorrowed(name, borrowed, tree);
  if (threshold === null || lowest === null || lowest <= threshold) return [];
  return [
    {
      why: `borrowWithinCohort takes from priorities up to maxPriorityThreshold ${threshold} alone, but what others borrow has priority ${lowest} or more`,
      change: `borrowWithinCohort.maxPriorityThreshold ${lowest} or more, or without it`,
    },
  ];
}

function noCandidates(name: string, policies: readonly DeadPolicy[]): Finding {
  return kueueFinding(
    "kueue-preemption-no-candidates",
    "ClusterQueue",
    name,
    `spec.preemption lets nothing be preempted that it seems to: ${policies.map(({ why }) => why).join("; ")}. What waits there waits until other work ends.`,
    `What would work for ClusterQueue ${name}: ${policies.map(({ change }) => change).join("; ")}.`,
  );
}
