import type { QueueView } from "../../join/queues/queueing.ts";
import { topQueue } from "../../join/queues/topQueue.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { kaiNonPreemptibleFrom } from "../../model/queues/kai.ts";
import { type Asked, type AskedPod, type Guard, podName } from "./guard.ts";

/**
 * A pod that is placed again may have any priority up to that of the work that it makes room for; one that loses its GPUs must
 * have a lower one, unless the work has a claim on what the pod's queue borrows.
 */
export const priority: Guard = (asked) => {
  const { how, beneficiary, pods } = asked;
  if (how === "release") return [];
  if (how === "move") {
    if (beneficiary === null) return [];
    return pods
      .filter(({ pod }) => pod.priority > beneficiary.priority)
      .map(({ index, pod }) => ({
        pod: index,
        reason: `${podName(pod)} has priority ${pod.priority}, above ${beneficiary.priority} of the work that would gain.`,
      }));
  }
  if (beneficiary === null) {
    return pods.map(({ index, pod }) => ({ pod: index, reason: `${podName(pod)} would lose its GPUs to nobody.` }));
  }
  return pods.flatMap(({ index, pod }) => {
    if (pod.priority < beneficiary.priority) return [];
    const claim = claimOn(asked, index);
    if (claim.isOwed) return [];
    const reason = `${podName(pod)} has priority ${pod.priority}, not below ${beneficiary.priority} of the work that would gain, and ${claim.because}.`;
    return [{ pod: index, reason }];
  });
};

/** Whether a queue is owed what another borrows. */
type Claim = { readonly isOwed: true } | { readonly isOwed: false; readonly because: string };

/** Looks up the leaf queues of a pod and of the beneficiary. */
function queuesOf({ moment, beneficiary }: Asked, pod: number) {
  const { queues, queueOfPod } = moment.analysis.snapshot.queueing;
  const victimIndex = queueOfPod[pod] ?? -1;
  return { victimIndex, victim: queues[victimIndex], starved: queues[beneficiary?.queue ?? -1] };
}

/**
 * Whether the pod's queue holds more than its guarantee while the beneficiary's queue holds less. Everything that the question
 * takes from the queue counts together, and units are taken only as long as the queue is still above its guarantee.
 */
function claimOn(asked: Asked, pod: number): Claim {
  const { victim, victimIndex, starved } = queuesOf(asked, pod);
  const { domains } = asked.moment.analysis.snapshot.queueing;
  if (victim === undefined || starved === undefined) return not("no queue is known that would be owed them");
  if (victim === starved) return not(`both are in queue ${victim.name}`);
  if (victim.domain !== starved.domain) return not(`queues ${victim.name} and ${starved.name} do not share GPUs`);
  if (domains[starved.domain]?.unknownBecause !== null) return not("what its queues are sure of is not known");
  const more = asked.beneficiary?.gpus ?? 0;
  const has = allocatedBy(starved);
  const isBelow = more > 0 ? has + more <= starved.guaranteed + gpuTolerance : has < starved.guaranteed - gpuTolerance;
  if (!isBelow) {
    const wants = more > 0 ? ` and would hold ${rounded(has + more)}` : "";
    return not(
      `queue ${starved.name} is sure of ${rounded(starved.guaranteed)} GPUs, holds ${rounded(has)}${wants}: no more is owed to it`,
    );
  }
  const before = victim.allocated - takenBeforeLast(asked, victimIndex);
  if (before > victim.guaranteed + gpuTolerance) return { isOwed: true };
  return not(
    `queue ${victim.name} holds ${rounded(victim.allocated)} GPUs and is sure of ${rounded(victim.guaranteed)}: so much is not borrowed`,
  );
}

/**
 * Physical GPUs that the question takes from a queue, counting pods whose priority is not lower than that of the beneficiary.
 * The largest unit is left out: it counts as the last one to be taken.
 */
function takenBeforeLast(asked: Asked, queue: number): number {
  const { queueOfPod } = asked.moment.analysis.snapshot.queueing;
  const mine = asked.beneficiary?.priority ?? 0;
  const units = new Map<string, number>();
  for (const one of asked.pods) {
    if (queueOfPod[one.index] !== queue || one.pod.priority < mine) continue;
    const unit = unitOf(one, asked.by);
    units.set(unit, (units.get(unit) ?? 0) + (one.pod.gpus ?? Infinity));
  }
  const sizes = [...units.values()];
  return sizes.reduce((sum, size) => sum + size, 0) - Math.max(0, ...sizes);
}

/**
 * A key that is equal for pods that leave together: those of a gang, or of a workload that is stopped or requeued. An evicted
 * pod without a gang leaves alone.
 */
function unitOf({ index, pod }: AskedPod, by: Asked["by"]): string {
  if (by !== "eviction") return `workload ${pod.workload}`;
  return pod.gang === null ? `pod ${index}` : `gang ${pod.gang.id}`;
}

const allocatedBy = ({ allocated, reserved }: QueueView): number => Math.max(allocated, reserved ?? 0);
const not = (because: string): Claim => ({ isOwed: false, because });
const rounded = (gpus: number): number => Math.round(gpus * 100) / 100;

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

/**
 * Why Kueue would not take back what the pod's queue borrows (pkg/scheduler/preemption, `reclaimWithinCohort`). The pods are
 * not of lower priority.
 */
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

/**
 * Why KAI would not reclaim a pod: it reclaims what is above quota whatever its priority, but never from groups that are not
 * preemptible.
 */
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
 * With this label and a value other than `true`, work of Volcano must not be taken off its nodes; without it, this is allowed
 * (pkg/scheduler/api/pod_info.go).
 */
const volcanoPreemptable = "volcano.sh/preemptable";

/**
 * Why Volcano would not reclaim a pod: action `reclaim` takes from queues that are reclaimable and hold more than they deserve.
 */
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
