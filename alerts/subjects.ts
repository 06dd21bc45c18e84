import type { CareTier } from "../exporter/model/gpuFaults.ts";
import type { AlertName, SubjectLabel } from "./alertList.ts";
import type { RecordedName } from "./rules/recordedNames.ts";

/** The series in which an alert finds the names of the workloads, nodes or GPUs that it is about. */
export interface NamedSubjects {
  readonly series: RecordedName;
  /** The label of the alert that must be equal to each label of the series, besides the cluster. */
  readonly same: Readonly<Partial<Record<SubjectLabel, SubjectLabel>>>;
  /** The values that labels of the series must have. */
  readonly only: Readonly<Record<string, string>>;
  /** The beginning of the sentence about them. */
  readonly lead: string;
  /** The list of the API that contains all of them; `{label}` is replaced by the label of the alert. */
  readonly list: string;
  readonly names: "workloads" | "nodes" | "gpus";
}

function heads(same: NamedSubjects["same"], list: string, only: NamedSubjects["only"] = {}): NamedSubjects {
  return {
    series: "cluster_queue_team_domain_cause_namespace_workload:fairlead_queue_head_gpus:max",
    same,
    only,
    lead: "First in line:",
    list,
    names: "workloads",
  };
}

const blocked: NamedSubjects = {
  series: "cluster_pool_namespace_workload:fairlead_blocked_workload_gpus:sum",
  same: { pool: "pool" },
  only: {},
  lead: "Blocked:",
  list: "blocked?pool={pool}",
  names: "workloads",
};

const lost: NamedSubjects = {
  series: "cluster_node_pool_lost_node:fairlead_lost_node_gpus:max",
  same: { node_pool: "node_pool" },
  only: {},
  lead: "Not ready:",
  list: "nodes?nodePool={node_pool}",
  names: "nodes",
};

function sick(tier: CareTier): NamedSubjects {
  return {
    series: "cluster_node_pool_sick_node_gpu_tier_cause:fairlead_sick_gpu_gpus:max",
    same: { node_pool: "node_pool" },
    only: { tier },
    lead: "Which:",
    list: "nodes?nodePool={node_pool}",
    names: "gpus",
  };
}

function idle(same: NamedSubjects["same"]): NamedSubjects {
  return {
    series: "cluster_team_pool_namespace_workload:fairlead_idle_workload_gpus:sum",
    same,
    only: {},
    lead: "Idle:",
    list: "workloads?team={team}",
    names: "workloads",
  };
}

const ofTeam = heads({ team: "team", domain: "domain" }, "pending?team={team}");
const stuck = heads({ queue: "queue" }, "pending?queue={queue}&cause=scheduler", { cause: "scheduler" });

/** The alerts that are about workloads, nodes or GPUs; for all other alerts, their labels name the subject. */
export const namedSubjects: Readonly<Partial<Record<AlertName, NamedSubjects>>> = {
  GpuTeamStarved: ofTeam,
  GpuTeamStarvedLong: ofTeam,
  GpuQueueWaitHigh: heads({ queue: "queue" }, "pending?queue={queue}"),
  GpuQueueStuck: stuck,
  GpuQueueStuckLong: stuck,
  GpuCapacityExhausted: heads({ domain: "domain" }, "pending?domain={domain}&cause=capacity", { cause: "capacity" }),
  GpuJobUnplaceable: blocked,
  GpuJobUnplaceableLong: blocked,
  GpuNodeLost: lost,
  GpuNodeLostLong: lost,
  GpuDrainNow: sick("drain"),
  GpuLookToday: sick("today"),
  GpuWatch: sick("watch"),
  GpuIdleAllocated: idle({ team: "team", pool: "pool" }),
  GpuIdleExpensive: idle({ team: "team" }),
};
