import { isInDomain } from "../../join/queues/domainOfNode.ts";
import type { QueueView, QuotaDomain } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueClusterQueue, KueueQuota } from "../../model/queues/kueue.ts";
import { selects } from "../../model/queues/nodeMatch.ts";
import { kueueNames } from "../../model/wellKnown.ts";
import type { AdviceMoment } from "../moment.ts";
import {
  guardedPatch,
  isWholeGpu,
  type QueueTarget,
  type QuotaChange,
  queueTarget,
  setAt,
  wholeGpus,
} from "./queuePatch.ts";
import { isUid } from "./resourceRef.ts";
import { allSteps, mergePatch, noSteps, type PatchOperation, type StepsFound, stepOf } from "./step.ts";

/** A ClusterQueue as the target of a request. */
export const clusterQueueTarget = (queue: KueueClusterQueue): QueueTarget =>
  queueTarget("ClusterQueue", queue, { apiVersion: "kueue.x-k8s.io/v1beta2", resource: "clusterqueues" });

/** Changes the nominal quota and the borrowing limit of a ClusterQueue. If no new limit is given, its limit stays the same. */
export function kueueQuotaSteps(snapshot: Snapshot, view: QueueView, domain: QuotaDomain, to: QuotaChange): StepsFound {
  if (view.kind !== "ClusterQueue")
    return noSteps(`the quota of ${view.kind} ${view.name} is the sum of those below it`);
  const queue = snapshot.queueObjects.kueueClusterQueues.find(({ name }) => name === view.name);
  if (queue === undefined) return noSteps(`ClusterQueue ${view.name} is not there any more`);
  const found = gpuQuota(snapshot, queue, domain);
  if (typeof found === "string") return noSteps(found);
  const amounts = amountsOf(found.quota, queue, to);
  if (typeof amounts === "string") return noSteps(amounts);
  const { quota, at } = found;
  const at_ = (field: string) => [...at, field];
  const operations: PatchOperation[] = [
    { op: "test", at: [...at.slice(0, -2), "name"], value: quota.flavor },
    { op: "test", at: at_("name"), value: quota.resource },
  ];
  if (amounts.nominal !== quota.nominal) operations.push(setAt(at_("nominalQuota"), String(amounts.nominal)));
  if (amounts.borrowing !== quota.borrowingLimit) {
    if (amounts.borrowing === null) operations.push({ op: "remove", at: at_("borrowingLimit") });
    else operations.push(setAt(at_("borrowingLimit"), String(amounts.borrowing)));
  }
  // Kueue refuses a lending limit above the quota.
  if (quota.lendingLimit !== null && quota.lendingLimit > amounts.nominal) {
    operations.push(setAt(at_("lendingLimit"), String(amounts.nominal)));
  }
  if (operations.length === 2) return noSteps(`ClusterQueue ${queue.name} has that quota already`);
  const before: readonly PatchOperation[] = [
    { op: "test", at: at_("nominalQuota"), value: String(quota.nominal) },
    ...(quota.borrowingLimit === null
      ? []
      : [{ op: "test", at: at_("borrowingLimit"), value: String(quota.borrowingLimit) } as const]),
  ];
  const title = `Set ${quota.resource} (${quota.flavor}) of ClusterQueue ${queue.name} to ${shown(amounts)}`;
  return allSteps([guardedPatch(clusterQueueTarget(queue), title, operations, before)]);
}

interface KueueAmounts {
  readonly nominal: number;
  /** The borrowing limit; `null`: no limit. */
  readonly borrowing: number | null;
}

const shown = ({ nominal, borrowing }: KueueAmounts): string =>
  `nominalQuota ${nominal}, ${borrowing === null ? "without a borrowing limit" : `borrowingLimit ${borrowing}`}`;

/** The new amounts, or the reason why there are none. A queue's limit is its quota plus what it may borrow. */
function amountsOf(quota: KueueQuota, { name, cohort }: KueueClusterQueue, to: QuotaChange): KueueAmounts | string {
  const nominal = to.guaranteed === undefined ? quota.nominal : wholeGpus(to.guaranteed);
  if (nominal === null) return `${to.guaranteed} is no whole number of ${quota.resource}`;
  const { borrowingLimit } = quota;
  const had = borrowingLimit === null ? Number.POSITIVE_INFINITY : quota.nominal + borrowingLimit;
  if (cohort === null) {
    if (to.limit !== undefined && to.limit !== nominal)
      return `ClusterQueue ${name} is in no cohort: its limit is its quota`;
    return { nominal, borrowing: borrowingLimit };
  }
  const limit = to.limit ?? had;
  if (limit === Number.POSITIVE_INFINITY) return { nominal, borrowing: null };
  const whole = wholeGpus(limit);
  if (whole === null) return `${limit} is no whole number of ${quota.resource}`;
  if (to.limit !== undefined && whole < nominal) return `a limit of ${whole} is below its quota of ${nominal}`;
  return { nominal, borrowing: Math.max(0, whole - nominal) };
}

