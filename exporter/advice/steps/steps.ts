import type { Finding } from "../../analysis/lint/finding.ts";
import type { NodePoolView } from "../../join/snapshot.ts";
import type { AdviceStep } from "../../model/recommendation.ts";
import type { AdviceMoment } from "../moment.ts";
import { boostSteps } from "./boostSteps.ts";
import { fixSteps } from "./findingSteps.ts";
import { kaiQuotaSteps } from "./kaiSteps.ts";
import { kueueQuotaSteps } from "./kueueSteps.ts";
import { moveStepsOf } from "./moveSteps.ts";
import { emptyNodeSteps, type KeptBy } from "./nodePoolSteps.ts";
import { exporterSteps, labelSteps, removalSteps } from "./nodeSteps.ts";
import { requestStepsOf } from "./requestSteps.ts";
import { resourceQuotaSteps } from "./resourceQuotaSteps.ts";
import { noSteps } from "./step.ts";
import { volcanoQuotaSteps } from "./volcanoSteps.ts";
import { requeueSteps, stopSteps } from "./workloadSteps.ts";

/** The steps of a change, or why no request to the API makes it. */
export type StepsFound =
  | { readonly ok: true; readonly steps: readonly AdviceStep[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Removes all GPUs from a workload until someone starts it again: by the switch of its queue, or else by suspending or scaling
 * its owner.
 */
export function stopWorkload(moment: AdviceMoment, workload: number): StepsFound {
  return stopSteps(moment, workload);
}

/** Takes a workload off its nodes and lets it wait in its queue again, whole: `active: false`, then `true`. */
export function requeueWorkload(moment: AdviceMoment, workload: number): StepsFound {
  return requeueSteps(moment, workload);
}

/**
 * Moves pods off their nodes to others: cordons the nodes that they are to avoid, evicts each pod (or restarts its whole
 * workload, if nothing recreates evicted pods), and removes the cordons again. Only for pods whose owner recreates them. The
 * scheduler chooses where these go.
 */
export function movePods(
  moment: AdviceMoment,
  units: readonly (readonly number[])[],
  avoid: readonly number[],
  besides: readonly (readonly number[])[] = [],
): StepsFound {
  return moveStepsOf(moment, units, avoid, besides);
}

/** Removes a node from the cluster: cordon, drain (dry run first), and what its autoscaler or cloud needs to release it. */
export function removeNode(moment: AdviceMoment, node: number): StepsFound {
  return removalSteps(moment, node);
}

/** Lets the autoscaler of a node pool remove empty nodes by itself after this many minutes. */
export function removeEmptyNodes(pool: NodePoolView, by: KeptBy, afterMinutes: number): StepsFound {
  return emptyNodeSteps(pool, by, afterMinutes);
}

/** Changes the guarantee or the limit of a queue, in physical GPUs; index into `Queueing.queues`. */
export function changeQuota(
  { analysis: { snapshot } }: AdviceMoment,
  queue: number,
  to: { readonly guaranteed?: number; readonly limit?: number },
): StepsFound {
  const view = snapshot.queueing.queues[queue];
  const domain = view === undefined ? undefined : snapshot.queueing.domains[view.domain];
  if (view === undefined || domain === undefined) return noSteps("the queue is not there any more");
  if (
    Number.isNaN(to.guaranteed ?? 0) ||
    Number.isNaN(to.limit ?? 0) ||
    (to.guaranteed ?? 0) < 0 ||
    (to.limit ?? 0) < 0
  ) {
    return noSteps("a quota is an amount of GPUs, 0 or more");
  }
  switch (view.scheduler) {
    case "kueue":
      return kueueQuotaSteps(snapshot, view, domain, to);
    case "kai":
      return kaiQuotaSteps(snapshot, view, to);
    case "volcano":
      return volcanoQuotaSteps(snapshot, view, domain, to);
    case "none":
      return resourceQuotaSteps(snapshot, view, domain, to);
  }
}

/** Fixes what the lint found. */
export function fixFinding({ analysis: { snapshot } }: AdviceMoment, finding: Finding): StepsFound {
  return fixSteps(snapshot, finding);
}

/** Changes what the pods of a workload ask for, in its owner's template: `resource` instead of what they ask for now. */
export function changeRequest(
  moment: AdviceMoment,
  workload: number,
  to: { readonly resource: string; readonly amount: number },
): StepsFound {
  return requestStepsOf(moment, workload, to);
}

/** Restarts the exporter on a node, so that it is seen again. */
export function restartExporter(moment: AdviceMoment, node: number): StepsFound {
  return exporterSteps(moment, node);
}

/** Puts a label on a node, or another value on it, such as `nvidia.com/mig.config`. */
export function labelNode(moment: AdviceMoment, node: number, label: string, value: string): StepsFound {
  return labelSteps(moment, node, label, value);
}

/** Boosts the priority by which Kueue serves a waiting gang (index into `Queueing.gangs`), and takes the boost off again once it is admitted. */
export function boostPriority(moment: AdviceMoment, gang: number, by: number): StepsFound {
  return boostSteps(moment, gang, by);
}
