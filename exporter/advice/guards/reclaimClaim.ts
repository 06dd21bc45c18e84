import type { QueueView } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { Asked, AskedPod } from "./guard.ts";

/** Whether a queue is owed what another borrows. */
export type Claim = { readonly isOwed: true } | { readonly isOwed: false; readonly because: string };

/** The leaf queues of a pod and of the beneficiary. */
export function queuesOf({ moment, beneficiary }: Asked, pod: number) {
  const { queues, queueOfPod } = moment.analysis.snapshot.queueing;
  const victimIndex = queueOfPod[pod] ?? -1;
  return { victimIndex, victim: queues[victimIndex], starved: queues[beneficiary?.queue ?? -1] };
}

/**
 * Whether the pod's queue holds more than its guarantee while the beneficiary's queue holds less. Everything that the question
 * takes from the queue counts together, and units are taken only as long as the queue is still above its guarantee.
 */
export function claimOn(asked: Asked, pod: number): Claim {
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
 * What is taken from a queue from pods that are not of lower priority, without the largest unit, which counts as the last one
 * to be taken.
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

/** What leaves at once: a gang, a workload that is stopped or requeued, or an evicted pod. */
function unitOf({ index, pod }: AskedPod, by: Asked["by"]): string {
  if (by !== "eviction") return `workload ${pod.workload}`;
  return pod.gang === null ? `pod ${index}` : `gang ${pod.gang.id}`;
}

const allocatedBy = ({ allocated, reserved }: QueueView): number => Math.max(allocated, reserved ?? 0);
const not = (because: string): Claim => ({ isOwed: false, because });
const rounded = (gpus: number): number => Math.round(gpus * 100) / 100;
