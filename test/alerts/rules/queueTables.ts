import { recommendation, series, type WorldSeries } from "../world.ts";
import { type AlertTable, unnamed } from "./alertTable.ts";

const ofQueue = (cluster: string, queue: string, team = queue) => ({
  cluster,
  scheduler: "kueue",
  kind: "ClusterQueue",
  queue,
  domain: "A100",
  team,
});

function guarantee(cluster: string, queue: string, guaranteed: number, allocated: number, pending: number) {
  return [
    series("fairlead_queue_guaranteed_gpus", ofQueue(cluster, queue), guaranteed),
    series("fairlead_queue_allocated_gpus", ofQueue(cluster, queue), allocated),
    series("fairlead_queue_pending_gpus", ofQueue(cluster, queue), pending),
  ];
}

const lateServers = (cluster: string, team: string, workloads: number): WorldSeries =>
  series("fairlead_team_late_serving_workloads", { cluster, team }, workloads);
const lateText = (cluster: string, workloads: number): string =>
  `Of team chat in ${cluster}, ${workloads} workloads that serve are over their target of latency while requests wait. What one replica more takes: fairlead explain workload.`;

const bounds = ["14400", "28800", "+Inf"] as const;

/** Waits that end at an even pace: how many in six hours are at most so long, by bound. */
function endedWaits(
  cluster: string,
  queue: string,
  phase: "admission" | "start",
  in6h: readonly [number, number, number],
): readonly WorldSeries[] {
  return bounds.map((le, index) =>
    series(
      "fairlead_queue_wait_seconds_bucket",
      { cluster, queue, priority_class: "", phase, le },
      `0+${(in6h[index] ?? 0) / 72}x#`,
    ),
  );
}

function lastingWaits(
  cluster: string,
  queue: string,
  gangs: readonly [number, number, number],
): readonly WorldSeries[] {
  return bounds.map((age_le, index) =>
    series(
      "fairlead_queue_waiting_gangs_by_age",
      { ...ofQueue(cluster, queue), priority_class: "", age_le },
      gangs[index] ?? 0,
    ),
  );
}

function fitting(cluster: string, queue: string, gpus: number, cause = "scheduler"): WorldSeries {
  const labels = { ...ofQueue(cluster, queue, `${queue}-team`), priority_class: "", cause };
  return series("fairlead_queue_waiting_gpus", labels, gpus);
}

/** What a queue misses: on no node, and free. */
function missing(cluster: string, queue: string, absent: number, idleGap: number): readonly WorldSeries[] {
  const labels = ofQueue(cluster, queue, `${queue}-team`);
  return [
    series("fairlead_queue_shortfall_gpus", { ...labels, cause: "absent_capacity" }, absent),
    series("fairlead_queue_shortfall_gpus", { ...labels, cause: "idle_gap" }, idleGap),
  ];
}

function started(cluster: string, queue: string, values: string): WorldSeries {
  return series("fairlead_queue_wait_seconds_count", { cluster, queue, priority_class: "", phase: "start" }, values);
}

function evictions(cluster: string, queue: string, values: string): WorldSeries {
  return series(
    "fairlead_evictions_total",
    { cluster, queue, team: "ads", reason: "Preempted", preemptor_queue: "search" },
    values,
  );
}

const lend = recommendation({
  cluster: "east",
  id: "quota-1",
  kind: "change_quota",
  title: "raise the quota of batch by 8 A100",
  gpus: 8,
  queue: "batch",
});
const lendAdvice = {
  text: "raise the quota of batch by 8 A100 (gains 8 GPUs)",
  id: "quota-1",
  saving: "No saving is known.",
};
const lower = recommendation({
  cluster: "east",
  id: "quota-2",
  kind: "change_quota",
  title: "lend search 8 A100 of batch",
  gpus: 8,
  from_team: "batch",
  for_team: "search",
  queue: "search",
});
const lowerAdvice = {
  text: "lend search 8 A100 of batch (gains 8 GPUs)",
  id: "quota-2",
  saving: "No saving is known.",
};
const anywhere = recommendation({
  cluster: "east",
  id: "scheduler-1",
  kind: "fix_scheduler",
  title: "restart Kueue's controller",
  gpus: 3,
});

