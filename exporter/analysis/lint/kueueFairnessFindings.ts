import type { Snapshot } from "../../join/snapshot.ts";
import { gpuLikeResource } from "../../model/gpuResource.ts";
import type { KueueClusterQueue } from "../../model/queues/kueue.ts";
import type { QueueObjects, SchedulerSettings } from "../../model/queues/queueObjects.ts";
import type { Finding } from "./finding.ts";
import { kueueFinding } from "./kueueFindings.ts";

type KueueSettings = NonNullable<SchedulerSettings["kueue"]>;
type AdmissionFairSharing = NonNullable<KueueSettings["admissionFairSharing"]>;

const usageBased = "UsageBasedAdmissionFairSharing";
const gibibyte = 1024 ** 3;

/**
 * Fair sharing that is set up in objects but off in Kueue's Configuration, or has no effect there. Findings that need the
 * Configuration are reported only if it was read. Source: Kueue v0.19.
 */
export function kueueFairnessFindings({ queueObjects, schedulerSettings }: Snapshot): readonly Finding[] {
  const { kueueClusterQueues, kueueCohorts } = queueObjects;
  const settings = schedulerSettings.kueue;
  const findings = localWeights(queueObjects);
  if (settings === null) return findings;
  if (!settings.fairSharing) {
    findings.push(...kueueClusterQueues.filter(isWeighted).map((queue) => weightOff("ClusterQueue", queue)));
    findings.push(...kueueCohorts.filter(isWeighted).map((cohort) => weightOff("Cohort", cohort)));
  }
  const byUsage = kueueClusterQueues.filter(admitsByUsage);
  if (byUsage.length === 0) return findings;
  const { admissionFairSharing } = settings;
  if (admissionFairSharing === null) return [...findings, ...byUsage.map(modeIgnored)];
  if (admissionFairSharing.halfLifeSeconds === 0) findings.push(withoutHalfLife(byUsage.length));
  const heavy = memoryWeight(admissionFairSharing, byUsage);
  return heavy === null ? findings : [...findings, heavy];
}

const isWeighted = ({ weight }: { readonly weight: number }): boolean => weight !== 1;
const admitsByUsage = ({ admissionMode }: KueueClusterQueue): boolean => admissionMode === usageBased;

/** Weights of LocalQueues whose existing ClusterQueue does not read them, whatever the Configuration contains. */
function localWeights({ kueueClusterQueues, kueueLocalQueues }: QueueObjects): Finding[] {
  const readsNone = new Set(kueueClusterQueues.filter((queue) => !admitsByUsage(queue)).map(({ name }) => name));
  return kueueLocalQueues
    .filter((queue) => isWeighted(queue) && readsNone.has(queue.clusterQueue))
    .map(({ namespace, name, weight, clusterQueue }) => localWeightOff(`${namespace}/${name}`, weight, clusterQueue));
}

/** Reports weights that have no effect: only preemption-based fair sharing reads them. */
function weightOff(
  kind: "ClusterQueue" | "Cohort",
  { name, weight }: { readonly name: string; readonly weight: number },
): Finding {
  return kueueFinding(
    "kueue-weight-without-fair-sharing",
    kind,
    name,
    `spec.fairSharing.weight is ${weight}, but Kueue's Configuration has no fairSharing: the weight is ignored, and whoever comes first borrows.`,
    "Add fairSharing with preemptionStrategies [LessThanOrEqualToFinalShare, LessThanInitialShare] to Kueue's Configuration and restart its controller, or take the weight away.",
  );
}

/** Reports weights of LocalQueues that have no effect: only admission fair sharing reads them. */
function localWeightOff(name: string, weight: number, clusterQueue: string): Finding {
  return kueueFinding(
    "kueue-weight-without-fair-sharing",
    "LocalQueue",
    name,
    `spec.fairSharing.weight is ${weight}, but ClusterQueue ${clusterQueue} does not admit by usage: the weight is ignored.`,
    `Set spec.admissionScope.admissionMode of ClusterQueue ${clusterQueue} to ${usageBased}, or take the weight away.`,
  );
}

function modeIgnored({ name }: KueueClusterQueue): Finding {
  return kueueFinding(
    "kueue-admission-mode-ignored",
    "ClusterQueue",
    name,
    `spec.admissionScope.admissionMode is ${usageBased}, but Kueue's Configuration has no admissionFairSharing: its LocalQueues are served by priority and time alone.`,
    "Add admissionFairSharing with usageHalfLifeTime (such as 168h) and usageSamplingInterval to Kueue's Configuration and restart its controller.",
  );
}

/**
 * Reports a half-life of 0: `calculateAlphaRate` makes alpha 0 of it: consumed = (1 - 0) * consumed + 0 * usage, and no entry
 * penalty.
 */
function withoutHalfLife(queues: number): Finding {
  return kueueFinding(
    "kueue-admission-fairness-without-half-life",
    "Configuration",
    "kueue",
    `admissionFairSharing.usageHalfLifeTime is 0, as it is when left out: usage stays 0 for all LocalQueues of the ${queues} ClusterQueues that admit by usage, and nobody is ever behind.`,
    "Set admissionFairSharing.usageHalfLifeTime in Kueue's Configuration, such as 168h, and restart its controller.",
  );
}

/**
 * Reports usage that memory dominates: `CalculateUsage` adds amounts in base units times weight, 1 if unset: a GiB counts 2^30.
 */
function memoryWeight({ resourceWeights }: AdmissionFairSharing, queues: readonly KueueClusterQueue[]): Finding | null {
  const quotas = queues.flatMap((queue) => queue.quotas);
  const gpus = quotas.filter(({ resource }) => gpuLikeResource(resource)).map(({ resource }) => resource);
  if (gpus.length === 0 || !quotas.some(({ resource }) => resource === "memory")) return null;
  const memory = resourceWeights.memory ?? 1;
  const [gpu = "", weight = 1] = gpus
    .map((resource) => [resource, resourceWeights[resource] ?? 1] as const)
    .reduce((most, one) => (one[1] > most[1] ? one : most));
  if (memory * gibibyte <= weight) return null;
  return kueueFinding(
    "kueue-admission-fairness-memory-weight",
    "Configuration",
    "kueue",
    `admissionFairSharing.resourceWeights counts one GiB of memory as ${memory * gibibyte} and one ${gpu} as ${weight} (what is not set counts 1 per byte or GPU): usage is that of memory.`,
    "Set admissionFairSharing.resourceWeights.memory to 0 in Kueue's Configuration and restart its controller.",
  );
}
