import { recommendation, series, type WorldSeries } from "../world.ts";
import { type AlertTable, unnamed } from "./alertTable.ts";

const allocated = (
  cluster: string,
  team: string,
  pool: string,
  state: "active" | "idle" | "unobserved",
  gpus: number,
): WorldSeries => series("fairlead_team_gpus", { cluster, team, pool, state }, gpus);

function idleCost(cluster: string, team: string, currency: string, perHour: number): WorldSeries {
  const nobody = { queue: "", capacity_type: "on-demand", priority_class: "" };
  return series(
    "fairlead_cost_total",
    { cluster, team, currency, pool: "A100", state: "idle", ...nobody },
    `0+${perHour}x#`,
  );
}

const brokenGangs = (cluster: string, team: string, gpus: number): WorldSeries =>
  series("fairlead_team_broken_gang_gpus", { cluster, team }, gpus);
const brokenText = (cluster: string, gpus: string): string =>
  `Team ads in ${cluster} holds ${gpus} with gangs that have run, lost a member, and do nothing since. Which they are: partialGangs of the API, with hasLostMember.`;

function free(cluster: string, pool: string, whole: number, stranded: number): readonly WorldSeries[] {
  return [
    series("fairlead_pool_free_gpus", { cluster, pool, part: "whole" }, whole),
    series("fairlead_pool_free_gpus", { cluster, pool, part: "shared" }, 100),
    series("fairlead_stranded_gpus", { cluster, pool, reason: "cpu" }, stranded / 2),
    series("fairlead_stranded_gpus", { cluster, pool, reason: "gpus" }, stranded / 2),
    series("fairlead_stranded_gpus", { cluster, pool, reason: "constraint" }, whole - stranded),
  ];
}

function blocked(cluster: string, pool: string, gpus: number, seconds: number | string): readonly WorldSeries[] {
  return [
    series("fairlead_blocked_gpus", { cluster, pool, blocker: "spread" }, gpus / 2),
    series("fairlead_blocked_gpus", { cluster, pool, blocker: "cpu" }, gpus / 2),
    series("fairlead_longest_blocked_seconds", { cluster, pool }, seconds),
  ];
}

const release = recommendation({
  cluster: "east",
  id: "idle-7",
  kind: "release_idle",
  title: "end ads/notebook-3: 4 A100 idle for 9 h",
  gpus: 4,
  from_team: "ads",
  pool: "A100",
  saving: [1680, "USD"],
});
const elsewhere = recommendation({
  cluster: "east",
  id: "size-2",
  kind: "right_size",
  title: "halve crawl's request",
  gpus: 1,
  from_team: "crawl",
});
const ofAnotherPool = recommendation({
  cluster: "east",
  id: "idle-9",
  kind: "release_idle",
  title: "of another pool",
  gpus: 90,
  from_team: "ads",
  pool: "L4",
});
const releaseAdvice = {
  text: "end ads/notebook-3: 4 A100 idle for 9 h (gains 4 GPUs)",
  id: "idle-7",
  saving: "1680 USD a week",
};

const move = recommendation({
  cluster: "east",
  id: "defrag-3",
  kind: "defragment",
  title: "move 2 pods off gpu-7: a whole node is free then",
  gpus: 8,
  pool: "A100",
});
const moveAdvice = {
  text: "move 2 pods off gpu-7: a whole node is free then (gains 8 GPUs)",
  id: "defrag-3",
  saving: "No saving is known.",
};

