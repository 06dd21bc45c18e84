/** Every label that a metric may have, with its meaning. A label that is not here does not compile. */
export const labelMeanings = {
  cluster: "Name of the cluster, from the configuration.",
  pool: "GPUs that are interchangeable; by default one GPU model.",
  lost_node: "Name of a node that is not ready; only of the few that alerts name.",
  sick_node: "Name of the node of a GPU that needs care; only of the few that alerts name.",
  gpu: "UUID of a GPU that needs care; `unknown` where nothing identifies it.",
  error: "What an XID error of a job is about: `exception`, `memory_fault`, `stopped` or `other`.",
  tier: "How soon GPUs need care: `drain` now, look `today`, or `watch`.",
  node_pool: "The cloud's or the autoscaler's group of nodes; `unknown` where no label says.",
  capacity_type: "`on-demand`, `spot` or `reserved`; `unknown` where no label says.",
  gpu_model: "Canonical GPU model.",
  instance_type: "The cloud's name for the kind of machine; `unknown` where no label says.",
  price_basis:
    "What the price of a GPU contains: `whole-instance`, the node divided by its GPUs, or `gpu-share`, the GPUs' own part of it.",
  price_source:
    "Where a price comes from: your `file`, `opencost`, or the `table` that Fairlead brings; `table-other-region` where that has only a price of another region than the node's.",
  team: "Who answers for the workload; `unassigned` if no rule matches, empty where nobody holds, `other` beyond `limits.teams`.",
  queue: "Queue of the workload; empty where there is none, `other` beyond the budget of series.",
  priority_class: "Priority class of the pod; empty where nobody holds, `other` beyond the budget of series.",
  scheduler:
    "Queue system: `kueue`, `kai`, `volcano`, or `none` where teams or namespaces take the place of queues; empty where no queue takes the work.",
  kind: "Kind of the queue, such as `ClusterQueue`, `Queue`, `Team`; `Unqueued` is what no queue answers for. Of a recommendation: what it advises. Of tokens: those of a `prompt` or `generated` ones.",
  id: "Identity of a recommendation: the same advice has the same one.",
  title: "A recommendation in one line; fixed for its lifetime.",
  from_team: "Team that gives up GPUs, or is disturbed; empty where none is.",
  for_team: "Team that gains; empty where it is nobody's in particular.",
  domain: "Quota domain: the pools over which one quota counts, joined by `+`; empty where no pool can serve the work.",
  starved_queue: "Queue that holds less than it is entitled to.",
  borrower_queue: "Queue that holds more than it is entitled to.",
  preemptor_queue: "Queue of the work that took the place; empty where nothing says, or nobody did.",
  cause: "Why work waits, a queue is short, or GPUs cannot be used or are slow; each metric lists its values.",
  owner:
    "Why guaranteed GPUs are on no node: a `lost_node`, a `node_to_come`, pods of no queue that hold them (`past_queues`), or guarantees that never had nodes (`promised_twice`).",
  idle_kind:
    "`unallocated`: nothing holds a GPU of the node; `allocated`: everything that is allocated there has been idle for long. The two are never added up.",
  warm_pool: "`true` for nodes that are kept ready on purpose (`idle.warmPools`), which are no waste; else `false`.",
  window: "The time up to now over which it is added up.",
  manager:
    "Who adds and removes the nodes: `karpenter`, `cluster-autoscaler`, the `cloud` (or nobody Fairlead knows of), or `none` for nodes without a node pool.",
  consolidation_policy:
    "When Karpenter takes nodes away, such as `WhenEmpty`; empty where it does not, or is not known.",
  bound: "`min` or `max`; of a forecast `low`, `mid` or `high`.",
  half_life: "Time after which a past deviation counts half, such as `1h`, `24h`, `7d`.",
  phase:
    "Part of a wait: `admission` until quota is reserved, `start` from there (or from creation, where there is no such step) until the work runs.",
  act: "What a recommendation asks for: to do it, to ask the owner of the work, or to watch a signal that is in doubt.",
  outcome: "What became of the work that a recommendation named.",
  age_le: "Upper bound of the age in seconds, inclusive; the same bounds as the histogram of ended waits.",
  number: "Which of its own numbers a scheduler judges by.",
  shard: "Node-pool shard of the scheduler; empty: the number is for the whole cluster.",
  namespace: "Namespace of Kubernetes; `other` beyond the budget of series.",
  workload: "Top owner of the pods, as `KIND/NAME`.",
  charge:
    "Who pays: `allocation`, for all that was allocated but `cost.notCharged`; `use`, only for what was active. The rest stays with the platform.",
  currency: "Currency of the price, such as `USD`; amounts of different currencies are never added up.",
  state: "What the thing counted is doing; each metric lists its values.",
  part: "Which part of the free GPUs: `whole`, `shared` or `partitioned`.",
  size: "Whole GPUs of one pod.",
  level: "Level of the cluster's topology: its configured name, its node label, or its tier of HyperNodes.",
  gang_gpus: "GPUs of a whole gang.",
  profile: "MIG profile, such as `1g.10gb`.",
  target_source: "Where the target workload comes from: the configuration, the cluster's pods, or a fixed mix.",
  blocker: "What keeps work off free GPUs although enough of them are free.",
  signal: "A telemetry signal; each metric lists its values.",
  source:
    "The part of Fairlead that reads the outside world, or that noticed a problem; of a scheduler's number: `computed` by Fairlead or `reported` by the scheduler.",
  reason:
    "Why a sample was not used, time is not covered, a watch was restarted, work was evicted, GPUs are idle, stranded, have no price, or cannot be judged.",
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

/** The states of a node with GPUs. A node is in the first one that is true for it. */
export const nodeStates = ["not_ready", "cordoned", "ready", "unknown"] as const;

/** The values of the label that shows whether nodes are kept ready on purpose. */
export const warmPoolLabels = ["false", "true"] as const;

/** The windows over which the time of idle nodes is added up. */
export const idleWindowLabels = ["24h", "7d"] as const;

/** The states of a telemetry target. `never` means that it has not answered since the start. */
export const targetStates = ["fresh", "stale", "never"] as const;

/** The stages of a cycle, in order. */
export const cycleStages = ["collect", "join", "analyse", "accrue", "advise", "publish"] as const;

export const cycleResults = ["ok", "failed"] as const;

/** The kinds of items that are exported by OTLP. */
export const otlpItems = ["point", "span"] as const;

/** The results of an export by OTLP. `rejected` means that the endpoint took the rest of the request, but not these items. */
export const otlpResults = ["sent", "rejected", "failed"] as const;

/** The parts of an ended wait. */
export const waitPhases = ["admission", "start"] as const;

/** Upper bounds of the ages and lengths of waits, seconds. */
export const waitBounds = [
  30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800,
] as const;

/** The numbers by which the schedulers themselves judge queues. */
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

/** The sources of a number of a scheduler. */
export const numberSources = ["computed", "reported"] as const;

/** The values of the label for how nodes are paid for. */
export const capacityTypeLabels = ["on-demand", "spot", "reserved", "unknown"] as const;

/** The numbers of a forecast: four of five ends should be between `low` and `high`. */
export const forecastBounds = ["low", "mid", "high"] as const;
