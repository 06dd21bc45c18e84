import { unsharedQuota } from "../../analysis/lint/idleQuota.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import { clusterQueueTarget } from "./kueueSteps.ts";
import { guardedPatch, setAt } from "./queuePatch.ts";
import { allSteps, noSteps } from "./step.ts";
import type { StepsFound } from "./steps.ts";

/**
 * Puts a ClusterQueue whose work waits, and those whose idle quota would start it, into one new cohort. The lenders go first:
 * a queue alone in a cohort is as it was.
 */
export function kueueCohortSteps(snapshot: Snapshot, name: string): StepsFound {
  const { kueueClusterQueues, kueueCohorts } = snapshot.queueObjects;
  const found = unsharedQuota(snapshot).find(({ queue }) => queue.name === name);
  if (found === undefined) return noSteps(`no idle quota would start work of ClusterQueue ${name} any more`);
  const names = [...found.lenders.map(({ view }) => view.name), name];
  const queues = names.flatMap((one) =>
    kueueClusterQueues.filter((queue) => queue.name === one && queue.cohort === null),
  );
  if (queues.length < names.length) return noSteps("one of these ClusterQueues is in a cohort by now");
  const taken = new Set([
    ...kueueCohorts.map((cohort) => cohort.name),
    ...kueueClusterQueues.map(({ cohort }) => cohort),
  ]);
  const cohort = unusedName(taken);
  return allSteps(queues.map((queue) => joinStep(queue, cohort)));
}

/** Nobody else is to come into the cohort by its name. */
function unusedName(taken: ReadonlySet<string | null>): string {
  let name = "shared-gpus";
  for (let next = 2; taken.has(name); next++) name = `shared-gpus-${next}`;
  return name;
}

function joinStep(queue: KueueClusterQueue, cohort: string) {
  // The field's name in v1beta1.
  const field = queue.revision?.apiVersion.endsWith("/v1beta1") === true ? "cohort" : "cohortName";
  const keeps = queue.preemption.reclaimWithinCohort === "Never";
  const more = keeps
    ? "What it lends comes back when the borrower's work ends: set spec.preemption.reclaimWithinCohort to Any where that is too late."
    : "";
  return guardedPatch(
    clusterQueueTarget(queue),
    `Put ClusterQueue ${queue.name} into cohort ${cohort}`,
    [setAt(["spec", field], cohort)],
    [],
    more,
  );
}
