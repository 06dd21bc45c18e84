import type { KueueClusterQueue, KueueLocalQueue } from "../../model/queues/kueue.ts";
import type { SchedulerSettings } from "../../model/queues/queueObjects.ts";

type KueueSettings = SchedulerSettings["kueue"];

/** The value of `spec.admissionScope.admissionMode` with which LocalQueues are served by what they have used. */
export const usageBased = "UsageBasedAdmissionFairSharing";

/** How a ClusterQueue chooses among its LocalQueues (KEP-4136). */
export interface LocalAdmission {
  /** Whether the LocalQueue that has used the least for its weight is served first; otherwise all their work is in one line. */
  readonly byUsage: boolean;
  /**
   * Whether weights determine what each LocalQueue gets in the long run. False where Kueue forgets all usage at once, so that
   * it is 0.
   */
  readonly byWeight: boolean;
}

/** The mode in which all work is in one line, by priority and then by age. */
export const oneLine: LocalAdmission = { byUsage: false, byWeight: false };

/**
 * Returns the mode that the ClusterQueue sets, unless Kueue's Configuration was read and has no `admissionFairSharing` (v0.19,
 * pkg/util/admissionfairsharing `ResourceWeights`).
 */
export function admissionOf(
  { admissionMode }: Pick<KueueClusterQueue, "admissionMode">,
  settings: KueueSettings,
): LocalAdmission {
  if (admissionMode !== usageBased || (settings !== null && settings.admissionFairSharing === null)) return oneLine;
  return { byUsage: true, byWeight: settings?.admissionFairSharing?.halfLifeSeconds !== 0 };
}

/**
 * What a LocalQueue has used for its weight, as Kueue compares it (v0.19, pkg/util/admissionfairsharing `CalculateUsage`):
 * consumed amounts of its status times the weights of resources (1 where none is configured, so that bytes of memory outweigh
 * GPUs), over its own weight. Infinity without a weight. `null`: Kueue has written none, or its Configuration was not read.
 * What Kueue adds for work that it has admitted since then is in no object.
 */
export function usageForWeight(
  { consumed, weight }: Pick<KueueLocalQueue, "consumed" | "weight">,
  settings: KueueSettings,
): number | null {
  if (weight <= 0) return Number.POSITIVE_INFINITY;
  const weights = settings?.admissionFairSharing?.resourceWeights ?? null;
  if (consumed === null || weights === null) return null;
  let usage = 0;
  for (const [resource, amount] of Object.entries(consumed)) usage += amount * (weights[resource] ?? 1);
  return usage / weight;
}
