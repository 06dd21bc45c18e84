import { kueueNames } from "../../model/wellKnown.ts";
import type { AdviceMoment } from "../moment.ts";
import { isUid } from "./resourceRef.ts";
import { allSteps, mergePatch, noSteps, type StepsFound, stepOf } from "./step.ts";

/** Kueue reads it as a 32-bit integer. */
const mostBoost = 2 ** 31 - 1;

const gateWords =
  'Kueue 0.17 or later heeds it only with its feature gate PriorityBoost (alpha, off by default): featureGates of its Configuration, or --feature-gates, has it. With the gate on, the dry run is refused for a value that is no number, such as "x"; without it nothing happens.';

/**
 * Boosts the priority of the Workload of a waiting gang, and takes the boost off again. Source: Kueue v0.19, KEP 7990:
 * priority for order and preemption is `spec.priority` plus this annotation, a signed 32-bit integer; an empty value or one
 * that is no integer is refused.
 */
export function boostPriority({ analysis: { snapshot } }: AdviceMoment, index: number, by: number): StepsFound {
  const gang = snapshot.queueing.gangs[index];
  const { kueueWorkloads, kueueClusterQueues } = snapshot.queueObjects;
  const workload = gang === undefined ? undefined : kueueWorkloads.find(({ uid }) => uid === gang.uid);
  if (gang === undefined || workload === undefined || gang.scheduler !== "kueue")
    return noSteps("no Workload of Kueue is known that waits for it");
  const { namespace, name, uid, priorityBoost = 0 } = workload;
  const subject = `Workload ${namespace}/${name}`;
  if (!Number.isInteger(by) || by === 0 || Math.abs(by) > mostBoost)
    return noSteps("a boost is a whole number of 32 bits that is not 0");
  if (gang.reservedAt !== null || workload.admission !== null) return noSteps(`${subject} has its quota already`);
  if (priorityBoost !== 0)
    return noSteps(`someone boosts the priority of ${subject} by ${priorityBoost} already, and may undo another boost`);
  if (!isUid(uid)) return noSteps(`the uid of ${subject} is not known`);
  const isOlder = kueueClusterQueues[0]?.revision?.apiVersion === "kueue.x-k8s.io/v1beta1";
  const ref = {
    group: "kueue.x-k8s.io",
    version: isOlder ? "v1beta1" : "v1beta2",
    resource: "workloads",
    namespace,
    name,
  };
  const patch = (boost: string | null) =>
    mergePatch(ref, uid, { metadata: { annotations: { [kueueNames.priorityBoost]: boost } } });
  const same = `${subject} is still the same object (its uid)`;
  return allSteps([
    stepOf(patch(String(by)), {
      title: `Boost the priority of ${subject} by ${by}`,
      precondition: `${same}, nobody else boosts it, it still waits, and what it needs is still free. ${gateWords}`,
      waitFor:
        "It is admitted (condition Admitted), which takes seconds. Where it is not within a minute, what it needs is gone: take the boost off at once.",
    }),
    stepOf(patch(null), {
      title: `Take the boost off ${subject} again`,
      precondition: `${same}, and it is admitted, or was not within a minute: a boost that stays puts it before others again when it has to wait again.`,
    }),
  ]);
}
