import type { Finding, FindingCode } from "../../analysis/lint/finding.ts";
import { unsharedQuota } from "../../analysis/lint/idleQuota.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import type { AdviceMoment } from "../moment.ts";
import { kaiLimitSteps, kaiSurplusSteps } from "./kaiSteps.ts";
import { clusterQueueTarget, kueueNamespaceSteps, kueueReclaimSteps } from "./kueueSteps.ts";
import { guardedPatch, setAt } from "./queuePatch.ts";
import { allSteps, noSteps, type StepsFound } from "./step.ts";
import { volcanoOpenSteps, volcanoReclaimSteps } from "./volcanoSteps.ts";

type Fix = (snapshot: Snapshot, name: string) => StepsFound;

const configuration = "it is in Kueue's Configuration, a ConfigMap that its controller reads when it starts";
const choice =
  (what: string): Fix =>
  () =>
    noSteps(`${what} is for a person to say`);
const no =
  (reason: string): Fix =>
  () =>
    noSteps(reason);

/** For each code of a finding: makes the request that fixes it, or the reason why there is none. */
const fixes: Readonly<Record<FindingCode, Fix>> = {
  "kueue-no-reclaim": kueueReclaimSteps,
  "kueue-reclaim-no-candidates": kueueReclaimSteps,
  "kueue-quota-not-shared": kueueCohortSteps,
  "kueue-preemption-no-candidates": choice("which work should go first"),
  "kueue-queue-selects-no-namespace": kueueNamespaceSteps,
  "kai-limit-zero": kaiLimitSteps,
  "kai-no-surplus": kaiSurplusSteps,
  "volcano-queue-closed": volcanoOpenSteps,
  "volcano-keeps-surplus": volcanoReclaimSteps,
  "kueue-admission-fairness-without-half-life": no(configuration),
  "kueue-admission-fairness-memory-weight": no(configuration),
  "kueue-admission-mode-ignored": no(configuration),
  "kueue-weight-without-fair-sharing": no(`${configuration}, or the weight is not meant`),
  "kueue-cohort-of-one": choice("which queues should share GPUs"),
  "kueue-cohort-cycle": choice("which of these Cohorts is the top"),
  "kueue-queue-unreachable": choice("which namespaces should get a LocalQueue of it"),
  "kueue-flavor-without-nodes": choice("whether its labels or those of the nodes are wrong"),
  "volcano-plugin-guessed": no(
    "which plugin is meant is in Fairlead's own configuration, or in volcano-scheduler.conf",
  ),
  "volcano-deserved-ignored": no("which plugin shares the GPUs is in volcano-scheduler.conf, a ConfigMap"),
  "volcano-weight-ignored": choice("how many GPUs it should have when others want theirs"),
  "kai-queue-orphan": choice("whether its parent is to be made, or is another"),
  "kai-quota-above-parent": choice("whether the parent gets more or its queues get less"),
  "kai-history-ignored": no("it is in Fairlead's own configuration"),
  "quota-promised-twice": choice("which scheduler's queues are promised less"),
  "quota-above-capacity": choice("which queues are promised less"),
  "pods-past-queues": choice("which of this work goes through a queue, or which queues are promised less"),
  "queue-unknown": choice("whether the queue is to be made, or its name is wrong"),
};

/**
 * Puts a ClusterQueue whose work waits, and those whose idle quota would start it, into one new cohort. The lenders go first:
 * a queue alone in a cohort behaves as before.
 */
function kueueCohortSteps(snapshot: Snapshot, name: string): StepsFound {
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

/** A name that no cohort has, so that no other queue joins the new one. */
function unusedName(taken: ReadonlySet<string | null>): string {
  let name = "shared-gpus";
  for (let next = 2; taken.has(name); next++) name = `shared-gpus-${next}`;
  return name;
}

function joinStep(queue: KueueClusterQueue, cohort: string) {
  // The name of the field in v1beta1.
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

/** The steps that fix a finding of the lint. */
export const fixFinding = ({ analysis: { snapshot } }: AdviceMoment, { code, name }: Finding): StepsFound =>
  fixes[code](snapshot, name);