/** What is allocated and idle, and what is free and of no use. */
export const wasteTables: readonly AlertTable[] = [
  {
    alert: "GpuIdleAllocated",
    severity: "warning",
    area: "idle",
    action: "ticket",
    summary: "A team holds GPUs that have done nothing for a long time.",
    step: "1m",
    firesAt: 60,
    quietAt: 59,
    world: [
      allocated("east", "ads", "A100", "idle", 4),
      allocated("east", "ads", "A100", "active", 12),
      allocated("east", "crawl", "A100", "idle", 1),
      allocated("west", "ads", "A100", "idle", 2),
      // 10 % without telemetry is just not too much.
      allocated("west", "ads", "A100", "active", 7),
      allocated("west", "ads", "A100", "unobserved", 1),
      ...release,
      ...elsewhere,
      ...ofAnotherPool,
    ],
    quiet: {
      "less than one GPU": [allocated("east", "ads", "A100", "idle", 0.9)],
      "telemetry of the pool is missing": [
        allocated("east", "ads", "A100", "idle", 8),
        allocated("east", "search", "A100", "unobserved", 1),
      ],
      "what is not observed is not idle": [allocated("east", "ads", "A100", "unobserved", 8)],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", pool: "A100" },
        ...unnamed("Team ads in east holds 4 idle GPUs of A100.", "workloads?team=ads"),
        advice: releaseAdvice,
        dashboard: "fairlead-waste?var-cluster=east&var-team=ads&var-pool=A100",
      },
      {
        labels: { cluster: "east", team: "crawl", pool: "A100" },
        ...unnamed("Team crawl in east holds 1 idle GPU of A100.", "workloads?team=crawl"),
        advice: { text: "halve crawl's request (gains 1 GPU)", id: "size-2", saving: "No saving is known." },
        dashboard: "fairlead-waste?var-cluster=east&var-team=crawl&var-pool=A100",
      },
      {
        labels: { cluster: "west", team: "ads", pool: "A100" },
        ...unnamed("Team ads in west holds 2 idle GPUs of A100.", "workloads?team=ads"),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=west&var-team=ads&var-pool=A100",
      },
    ],
  },
  {
    alert: "GpuIdleExpensive",
    severity: "warning",
    area: "idle",
    action: "ticket",
    summary: "Idle GPUs of a team cost more in a day than is allowed.",
    step: "1h",
    firesAt: 30,
    quietAt: 18,
    world: [
      idleCost("east", "ads", "USD", 10),
      idleCost("east", "ads", "EUR", 10.5),
      idleCost("east", "crawl", "USD", 9),
      idleCost("west", "ads", "USD", 8.5),
      ...release,
    ],
    quiet: {
      "two currencies are not added up": [idleCost("east", "ads", "USD", 8.3), idleCost("east", "ads", "EUR", 8.3)],
      "telemetry is missing": [
        idleCost("east", "ads", "USD", 10),
        allocated("east", "ads", "A100", "unobserved", 2),
        allocated("east", "ads", "A100", "active", 10),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", currency: "USD" },
        ...unnamed("Idle GPUs of team ads in east cost 240 USD in the last 24 hours.", "workloads?team=ads"),
        advice: releaseAdvice,
        dashboard: "fairlead-waste?var-cluster=east&var-team=ads&var-currency=USD",
      },
      {
        labels: { cluster: "east", team: "ads", currency: "EUR" },
        ...unnamed("Idle GPUs of team ads in east cost 252 EUR in the last 24 hours.", "workloads?team=ads"),
        advice: releaseAdvice,
        dashboard: "fairlead-waste?var-cluster=east&var-team=ads&var-currency=EUR",
      },
      {
        labels: { cluster: "east", team: "crawl", currency: "USD" },
        ...unnamed("Idle GPUs of team crawl in east cost 216 USD in the last 24 hours.", "workloads?team=crawl"),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=east&var-team=crawl&var-currency=USD",
      },
      {
        labels: { cluster: "west", team: "ads", currency: "USD" },
        ...unnamed("Idle GPUs of team ads in west cost 204 USD in the last 24 hours.", "workloads?team=ads"),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=west&var-team=ads&var-currency=USD",
      },
    ],
  },
  {
    alert: "GpuGangBroken",
    severity: "warning",
    area: "idle",
    action: "ticket",
    summary: "A gang of a team has run and lost a member, and its GPUs do nothing since.",
    step: "1m",
    firesAt: 1,
    quietAt: 0,
    world: [brokenGangs("east", "ads", 6), brokenGangs("east", "crawl", 0), brokenGangs("west", "ads", 1)],
    quiet: {
      "no gang has lost a member": [brokenGangs("east", "ads", 0)],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads" },
        description: brokenText("east", "6 GPUs"),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=east&var-team=ads",
      },
      {
        labels: { cluster: "west", team: "ads" },
        description: brokenText("west", "1 GPU"),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=west&var-team=ads",
      },
    ],
  },
  {
    alert: "GpuFragmentationHigh",
    severity: "warning",
    area: "fragmentation",
    action: "ticket",
    summary: "Most free GPUs of a pool are on nodes where no typical pod fits.",
    step: "1m",
    firesAt: 120,
    quietAt: 119,
    world: [...free("east", "A100", 16, 8), ...free("east", "L4", 20, 9), ...free("west", "A100", 8, 4), ...move],
    quiet: {
      "40 % is stranded": free("east", "A100", 20, 8),
      "fewer than eight GPUs are free": free("east", "A100", 7, 7),
      "none is free": free("east", "A100", 0, 0),
    },
    arrivals: [
      {
        labels: { cluster: "east", pool: "A100" },
        description: "50% of the fully free GPUs of A100 in east are on nodes where no typical pod fits.",
        advice: moveAdvice,
        dashboard: "fairlead-waste?var-cluster=east&var-pool=A100",
      },
      {
        labels: { cluster: "east", pool: "L4" },
        description: "45% of the fully free GPUs of L4 in east are on nodes where no typical pod fits.",
        advice: null,
        dashboard: "fairlead-waste?var-cluster=east&var-pool=L4",
      },
      {
        labels: { cluster: "west", pool: "A100" },
        description: "50% of the fully free GPUs of A100 in west are on nodes where no typical pod fits.",
        advice: null,
        dashboard: "fairlead-waste?var-cluster=west&var-pool=A100",
      },
    ],
  },
  {
    alert: "GpuJobUnplaceable",
    severity: "warning",
    area: "fragmentation",
    action: "ticket",
    summary: "Enough GPUs are free for waiting work, but not on nodes where it could run.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
    world: [
      ...blocked("east", "A100", 8, "0+60x#"),
      ...blocked("east", "L4", 1, "0+60x#"),
      ...blocked("west", "A100", 4, "0+60x#"),
      ...move,
    ],
    quiet: {
      "each gang is blocked for a short time only": blocked("east", "A100", 8, 1499),
      "less than one GPU": blocked("east", "A100", 0.9, 9000),
      "nothing is blocked": [series("fairlead_longest_blocked_seconds", { cluster: "east", pool: "A100" }, 9000)],
    },
    arrivals: [
      {
        labels: { cluster: "east", pool: "A100" },
        ...unnamed(
          "Work for 8 GPUs of A100 in east waits although enough are free: they are not where it could run.",
          "blocked?pool=A100",
        ),
        advice: moveAdvice,
        dashboard: "fairlead-waste?var-cluster=east&var-pool=A100",
      },
      {
        labels: { cluster: "east", pool: "L4" },
        ...unnamed(
          "Work for 1 GPU of L4 in east waits although enough are free: they are not where it could run.",
          "blocked?pool=L4",
        ),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=east&var-pool=L4",
      },
      {
        labels: { cluster: "west", pool: "A100" },
        ...unnamed(
          "Work for 4 GPUs of A100 in west waits although enough are free: they are not where it could run.",
          "blocked?pool=A100",
        ),
        advice: null,
        dashboard: "fairlead-waste?var-cluster=west&var-pool=A100",
      },
    ],
  },
];