/** What waits, what starts, and what is evicted. */
export const queueTables: readonly AlertTable[] = [
  {
    alert: "GpuReservationUnused",
    severity: "info",
    area: "fairness",
    action: "digest",
    summary: "A queue has left most of its guaranteed GPUs unused for days while others wait.",
    step: "1h",
    firesAt: 24,
    quietAt: 23,
    world: [
      ...guarantee("east", "batch", 16, 4, 0),
      ...guarantee("east", "notebooks", 8, 2, 0),
      ...guarantee("east", "search", 8, 8, 12),
      ...guarantee("west", "batch", 10, 4, 0.5),
      ...guarantee("west", "search", 1, 1, 1),
      ...lower,
    ],
    quiet: {
      "half of it is used": [...guarantee("east", "batch", 16, 8, 0), ...guarantee("east", "search", 8, 8, 12)],
      "fewer than four GPUs are unused": [
        ...guarantee("east", "batch", 5, 1.5, 0),
        ...guarantee("east", "search", 8, 8, 12),
      ],
      "nobody waits": [...guarantee("east", "batch", 16, 0, 0), ...guarantee("west", "search", 8, 8, 12)],
      "only the queue itself waits": guarantee("east", "batch", 16, 0, 8),
      "nothing is guaranteed": [...guarantee("east", "batch", 0, 0, 0), ...guarantee("east", "search", 8, 8, 12)],
    },
    arrivals: [
      {
        labels: { cluster: "east", queue: "batch", team: "batch", domain: "A100" },
        description:
          "Queue batch in east leaves 12 of its guaranteed GPUs of A100 unused on average, while other queues wait.",
        advice: lowerAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=batch&var-team=batch&var-domain=A100",
      },
      {
        labels: { cluster: "east", queue: "notebooks", team: "notebooks", domain: "A100" },
        description:
          "Queue notebooks in east leaves 6 of its guaranteed GPUs of A100 unused on average, while other queues wait.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=notebooks&var-team=notebooks&var-domain=A100",
      },
      {
        labels: { cluster: "west", queue: "batch", team: "batch", domain: "A100" },
        description:
          "Queue batch in west leaves 6 of its guaranteed GPUs of A100 unused on average, while other queues wait.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-queue=batch&var-team=batch&var-domain=A100",
      },
    ],
  },
  {
    alert: "GpuServingLate",
    severity: "warning",
    area: "fairness",
    action: "ticket",
    summary: "Servers of a team are over their target of latency while requests wait.",
    step: "1m",
    firesAt: 15,
    quietAt: 14,
    world: [lateServers("east", "chat", 2), lateServers("east", "search", 0), lateServers("west", "chat", 1)],
    quiet: {
      "all servers keep their target": [lateServers("east", "chat", 0)],
      "no workload has a target": [],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "chat" },
        description: lateText("east", 2),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-team=chat",
      },
      {
        labels: { cluster: "west", team: "chat" },
        description: lateText("west", 1),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-team=chat",
      },
    ],
  },
  {
    alert: "GpuQueueWaitHigh",
    severity: "warning",
    area: "fairness",
    action: "ticket",
    summary: "Work of a queue waits longer than its target.",
    step: "5m",
    firesAt: 120,
    quietAt: null,
    world: [
      // 90 of 100 within 4 h, all within 8 h: the 95th is half way between.
      ...endedWaits("east", "search", "start", [90, 100, 100]),
      // Nothing ends; what waits now counts: of 10 gangs, 5 within 4 h, all within 8 h.
      ...lastingWaits("east", "batch", [5, 10, 10]),
      ...endedWaits("west", "search", "admission", [45, 50, 50]),
      ...lastingWaits("west", "search", [45, 50, 50]),
      ...lend,
    ],
    quiet: {
      "95 of 100 are within the target": endedWaits("east", "search", "admission", [95, 100, 100]),
      "what ends is fast, and most of what waits is young": [
        ...endedWaits("east", "search", "admission", [99, 100, 100]),
        ...lastingWaits("east", "search", [18, 20, 20]),
      ],
      "too few waits": endedWaits("east", "search", "admission", [2, 4, 4]),
    },
    arrivals: [
      {
        labels: { cluster: "east", queue: "search" },
        ...unnamed("5 of 100 waits in queue search in east are longer than 6h 0m 0s.", "pending?queue=search"),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=search",
      },
      {
        labels: { cluster: "east", queue: "batch" },
        ...unnamed("5 of 100 waits in queue batch in east are longer than 7h 36m 0s.", "pending?queue=batch"),
        advice: lendAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=batch",
      },
      {
        labels: { cluster: "west", queue: "search" },
        ...unnamed("5 of 100 waits in queue search in west are longer than 6h 0m 0s.", "pending?queue=search"),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-queue=search",
      },
    ],
  },
  {
    alert: "GpuQueueStuck",
    severity: "warning",
    area: "fairness",
    action: "ticket",
    summary: "Work of a queue waits although it fits and its quota allows it, and nothing of the queue starts.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
    world: [
      fitting("east", "search", 8),
      started("east", "search", "7+0x#"),
      fitting("east", "batch", 4),
      // Some of what it misses has no nodes, and the rest is free.
      ...missing("east", "batch", 8, 4),
      fitting("west", "search", 1),
      ...missing("west", "search", 0, 0),
      started("east", "notebooks", "0+1x#"),
      ...lend,
      ...anywhere,
    ],
    quiet: {
      "less than one GPU": [fitting("east", "search", 0.5)],
      "it waits for another reason": [fitting("east", "search", 8, "capacity"), fitting("east", "search", 8, "gang")],
      "something of the queue has started": [fitting("east", "search", 8), started("east", "search", "0+1x#")],
      "no queue takes it": [fitting("east", "", 8)],
      "its node is lost, is still to come, or pods of no queue hold it": [
        fitting("east", "search", 8),
        ...missing("east", "search", 8, 0),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", queue: "search", team: "search-team" },
        ...unnamed(
          "Work for 8 GPUs waits in queue search in east although it fits and its quota allows it, and nothing of the queue has started.",
          "pending?queue=search&cause=scheduler",
        ),
        advice: {
          text: "restart Kueue's controller (gains 3 GPUs)",
          id: "scheduler-1",
          saving: "No saving is known.",
        },
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=search&var-team=search-team",
      },
      {
        labels: { cluster: "east", queue: "batch", team: "batch-team" },
        ...unnamed(
          "Work for 4 GPUs waits in queue batch in east although it fits and its quota allows it, and nothing of the queue has started.",
          "pending?queue=batch&cause=scheduler",
        ),
        advice: lendAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=batch&var-team=batch-team",
      },
      {
        labels: { cluster: "west", queue: "search", team: "search-team" },
        ...unnamed(
          "Work for 1 GPU waits in queue search in west although it fits and its quota allows it, and nothing of the queue has started.",
          "pending?queue=search&cause=scheduler",
        ),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-queue=search&var-team=search-team",
      },
    ],
  },
  {
    alert: "GpuPreemptionStorm",
    severity: "warning",
    area: "fairness",
    action: "ticket",
    summary: "Work of a queue is evicted far more often than usual.",
    step: "5m",
    firesAt: 12 * 10 + 18,
    quietAt: 12 * 10,
    world: [
      // 2 an hour for ten hours, then 24 an hour.
      evictions("east", "batch", "0+0.166666666667x120 22+2x#"),
      evictions("east", "notebooks", "0+0x120 2+2x#"),
      evictions("west", "batch", "0+0x120 1+1x#"),
      ...lend,
    ],
    quiet: {
      "always so many": [evictions("east", "batch", "0+2x#")],
      "less than three times as many": [evictions("east", "batch", "0+1x120 122.8+2.8x#")],
      "fewer than ten an hour": [evictions("east", "batch", "0+0x120 0.8+0.8x#")],
    },
    arrivals: [
      {
        labels: { cluster: "east", queue: "batch" },
        description: "24 evictions in the last hour in queue batch in east.",
        advice: lendAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=batch",
      },
      {
        labels: { cluster: "east", queue: "notebooks" },
        description: "24 evictions in the last hour in queue notebooks in east.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-queue=notebooks",
      },
      {
        labels: { cluster: "west", queue: "batch" },
        description: "12 evictions in the last hour in queue batch in west.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-queue=batch",
      },
    ],
  },
];
