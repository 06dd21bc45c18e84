import type { JobLimits } from "../../model/disruption.ts";
import type { OwnerRef } from "../../model/pod.ts";
import type { AskedPod, Guard } from "./guard.ts";
import { podName } from "./guard.ts";

/**
 * An evicted pod of a batch/v1 Job counts as failed, unless its podFailurePolicy ignores disruptions; at its backoffLimit the
 * Job gives up. So a Job is only touched if it stays below its limit. A Job that is suspended (by hand or by its queue)
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
