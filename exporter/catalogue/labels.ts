/** Every label that a metric may carry, with its meaning. A label that is not here does not compile. */
export const labelMeanings = {
  cluster: "Name of the cluster, from the configuration.",
  pool: "GPUs that are interchangeable; by default one GPU model.",
  node_pool: "The cloud's or the autoscaler's group of nodes; `unknown` where no label says.",
  capacity_type: "`on-demand`, `spot` or `reserved`; `unknown` where no label says.",
  gpu_model: "Canonical GPU model.",
  team: "Who answers for the workload; `unassigned` if no rule matches, empty where nobody holds, `other` beyond `limits.teams`.",
  queue: "Queue of the workload; empty where there is none, `other` beyond the budget of series.",
  priority_class: "Priority class of the pod; empty where nobody holds, `other` beyond the budget of series.",
  state: "What the thing counted is doing; each metric lists its values.",
  signal: "The telemetry signal that stands for activity.",
  source: "The part of Fairlead that reads the outside world, or that noticed a problem.",
  reason: "Why a sample was not used, time is not covered, or a watch was begun anew.",
  resource: "Kind of Kubernetes objects, as in a path of the API.",
  code: "Kind of problem; stable and few.",
  severity: "How much a problem matters.",
  stage: "Stage of the cycle.",
  result: "How it ended; each metric lists its values.",
  item: "What OpenTelemetry output counts: data points of metrics, or spans of traces.",
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

/** The same over time, where a node that nobody holds a GPU of is told apart. */
export const nodeTimeStates = ["not_ready", "cordoned", "idle_unallocated", "ready", "unknown"] as const;

/** Why an interval between two cycles is booked nowhere. */
export const gapReasons = ["too-long", "clock-jump", "stale-objects"] as const;

/** Why a watch or a list was begun anew; after `expired`, `malformed` and `token-expired` everything is listed again. */
export const restartReasons = ["closed", "broken", "silent", "expired", "malformed", "token-expired"] as const;

/** What is known of one telemetry target. `never`: it has not answered since the start. */
export const targetStates = ["fresh", "stale", "never"] as const;

export const severities = ["error", "warning", "info"] as const;

/** The stages of a cycle, in order. */
export const cycleStages = ["collect", "join", "analyse", "accrue", "publish"] as const;

export const cycleResults = ["ok", "failed"] as const;

/** What is exported by OTLP. */
export const otlpItems = ["point", "span"] as const;

/** How an export by OTLP ended. `rejected`: the endpoint took the rest of the request, but not these. */
export const otlpResults = ["sent", "rejected", "failed"] as const;

export const activitySignals = ["sm_active", "gr_engine_active", "gpu_util"] as const;
