import type { PodDisruptionBudget } from "../../model/cluster.ts";
import type { JobLimits } from "../../model/disruption.ts";
import type { TextMap } from "../../model/node.ts";
import type { OwnerRef } from "../../model/pod.ts";
import { meets } from "../../model/queues/nodeMatch.ts";
import { type AskedPod, type Guard, type Objection, podName } from "./guard.ts";

/**
 * What the Eviction API would refuse (Kubernetes: pkg/registry/core/pod/storage/eviction.go): each budget must allow the
 * eviction of all pods of the question that it covers, and a pod under more than one budget cannot be evicted at all. Requests
 * that scale, suspend or requeue are not checked against budgets by the API.
 */
export const disruptionBudget: Guard = ({ pods, by, lookup }) => {
  if (by !== "eviction") return [];
  const objections: Objection[] = [];
  const covered = new Map<PodDisruptionBudget, AskedPod[]>();
  for (const asked of pods) {
    const { namespace, labels } = asked.pod;
    const budgets = lookup.budgets(namespace).filter((budget) => selects(budget, labels));
    const [first, second] = budgets;
    if (first !== undefined && second !== undefined) objections.push(tooMany(asked, first, second, budgets.length));
    for (const budget of budgets) covered.set(budget, [...(covered.get(budget) ?? []), asked]);
  }
  for (const [budget, under] of covered) objections.push(...notAllowed(budget, under));
  return objections;
};

function tooMany(
  { index, pod }: AskedPod,
  first: PodDisruptionBudget,
  second: PodDisruptionBudget,
  count: number,
): Objection {
  const names = `${first.name} and ${second.name}`;
  return {
    pod: index,
    reason: `${podName(pod)} is under ${count} PodDisruptionBudgets (${names}): the Eviction API refuses that.`,
  };
}

function notAllowed(budget: PodDisruptionBudget, under: readonly AskedPod[]): readonly Objection[] {
  const { namespace, name, disruptionsAllowed: allowed } = budget;
  const [first] = under;
  if (first === undefined || (allowed !== null && under.length <= allowed)) return [];
  const subject = `PodDisruptionBudget ${namespace}/${name}`;
  const reason =
    allowed === null
      ? `${subject} does not say yet how many disruptions it allows.`
      : `${subject} allows ${allowed} disruptions, and ${under.length} of its pods would be evicted.`;
  return [{ pod: first.index, reason }];
}

/** The operators of a label selector; those of node affinity alone (`Gt`, `Lt`) are not among them. */
const operators: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);

/**
 * Whether a label selector matches labels (Kubernetes: `metav1.LabelSelector`): all of its parts must match; an empty one
 * matches everything. An unknown operator counts as a match, so that a budget protects too much rather than too little.
 */
export function selects(
  { matchLabels, matchExpressions }: Pick<PodDisruptionBudget, "matchLabels" | "matchExpressions">,
  labels: TextMap,
): boolean {
  for (const key of Object.keys(matchLabels))
    if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false;
  return matchExpressions.every((one) => !operators.has(one.operator) || meets(labels, one));
}

/**
 * An evicted pod of a batch/v1 Job counts as failed, unless its podFailurePolicy ignores disruptions; at its backoffLimit the
 * Job gives up. A Job is therefore only touched if it stays below its limit. A Job that is suspended (by hand or by its queue)
 * deletes its pods itself and counts none.
 */
export const jobBackoff: Guard = ({ pods, by, moment }) => {
  if (by !== "eviction") return [];
  const { workloads } = moment.analysis.snapshot;
  const ofJobs = pods.filter(({ pod }) => pod.owner !== null && isJob(pod.owner));
  return [...Map.groupBy(ofJobs, ({ pod }) => pod.workload)].flatMap(([workload, evicted]) => {
    const [first] = evicted;
    if (first === undefined) return [];
    const reason = objectionOf(workloads[workload]?.job ?? null, first, evicted.length);
    return reason === null ? [] : [{ pod: first.index, reason }];
  });
};

const isJob = ({ kind, apiVersion }: OwnerRef): boolean => kind === "Job" && apiVersion.startsWith("batch/");

function objectionOf(job: JobLimits | null, { pod }: AskedPod, pods: number): string | null {
  const name = `Job ${pod.namespace}/${pod.owner?.name ?? ""}`;
  if (job === null) return `${podName(pod)} belongs to ${name}, whose backoffLimit could not be read.`;
  const { backoffLimit, failed, onDisruption } = job;
  if (onDisruption === "Ignore") return null;
  if (onDisruption === "FailJob") return `${name} fails when one of its pods is evicted (podFailurePolicy FailJob).`;
  if (onDisruption === "FailIndex")
    return `${name} gives up an index when its pod is evicted (podFailurePolicy FailIndex).`;
  if (backoffLimit === null) return `${name} counts failures by index, and nobody knows how many are left.`;
  if (failed + pods < backoffLimit) return null;
  return `${name} has ${failed} failed pods; ${pods} evicted pods count as failures, too, and reach its backoffLimit of ${backoffLimit}.`;
}
