import type { QueueingSpec, QueueSystemName } from "../../../simulator/queues/spec.ts";
import { noQueueing } from "../../../simulator/queues/spec.ts";
import type { Habit, Scenario, WorkloadSpec } from "../../../simulator/scenario.ts";
import { gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";

const unlimited = -1;

/** The same two teams in each system: both are sure of 16 of 32 GPUs, and may have what the other leaves. */
const systems: Readonly<Record<QueueSystemName, QueueingSpec>> = {
  kueue: {
    ...noQueueing,
    kueue: {
      fairSharing: true,
      flavors: [{ name: "h100", model: "H100" }],
      cohorts: [{ name: "research", parent: null, weight: 1, quotas: [] }],
      clusterQueues: ["red", "blue"].map((name) => ({
        name,
        cohort: "research",
        weight: 1,
        quotas: [{ flavor: "h100", nominal: 16, borrowingLimit: null, lendingLimit: null }],
        strategy: "BestEffortFIFO" as const,
        reclaimWithinCohort: "Any" as const,
        namespaces: [`${name}-train`],
      })),
    },
  },
  kai: {
    ...noQueueing,
    kai: {
      nodePool: null,
      queues: [
        { name: "research", parent: null, priority: 100, quota: unlimited, limit: unlimited, overQuotaWeight: 1 },
        { name: "red", parent: "research", priority: 100, quota: 16, limit: unlimited, overQuotaWeight: 1 },
        { name: "blue", parent: "research", priority: 100, quota: 16, limit: unlimited, overQuotaWeight: 1 },
      ],
    },
  },
  volcano: {
    ...noQueueing,
    volcano: {
      plugin: "proportion",
      queues: ["red", "blue"].map((name) => ({
        name,
        weight: 1,
        guarantee: null,
        deserved: null,
        capability: null,
        reclaimable: true,
      })),
    },
  },
};

/**
 * Four nodes of eight H100 and two teams in one queue system. Red fills the cluster first; blue comes later with work
 * that its quota covers. `reclaims`: whether
 * Kueue and Volcano may take back what red borrowed; where they may not, blue starves (KAI always may).
 */
export function contentionScenario(system: QueueSystemName, reclaims: boolean): Scenario {
  return {
    name: `contention-${system}`,
    nodes: ["n1", "n2", "n3", "n4"].map((name) => gpuNode(name, "H100", 8, { kind: "whole" })),
    namespaces: [
      { name: "red-train", team: "red" },
      { name: "blue-train", team: "blue" },
    ],
    priorityClasses: { training: 1000 },
    habits: [
      habit("red-train", "red", 4, { initial: 4, everySeconds: 1800, maxWaiting: 2 }),
      habit("blue-train", "blue", 4, { initial: 0, everySeconds: 600, maxWaiting: 2 }),
    ],
    placed: [],
    queueing: reclaims ? systems[system] : withoutReclaim(systems[system]),
    placement: "pack",
    warmupSeconds: 1800,
    collectionInterval: 30,
    faults: [],
  };
}

function habit(
  namespace: string,
  queue: string,
  pods: number,
  rhythm: Pick<Habit, "initial" | "everySeconds" | "maxWaiting">,
): Habit {
  const changes: Partial<WorkloadSpec> = { queue, gang: true, models: ["H100"], priorityClass: "training" };
  const busy = { kind: "steady", level: 0.9 } as const;
  return {
    name: `${queue}-job`,
    workload: workloadOf("Job", namespace, pods, { kind: "physicalGpus", count: 2 }, busy, changes),
    runSeconds: [14_400, 28_800],
    failRatio: 0,
    ...rhythm,
  };
}

function withoutReclaim({ kueue, kai, volcano }: QueueingSpec): QueueingSpec {
  return {
    kueue:
      kueue === null
        ? null
        : {
            ...kueue,
            fairSharing: false,
            clusterQueues: kueue.clusterQueues.map((queue) => ({ ...queue, reclaimWithinCohort: "Never" })),
          },
    kai,
    volcano:
      volcano === null
        ? null
        : { ...volcano, queues: volcano.queues.map((queue) => ({ ...queue, reclaimable: false })) },
  };
}
