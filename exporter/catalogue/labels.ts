/** Every label that a metric may carry, with its meaning. A label that is not here does not compile. */
export const labelMeanings = {
  cluster: "Name of the cluster, from the configuration.",
  pool: "GPUs that are interchangeable; by default one GPU model.",
  node_pool: "The cloud's or the autoscaler's group of nodes; `unknown` where no label says.",
  capacity_type: "`on-demand`, `spot` or `reserved`; `unknown` where no label says.",
  gpu_model: "Canonical GPU model.",
  team: "Who answers for the workload; `unassigned` if no rule matches, `other` beyond `limits.teams`.",
  state: "What the thing counted is doing; each metric lists its values.",
  signal: "The telemetry signal that stands for activity.",
  source: "The part of Fairlead that reads the outside world, or that noticed a problem.",
  reason: "Why a sample was not used.",
  code: "Kind of problem; stable and few.",
  severity: "How much a problem matters.",
  stage: "Stage of the cycle.",
  result: "How the cycle ended.",
  version: "Version of Fairlead.",
  node_version: "Version of Node.js.",
} as const;

export type LabelName = keyof typeof labelMeanings;

/** The states of held GPU time; `unavailable` is a state of GPUs that nobody holds, too. */
export const heldGpuStates = [
  "active",
  "underused",
  "held_idle",
  "starting",
  "gang_wait",
  "unobserved",
  "unavailable",
] as const;

/** Every physical GPU is in exactly one of these. */
export const allGpuStates = [...heldGpuStates, "free", "idle_node", "unattributed", "cordoned"] as const;

/** A node with GPUs is in the first of these that is true of it. */
export const nodeStates = ["not_ready", "cordoned", "ready", "unknown"] as const;

/** What is known of one telemetry target. `never`: it has not answered since the start. */
export const targetStates = ["fresh", "stale", "never"] as const;

export const severities = ["error", "warning", "info"] as const;

/** The stages of a cycle, in order. */
export const cycleStages = ["collect", "join", "analyse", "publish"] as const;

export const cycleResults = ["ok", "failed"] as const;

export const activitySignals = ["sm_active", "gr_engine_active", "gpu_util"] as const;
