import type { KaiHistorySpec, QueueingSpec } from "../queues/spec.ts";
import { noQueueing } from "../queues/spec.ts";
import type { ActivityPattern, Arrival, Scenario, WorkloadSpec } from "../scenario.ts";
import { oneCohort, wholeNodes } from "./advice/parts.ts";
import { physicalGpus, workloadOf } from "./parts.ts";

/** How GPUs that a team does not use are given to other teams. */
export const burstPolicies = ["strict-quota", "borrowing", "time-based-fairshare"] as const;
export type BurstPolicy = (typeof burstPolicies)[number];

/** The teams and the guarantee of each, GPUs; together they are all 80. Inference keeps half of its own for peaks. */
export const burstGuarantees = { research: 20, inference: 40, training: 20 } as const;
export type BurstTeam = keyof typeof burstGuarantees;
export const burstTeams: readonly BurstTeam[] = ["research", "inference", "training"];

/** GPUs that inference really uses, all the time. */
export const steadyGpus = 20;

/** The times of the events, seconds after the start. */
export const burstTimes = { burst: 3600, rival: 9000, daily: 21_600, end: 25_200 } as const;

/** Guarantees come first; the rest is divided by the use over 2 h, with a half-life of 1 h. */
export const burstHistory: KaiHistorySpec = { windowSeconds: 7200, halfLifeSeconds: 3600, kValue: 1 };

/** GPUs of one job of research or training. */
export const jobGpus = 4;
const unlimited = -1;

/**
 * Ten nodes of eight H100. Inference serves on 20 GPUs all the time. Research works on 16 of its 20, and after an hour starts a
 * sweep of 54 jobs of about an hour each, which would fill 60 GPUs for more than three hours where they may. Training, which
 * had nothing to do, starts 20 such jobs an hour and a half after that. The work that arrives is the same under every policy.
 */
export function burstScenario(policy: BurstPolicy): Scenario {
  return {
    name: `burst-${policy}`,
    nodes: wholeNodes("h100", 10, "H100"),
    namespaces: burstTeams.map((team) => ({ name: team, team })),
    // The classes that KAI brings: pods with a priority below 100 can be preempted.
    priorityClasses: { train: 50, inference: 125 },
    habits: [],
    arrivals,
    placed: [],
    queueing: queueingOf[policy],
    placement: "pack",
    warmupSeconds: 0,
    collectionInterval: 60,
    stepSeconds: 60,
    faults: [],
  };
}

const clusterQueues = (cohort: string | null) =>
  oneCohort(
    "h100",
    "H100",
    burstTeams.map((name) => ({ name, nominal: burstGuarantees[name], reclaimWithinCohort: "Any" })),
    cohort,
  );

const queueingOf: Readonly<Record<BurstPolicy, QueueingSpec>> = {
  // Without a cohort a ClusterQueue borrows nothing and lends nothing.
  "strict-quota": { ...noQueueing, kueue: clusterQueues(null) },
  borrowing: { ...noQueueing, kueue: clusterQueues("platform") },
  "time-based-fairshare": {
    ...noQueueing,
    kai: {
      nodePool: null,
      queues: [
        { name: "platform", parent: null, priority: 100, quota: unlimited, limit: unlimited, overQuotaWeight: 1 },
        ...burstTeams.map((name) => ({
          name,
          parent: "platform",
          priority: 100,
          quota: burstGuarantees[name],
          limit: unlimited,
          overQuotaWeight: 1,
        })),
      ],
      history: burstHistory,
    },
  },
};

function work(team: BurstTeam, changes: Partial<WorkloadSpec>, level: number): WorkloadSpec {
  const activity: ActivityPattern = team === "inference" ? { kind: "constant", level } : { kind: "steady", level };
  const common = { queue: team, models: ["H100"] as const, ...changes };
  return team === "inference"
    ? workloadOf("StatefulSet", team, 4, physicalGpus(1), activity, {
        ...common,
        priorityClass: "inference",
      })
    : workloadOf("Job", team, 1, physicalGpus(jobGpus), activity, {
        ...common,
        priorityClass: "train",
        checkpointSeconds: 600,
      });
}

/** Jobs that arrive together; they take 45, 60 and 75 minutes by turns. */
function jobs(team: "research" | "training", name: string, afterSeconds: number, count: number): readonly Arrival[] {
  return Array.from({ length: count }, (_, i) => ({
    afterSeconds,
    name: `${name}-${String(i + 1).padStart(2, "0")}`,
    workload: work(team, {}, team === "research" ? 0.85 : 0.9),
    runSeconds: 2700 + 900 * (i % 3),
  }));
}

const arrivals: readonly Arrival[] = [
  ...Array.from({ length: steadyGpus / 4 }, (_, i) => ({
    afterSeconds: 0,
    name: `model-${i + 1}`,
    workload: work("inference", {}, 0.6),
    runSeconds: null,
  })),
  ...jobs("research", "daily-0", 0, 4),
  ...jobs("research", "sweep", burstTimes.burst, 54),
  ...jobs("training", "pretrain", burstTimes.rival, 20),
  ...jobs("research", "daily-6", burstTimes.daily, 4),
];
