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
  scheduler:
    "Queue system: `kueue`, `kai`, `volcano`, or `none` where teams or namespaces stand for queues; empty where no queue takes the work.",
  kind: "Kind of the queue, such as `ClusterQueue`, `Queue`, `Team`; `Unqueued` is what no queue answers for.",
  domain: "Quota domain: the pools over which one quota counts, joined by `+`; empty where no pool can serve the work.",
  starved_queue: "Queue that holds less than it is entitled to.",
  borrower_queue: "Queue that holds more than it is entitled to.",
  preemptor_queue: "Queue of the work that took the place; empty where nothing says, or nobody did.",
  cause: "Why work waits, or why a queue is short; each metric lists its values.",
  half_life: "Time after which a past deviation counts half, such as `1h`, `24h`, `7d`.",
  phase:
    "Part of a wait: `admission` until quota is reserved, `start` from there (or from creation, where there is no such step) until the work runs.",
  age_le: "Upper bound of the age in seconds, inclusive; the same bounds as the histogram of ended waits.",
  number: "Which of its own numbers a scheduler judges by.",
  shard: "Node-pool shard of the scheduler; empty: the number is of the whole cluster.",
  state: "What the thing counted is doing; each metric lists its values.",
  signal: "The telemetry signal that stands for activity.",
  source:
    "The part of Fairlead that reads the outside world, or that noticed a problem; of a scheduler's number: `computed` by Fairlead or `reported` by the scheduler.",
  reason: "Why a sample was not used, time is not covered, a watch was begun anew, or work was evicted.",
  resource: "Kind of Kubernetes objects, as in a path of the API.",
  code: "Kind of problem or finding; stable and few.",
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

/** The same over time, where idle nodes are told apart, and of these the ones that are kept warm on purpose. */
export const nodeTimeStates = [
  "not_ready",
  "cordoned",
  "idle_unallocated",
  "idle_held",
  "warm_unallocated",
  "warm_held",
  "ready",
  "unknown",
] as const;

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

/** Queue systems; `none`: the Kubernetes scheduler alone. */
export const queueSchedulers = ["kueue", "kai", "volcano", "none"] as const;

/** Why work waits: exactly one for each gang. */
export const waitCauses = ["capacity", "fragmentation", "quota", "constraint", "gang", "scheduler", "unknown"] as const;

/** Why a queue holds less than it is entitled to: others hold it, or it is free although somebody is entitled to it. */
export const shortfallCauses = ["by_others", "idle_gap"] as const;

/** Parts of an ended wait. */
export const waitPhases = ["admission", "start"] as const;

/** Upper bounds of the ages and lengths of waits, seconds. */
export const waitBounds = [
  30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800,
] as const;

/** The numbers by which schedulers themselves judge queues. */
export const schedulerNumbers = [
  "kueue-reserved-gpus",
  "kueue-weighted-share",
  "kueue-admission-usage",
  "kai-allocated-gpus",
  "kai-fair-share",
  "kai-fair-share-with-history",
  "volcano-allocated-gpus",
  "volcano-deserved",
  "volcano-share",
] as const;

/** Who says a scheduler's number. */
export const numberSources = ["computed", "reported"] as const;
