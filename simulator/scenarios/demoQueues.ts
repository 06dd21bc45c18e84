import type { FlavorQuota, QueueingSpec } from "../queues/spec.ts";

const trainingQueue = {
  cohort: "ml-org",
  weight: 1,
  strategy: "BestEffortFIFO",
  reclaimWithinCohort: "Never",
} as const;

function quota(flavor: string, nominal: number): FlavorQuota {
  return { flavor, nominal, borrowingLimit: null, lendingLimit: null };
}

/** The name of KAI's shard: one node for fractions. */
export const fractionPool = "fractions";

/**
 * Search and ads are each guaranteed 32 H100 and may borrow from each other, but no policy says that what was lent can be taken
 * back. Vision has its own queue for A100. KAI allocates fractions on a node of its own.
 */
export const demoQueues: QueueingSpec = {
  kueue: {
    fairSharing: false,
    flavors: [
      { name: "h100", model: "H100" },
      { name: "a100", model: "A100" },
    ],
    cohorts: [{ name: "ml-org", parent: null, weight: 1, quotas: [] }],
    clusterQueues: [
      { ...trainingQueue, name: "search", quotas: [quota("h100", 32)], namespaces: ["search-train"] },
      { ...trainingQueue, name: "ads", quotas: [quota("h100", 32)], namespaces: ["ads-train"] },
      { ...trainingQueue, name: "vision", quotas: [quota("a100", 32)], namespaces: ["vision-train"] },
    ],
  },
  kai: {
    nodePool: fractionPool,
    queues: [
      { name: "interactive", parent: null, priority: 100, quota: 8, limit: -1, overQuotaWeight: 1 },
      { name: "notebooks", parent: "interactive", priority: 100, quota: 4, limit: 8, overQuotaWeight: 1 },
    ],
  },
  volcano: null,
};
