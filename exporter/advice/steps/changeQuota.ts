import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { AdviceMoment } from "../moment.ts";
import { kaiQuotaSteps } from "./kaiSteps.ts";
import { kueueQuotaSteps } from "./kueueSteps.ts";
import { isWholeGpu, type QuotaChange, wholeGpus } from "./queuePatch.ts";
import { allSteps, jsonPatch, noSteps, type StepsFound, stepOf } from "./step.ts";
import { volcanoQuotaSteps } from "./volcanoSteps.ts";

/** Changes the guarantee or the limit of a queue to physical GPUs. `queue`: index into `Queueing.queues`. */
export function changeQuota({ analysis: { snapshot } }: AdviceMoment, queue: number, to: QuotaChange): StepsFound {
  const view = snapshot.queueing.queues[queue];
  const domain = view === undefined ? undefined : snapshot.queueing.domains[view.domain];
  if (view === undefined || domain === undefined) return noSteps("the queue is not there any more");
  const amounts = [to.guaranteed ?? 0, to.limit ?? 0];
  if (amounts.some((amount) => Number.isNaN(amount) || amount < 0))
    return noSteps("a quota is an amount of GPUs, 0 or more");
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

/**
 * Changes the most that a namespace may hold, if exactly one ResourceQuota sets it. Nothing in the cluster sets its guarantee.
 */
function resourceQuotaSteps(snapshot: Snapshot, view: QueueView, domain: QuotaDomain, to: QuotaChange): StepsFound {
  const isNamespace = view.kind === "Namespace";
  if (!isNamespace || to.guaranteed !== undefined || to.limit === undefined) {
    return noSteps(
      `what ${view.name} is sure of is in Fairlead's own configuration (queues.teams), not in the cluster`,
    );
  }
  // The queue's name is `team/namespace`, and no namespace contains a slash.
  const namespace = view.name.slice(view.name.lastIndexOf("/") + 1);
  const capped = snapshot.queueObjects.resourceQuotas
    .filter((quota) => quota.namespace === namespace)
    .flatMap((quota) =>
      Object.entries(quota.hard).map(([resource, amount]) => ({ name: quota.name, resource, amount })),
    )
    .filter(({ resource }) => gpuLikeResource(resource));
  const [only, ...others] = capped;
  if (only === undefined) return noSteps(`no ResourceQuota of namespace ${namespace} counts GPUs`);
  if (others.length > 0)
    return noSteps(
      `${capped.length} quotas of GPUs hold in namespace ${namespace}: which to change is for a person to say`,
    );
  const amount = wholeGpus(to.limit);
  if (amount === null) return noSteps(`${to.limit} is no whole number of ${only.resource}`);
  if (!isWholeGpu(snapshot, domain, only.resource))
    return noSteps(`${only.resource} is not a whole GPU on all nodes of ${domain.name}`);
  if (amount === only.amount) return noSteps(`ResourceQuota ${namespace}/${only.name} has that amount already`);
  const ref = { group: "", version: "v1", resource: "resourcequotas", namespace, name: only.name };
  const at = ["spec", "hard", `requests.${only.resource}`];
  return allSteps([
    stepOf(
      jsonPatch(ref, [
        { op: "test", at, value: String(only.amount) },
        { op: "replace", at, value: String(amount) },
      ]),
      {
        title: `Set requests.${only.resource} of ResourceQuota ${namespace}/${only.name} to ${amount}`,
        precondition: `It is still ${only.amount}: the request tests it.`,
      },
    ),
  ]);
}
