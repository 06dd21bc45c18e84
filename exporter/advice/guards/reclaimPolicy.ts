import type { QueueView } from "../../join/queues/queueing.ts";
import { topQueue } from "../../join/queues/topQueue.ts";
import { kaiNonPreemptibleFrom } from "../../model/queues/kai.ts";
import type { Asked, AskedPod, Guard } from "./guard.ts";
import { podName } from "./guard.ts";
import { claimOn, queuesOf } from "./reclaimClaim.ts";

/**
 * Work of equal or higher priority loses what its queue borrows only where the scheduler itself would take it back: no advice
 * goes against the chosen policy.
 */
export const reclaimPolicy: Guard = (asked) => {
  const { how, beneficiary } = asked;
  if (how !== "lose" || beneficiary === null) return [];
  return asked.pods.flatMap((one) => {
    if (one.pod.priority < beneficiary.priority || !claimOn(asked, one.index).isOwed) return [];
    const { victim, starved } = queuesOf(asked, one.index);
    if (victim === undefined || starved === undefined) return [];
    const reason = refusalOf(asked, one, victim, starved);
    return reason === null ? [] : [{ pod: one.index, reason: `${podName(one.pod)}: ${reason}.` }];
  });
};

function refusalOf(asked: Asked, one: AskedPod, victim: QueueView, starved: QueueView): string | null {
  if (victim.scheduler !== starved.scheduler)
    return `queues ${victim.name} and ${starved.name} belong to different schedulers`;
  switch (starved.scheduler) {
    case "kueue":
      return kueueRefusal(asked, one, victim, starved);
    case "kai":
      return kaiRefusal(asked, one);
    case "volcano":
      return volcanoRefusal(asked, one, victim);
    default:
      return "no scheduler takes GPUs back for teams without queues";
  }
}

/** Kueue: pkg/scheduler/preemption, `reclaimWithinCohort`. The pods are not of lower priority. */
function kueueRefusal(
  { lookup, moment, beneficiary }: Asked,
  one: AskedPod,
  victim: QueueView,
  starved: QueueView,
): string | null {
  const policy = lookup.clusterQueue(starved.name)?.preemption.reclaimWithinCohort ?? null;
  if (policy === null) return `ClusterQueue ${starved.name} could not be read`;
  const { queues, queueOfPod } = moment.analysis.snapshot.queueing;
  if (topQueue(queues, queueOfPod[one.index] ?? -1) !== topQueue(queues, beneficiary?.queue ?? -1))
    return `ClusterQueues ${victim.name} and ${starved.name} share no cohort`;
  if (policy === "Any") return null;
  if (policy === "LowerPriority")
    return `ClusterQueue ${starved.name} takes back from lower priorities only (reclaimWithinCohort LowerPriority)`;
  return `ClusterQueue ${starved.name} never takes back what others borrow (reclaimWithinCohort ${policy})`;
}

/** KAI reclaims what is above quota whatever its priority, but never from groups that are not preemptible. */
function kaiRefusal({ lookup, moment }: Asked, { pod }: AskedPod): string | null {
  const object = moment.analysis.snapshot.workloads[pod.workload]?.queueObject ?? null;
  const group = object === null ? undefined : lookup.kaiGroup(object.uid);
  const said = group?.preemptibility ?? null;
  if (said === "preemptible") return null;
  if (said === null && pod.priority < kaiNonPreemptibleFrom) return null;
  return said === null
    ? `KAI does not reclaim work of priority ${pod.priority} (${kaiNonPreemptibleFrom} and above is not preemptible)`
    : `its PodGroup is ${said}`;
}

/**
 * With this annotation work of Volcano forbids that it is taken; without it, it may be taken (pkg/scheduler/api/pod_info.go).
 */
const volcanoPreemptable = "volcano.sh/preemptable";

/** Volcano: action reclaim takes from queues that are reclaimable and above what they deserve. */
function volcanoRefusal({ lookup, moment }: Asked, { pod }: AskedPod, victim: QueueView): string | null {
  const preemptable = Object.hasOwn(pod.labels, volcanoPreemptable) ? pod.labels[volcanoPreemptable] : undefined;
  if (preemptable !== undefined && preemptable !== "true") return `its label ${volcanoPreemptable} is not true`;
  const queue = lookup.volcanoQueue(victim.name);
  if (queue === undefined) return `Queue ${victim.name} could not be read`;
  if (!queue.reclaimable) return `Queue ${victim.name} is not reclaimable (spec.reclaimable is false)`;
  const { schedulerViews, snapshot } = moment.analysis;
  const shard = snapshot.queueing.domains[victim.domain]?.name ?? "";
  const deserved = schedulerViews.find(
    ({ number, name, shard: of }) => number === "volcano-deserved" && name === victim.name && of === shard,
  );
  if (deserved === undefined || deserved.computed === null) return `what Queue ${victim.name} deserves is not known`;
  if (victim.allocated > deserved.computed) return null;
  return `Queue ${victim.name} holds ${victim.allocated} GPUs and deserves ${deserved.computed}`;
}