/** The only quota of GPUs that counts in a domain, and its place in the object. */
function gpuQuota(
  snapshot: Snapshot,
  queue: KueueClusterQueue,
  domain: QuotaDomain,
): { readonly quota: KueueQuota; readonly at: readonly (string | number)[] } | string {
  const flavors = new Map(snapshot.queueObjects.kueueResourceFlavors.map((one) => [one.name, one] as const));
  const nodes = snapshot.nodes.filter((node) => node.pools.some((pool) => isInDomain(domain, pool, node.name)));
  const isHere = ({ flavor }: KueueQuota): boolean => {
    const nodeSelector = flavors.get(flavor)?.nodeLabels;
    return (
      nodeSelector !== undefined && nodes.some(({ labels }) => selects({ nodeSelector, nodeAffinity: [] }, labels))
    );
  };
  const ofGpus = queue.quotas.filter(({ resource }) => gpuLikeResource(resource));
  const here = ofGpus.length === 1 ? ofGpus : ofGpus.filter(isHere);
  const [quota] = here;
  if (quota === undefined) return `ClusterQueue ${queue.name} has no quota of GPUs of ${domain.name}`;
  if (here.length > 1)
    return `ClusterQueue ${queue.name} has ${here.length} quotas of GPUs of ${domain.name}: which to change is for a person to say`;
  if (quota.place === null) return `where the quota is in ClusterQueue ${queue.name} is not known`;
  if (!isWholeGpu(snapshot, domain, quota.resource))
    return `${quota.resource} is not a whole GPU on all nodes of ${domain.name}`;
  const { group, flavor, resource } = quota.place;
  return { quota, at: ["spec", "resourceGroups", group, "flavors", flavor, "resources", resource] };
}

/** Lets a ClusterQueue take back what its cohort borrows from it. */
export function kueueReclaimSteps({ queueObjects }: Snapshot, name: string): StepsFound {
  const queue = queueObjects.kueueClusterQueues.find((one) => one.name === name);
  if (queue === undefined) return noSteps(`ClusterQueue ${name} is not there any more`);
  if (queue.cohort === null) return noSteps(`ClusterQueue ${name} is in no cohort: nobody borrows from it`);
  const at = ["spec", "preemption", "reclaimWithinCohort"];
  const old = queue.preemption.reclaimWithinCohort;
  if (old === "Any")
    return noSteps(`ClusterQueue ${name} takes back what is borrowed already (reclaimWithinCohort Any)`);
  const title = `Let ClusterQueue ${name} take back what its cohort borrows (reclaimWithinCohort Any, was ${old})`;
  const test = { op: "test", at, value: old } as const;
  return allSteps([
    guardedPatch(
      clusterQueueTarget(queue),
      title,
      [test, { op: "replace", at, value: "Any" }],
      [],
      "From then on Kueue preempts work of others in the cohort as soon as its own waits.",
    ),
  ]);
}

/** Lets work of all namespaces into a ClusterQueue that selects none. */
export function kueueNamespaceSteps({ queueObjects }: Snapshot, name: string): StepsFound {
  const queue = queueObjects.kueueClusterQueues.find((one) => one.name === name);
  if (queue === undefined) return noSteps(`ClusterQueue ${name} is not there any more`);
  if (queue.namespaceSelector !== null) return noSteps(`ClusterQueue ${name} selects namespaces by now`);
  const title = `Let all namespaces use ClusterQueue ${name}`;
  const more =
    "Every namespace with a LocalQueue of it may use it from then on: name labels instead of {} where only some should.";
  return allSteps([
    guardedPatch(
      clusterQueueTarget(queue),
      title,
      [{ op: "add", at: ["spec", "namespaceSelector"], value: {} }],
      [],
      more,
    ),
  ]);
}

/** Kueue reads the boost as a 32-bit integer. */
const mostBoost = 2 ** 31 - 1;

const gateWords =
  'Kueue 0.17 or later heeds it only with its feature gate PriorityBoost (alpha, off by default): featureGates of its Configuration, or --feature-gates, has it. With the gate on, the dry run is refused for a value that is no number, such as "x"; without it nothing happens.';

/**
 * Boosts the priority of the Workload of a waiting gang, and takes the boost off again. Source: Kueue v0.19, KEP 7990: the
 * priority for order and preemption is `spec.priority` plus this annotation, which is a signed 32-bit integer. An empty value,
 * or one that is not an integer, is refused.
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
