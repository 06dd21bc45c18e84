import type { Finding } from "../../analysis/lint/finding.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";

/** The steps of a change, or why no request to the API makes it. */
export type StepsFound =
  | { readonly ok: true; readonly steps: readonly AdviceStep[] }
  | { readonly ok: false; readonly reason: string };

const notYet: StepsFound = { ok: false, reason: "no request is known that does it" };

/** Takes all GPUs of a workload away until somebody starts it again: its queue's switch, else suspends or scales its owner. */
export function stopWorkload(_moment: AdviceMoment, _workload: number): StepsFound {
  return notYet;
}

/** Takes a workload off its nodes and lets it wait in its queue again, whole: `active: false`, then `true`. */
export function requeueWorkload(_moment: AdviceMoment, _workload: number): StepsFound {
  return notYet;
}

/**
 * Moves pods off their nodes to others: cordons the nodes that they are to avoid, evicts each pod (or restarts its gang whole),
 * and takes the cordon off again. Only for pods whose owner makes new ones.
 */
export function movePods(
  _moment: AdviceMoment,
  _units: readonly (readonly number[])[],
  _avoid: readonly number[],
): StepsFound {
  return notYet;
}

/** Takes a node out of the cluster: cordon, drain (dry run first), and what its autoscaler or cloud needs to let it go. */
export function removeNode(_moment: AdviceMoment, _node: number): StepsFound {
  return notYet;
}

/** Changes what a queue is sure of or may hold, in physical GPUs; index into `Queueing.queues`. */
export function changeQuota(
  _moment: AdviceMoment,
  _queue: number,
  _to: { readonly guaranteed?: number; readonly limit?: number },
): StepsFound {
  return notYet;
}

/** Lets a queue's own scheduler take back what others borrowed from it. */
export function allowReclaim(_moment: AdviceMoment, _queue: number): StepsFound {
  return notYet;
}

/** Mends what the lint found. */
export function mendFinding(_moment: AdviceMoment, _finding: Finding): StepsFound {
  return notYet;
}

/** Changes what the pods of a workload ask for, in its owner's template: `resource` instead of what they ask for now. */
export function changeRequest(
  _moment: AdviceMoment,
  _workload: number,
  _to: { readonly resource: string; readonly amount: number },
): StepsFound {
  return notYet;
}

/** Restarts the exporter on a node, so that it is seen again. */
export function restartExporter(_moment: AdviceMoment, _node: number): StepsFound {
  return notYet;
}
