import type { QueueObjectRef } from "../model/disruption.ts";
import type { GatheredView, SubjectPod } from "./podViews.ts";
import { type QueueObjectFinder, refOfGang } from "./queues/queueObjectFinder.ts";
import type { DeclaredGang } from "./queues/queueSystem.ts";

/**
 * Gives each workload the object by which its queue system knows it: its gang, or else the object of its first pod. The latter
 * is needed if its GPUs are claims, because claims are no resources that would make the object a gang with GPUs.
 */
export function reportQueueObjects(
  workloads: readonly GatheredView[],
  gangOfWorkload: readonly (DeclaredGang | undefined)[],
  pods: readonly SubjectPod[],
  { isEmpty, find }: QueueObjectFinder,
): void {
  if (isEmpty) return;
  for (const [i, view] of workloads.entries()) {
    const gang = gangOfWorkload[i];
    view.queueObject = gang === undefined ? ofFirstPod(view, pods, find) : refOfGang(gang);
  }
}

function ofFirstPod(
  view: GatheredView,
  pods: readonly SubjectPod[],
  find: QueueObjectFinder["find"],
): QueueObjectRef | null {
  const first = pods[view.pods[0] ?? -1];
  const subject = first?.subject ?? null;
  if (first === undefined || subject === null || first.pod.gpu.claims.length === 0) return null;
  return find(first.pod, subject.chain.owners)?.ref ?? null;
}
