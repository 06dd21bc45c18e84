import { defaultAlerts } from "../../alerts/thresholds.ts";
import { fairness } from "../../dashboards/fairness.ts";
import { series } from "../alerts/world.ts";
import { oldest, queue, queues, twice, waitingForMinutes, waits } from "./fairnessWorld.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

testPanelNumbers(fairness, [
  {
    panel: "GPUs waited for, by cause",
    why: "priority classes, queues and clusters add up, each cause by itself",
    world: twice([
      waits(queue("east", "ads", "A100"), "high", "capacity", 8),
      waits(queue("east", "ads", "A100"), "low", "capacity", 4),
      waits(queue("west", "maps", "A100"), "low", "capacity", 1),
      waits(queue("east", "ads", "A100"), "low", "constraint", 2),
      waits(queue("east", "ads", "A100"), "low", "gang", 16),
      waits(queue("east", "maps", "L4"), "low", "scheduler", 3),
    ]),
    shows: {
      "No GPU is free": 13,
      "Its own conditions, checks": 2,
      "Only a part of the gang": 16,
      "Fits, and is not started": 3,
    },
  },
  {
    panel: "Waits by queue: p50, p95 and target",
    why: "10 gangs wait for one to two minutes; of a queue in which nothing waits, and of another cluster, there is no row",
    world: twice([
      ...waitingForMinutes(queue("east", "ads", "A100"), 10),
      oldest(queue("east", "ads", "A100"), "low", 118),
      ...waitingForMinutes(queue("east", "ads", "L4"), 30),
      ...waitingForMinutes(queue("east", "maps", "A100"), 0),
      ...waitingForMinutes(queue("west", "ads", "A100"), 1),
    ]),
    variables: { cluster: "east" },
    shows: {
      "Waits [ads, east]": 40,
      "p50 [ads, east]": 90,
      "p95 [ads, east]": 117,
      "Target [ads, east]": defaultAlerts.alerts.GpuQueueWaitHigh.p95AboveSeconds,
      "Longest now [ads, east]": 118,
    },
  },
  {
    panel: "Waits by length",
    why: "one wait a minute in each of two clusters, for 15 minutes; every second one below a minute",
    world: twice(
      ["east", "west"].flatMap((cluster) => [
        series(
          "fairlead_queue_wait_seconds_bucket",
          { cluster, queue: "ads", priority_class: "low", phase: "start", le: "60" },
          "0+0.5x#",
        ),
        series(
          "fairlead_queue_wait_seconds_bucket",
          { cluster, queue: "ads", priority_class: "low", phase: "start", le: "+Inf" },
          "0+1x#",
        ),
      ]),
    ),
    shows: { "60": 15, "+Inf": 30 },
  },
  {
    panel: "Evictions per hour, by queue",
    why: "for every reason and by whomever, in an hour",
    world: twice([
      series(
        "fairlead_evictions_total",
        { cluster: "east", queue: "ads", team: "ads", reason: "Preempted", preemptor_queue: "maps" },
        "0+1x#",
      ),
      series(
        "fairlead_evictions_total",
        { cluster: "east", queue: "ads", team: "ads", reason: "NodeLost", preemptor_queue: "" },
        "0+0.5x#",
      ),
    ]),
    at: 61,
    shows: { "ads (east)": 90 },
  },
  {
    panel: "GPUs above or below the share, by queue",
    why: "each queue in each domain",
    world: twice(queues),
    variables: { queue: "ads", cluster: "east" },
    shows: { "ads A100 (east)": 4, "ads L4 (east)": -4 },
  },
  {
    panel: "GPU-hours owed from before, by queue",
    why: "who held too much is owed nothing; each half-life by itself",
    world: twice([
      series("fairlead_fairness_debt_gpu_seconds", { ...queue("east", "ads", "A100"), half_life: "24h" }, -36_000),
      series("fairlead_fairness_deviation_ratio", { ...queue("east", "ads", "A100"), half_life: "24h" }, -0.25),
      series("fairlead_fairness_debt_gpu_seconds", { ...queue("east", "ads", "A100"), half_life: "1h" }, -1),
      series("fairlead_fairness_deviation_ratio", { ...queue("east", "ads", "A100"), half_life: "1h" }, -0.001),
      series("fairlead_fairness_debt_gpu_seconds", { ...queue("east", "maps", "A100"), half_life: "24h" }, 36_000),
      series("fairlead_fairness_deviation_ratio", { ...queue("east", "maps", "A100"), half_life: "24h" }, 0.5),
    ]),
    shows: { "Is owed [ads, A100, 24h]": 10, "Part [ads, A100, 24h]": 0.25 },
  },
  {
    panel: "Quotas of queues",
    why: "half of what it is sure of is unused; a limit that is not there is not 0",
    world: twice([
      series("fairlead_queue_allocated_gpus", queue("east", "ads", "A100"), 4),
      series("fairlead_queue_guaranteed_gpus", queue("east", "ads", "A100"), 8),
      series("fairlead_queue_limit_gpus", queue("east", "ads", "A100"), 16),
      series("fairlead_queue_weight", queue("east", "ads", "A100"), 3),
      series("fairlead_queue_allocated_gpus", queue("east", "maps", "A100"), 2),
      series("fairlead_queue_weight", queue("east", "maps", "A100"), 1),
    ]),
    shows: {
      "Holds [ads, A100, east]": 4,
      "Is sure of [ads, A100, east]": 8,
      "Unused of it [ads, A100, east]": 0.5,
      "At most [ads, A100, east]": 16,
      "Weight [ads, A100, east]": 3,
      "Holds [maps, A100, east]": 2,
      "Weight [maps, A100, east]": 1,
    },
  },
  {
    panel: "Numbers of schedulers and of Fairlead",
    why: "beside each other, for each number of a queue",
    world: twice(
      (["computed", "reported"] as const).map((source) =>
        series(
          "fairlead_queue_scheduler_value",
          {
            cluster: "east",
            scheduler: "kueue",
            kind: "ClusterQueue",
            queue: "ads",
            shard: "",
            number: "kueue-reserved-gpus",
            source,
          },
          source === "computed" ? 80 : 72,
        ),
      ),
    ),
    shows: {
      "Computed [ads, kueue-reserved-gpus, kueue, , east]": 80,
      "Reported [ads, kueue-reserved-gpus, kueue, , east]": 72,
    },
  },
]);
