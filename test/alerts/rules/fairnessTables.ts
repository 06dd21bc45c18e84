import { recommendation, series, type WorldSeries } from "../world.ts";
import { type AlertTable, unnamed } from "./alertTable.ts";

/** What the queue of a team misses, by cause, and what would be taken of it. */
interface QueueParts {
  readonly absent?: number;
  readonly indivisible?: number;
  readonly reclaimable?: number;
}

/** A team with a queue of its own: what it is entitled to, holds, and could start. */
function team(
  [cluster, name, domain]: readonly [string, string, string],
  entitled: number,
  allocated: number,
  startable: number,
  { absent = 0, indivisible = 0, reclaimable = 0 }: QueueParts = {},
): readonly WorldSeries[] {
  const queue = { cluster, scheduler: "kueue", kind: "ClusterQueue", queue: `${name}-queue`, domain, team: name };
  return [
    series("fairlead_team_entitled_gpus", { cluster, team: name, domain }, entitled),
    series("fairlead_team_fairness_deviation_gpus", { cluster, team: name, domain }, allocated - entitled),
    series("fairlead_queue_actionable_shortfall_gpus", queue, startable),
    series("fairlead_queue_reclaimable_gpus", queue, reclaimable),
    series("fairlead_queue_shortfall_gpus", { ...queue, cause: "absent_capacity" }, absent),
    series("fairlead_queue_shortfall_gpus", { ...queue, cause: "indivisible" }, indivisible),
  ];
}

type Owner = "lost_node" | "node_to_come" | "past_queues" | "promised_twice";

/** What the queues of a domain are guaranteed, wait for and find no nodes for. */
function absentCapacity(cluster: string, domain: string, owner: Owner, gpus: number): readonly WorldSeries[] {
  const past = owner === "past_queues" ? gpus : 0;
  return [
    series("fairlead_domain_past_queues_gpus", { cluster, domain }, past),
    series("fairlead_fairness_absent_capacity_gpus", { cluster, domain, owner }, gpus),
  ];
}

/** Two teams that are guaranteed 16 GPUs each, of 16 that are left: one waits for all of its own, one holds all of its own. */
const withoutNodes = (owner: Owner): readonly WorldSeries[] => [
  ...team(["east", "search", "A100"], 0, 0, 0, { absent: 16 }),
  ...team(["east", "ads", "A100"], 16, 16, 0),
  ...absentCapacity("east", "A100", owner, 16),
];

/** A team in a queue that several teams share. */
function teamOfSharedQueue(
  [cluster, name, domain]: readonly [string, string, string],
  entitled: number,
  allocated: number,
  pending: number,
): readonly WorldSeries[] {
  return [
    series("fairlead_team_entitled_gpus", { cluster, team: name, domain }, entitled),
    series("fairlead_team_fairness_deviation_gpus", { cluster, team: name, domain }, allocated - entitled),
    series("fairlead_team_pending_gpus", { cluster, team: name }, pending),
    series("fairlead_queue_actionable_shortfall_gpus", sharedQueue(cluster, domain), 4),
  ];
}

const sharedQueue = (cluster: string, domain: string) => ({
  cluster,
  scheduler: "kueue",
  kind: "ClusterQueue",
  queue: "shared",
  domain,
  team: "",
});

const title = "give search 12 A100 back: suspend ads/embed-v3";
const giveBack = recommendation({
  cluster: "east",
  id: "reclaim-1",
  kind: "reclaim",
  title,
  gpus: 12,
  from_team: "ads",
  for_team: "search",
  queue: "search-queue",
  pool: "A100",
  saving: [3360, "USD"],
});
const smaller = recommendation({
  cluster: "east",
  id: "unblock-1",
  kind: "unblock_gang",
  title: "a smaller one",
  gpus: 4,
  for_team: "search",
});
const ofAnotherKind = recommendation({
  cluster: "east",
  id: "idle-1",
  kind: "release_idle",
  title: "of another kind",
  gpus: 40,
  for_team: "search",
});
const giveBackAdvice = { text: `${title} (gains 12 GPUs)`, id: "reclaim-1", saving: "3360 USD a week" };

/** Who is first in a queue of the team `search`. */
const head = (workload: string, gpus: number, domain: string): WorldSeries =>
  series(
    "fairlead_queue_head_gpus",
    { cluster: "east", queue: "q", team: "search", domain, cause: "capacity", namespace: "search", workload },
    gpus,
  );

const starving = [
  head("Job/eval", 2, "A100"),
  head("PyTorchJob/train-9", 16, "A100"),
  head("Job/elsewhere", 64, "H100"),
  ...team(["east", "search", "A100"], 16, 4, 12),
  ...team(["east", "vision & co", "A100+H100"], 10, 5, 4),
  ...team(["east", "content", "A100"], 8, 8, 0),
  ...team(["west", "search", "A100"], 8, 2.5, 4),
  ...teamOfSharedQueue(["west", "maps", "L4"], 8, 0, 8),
  ...giveBack,
  ...smaller,
  ...ofAnotherKind,
];
const short = (name: string, cluster: string, gpus: string, domain: string): string =>
  `Team ${name} in ${cluster} holds ${gpus} GPUs less than its share of ${domain}, and work of it waits that this would start.`;

const starved = {
  area: "fairness",
  action: "ticket",
  world: starving,
  quiet: {
    "just over 70 % of the share is allocated": team(["east", "search", "A100"], 16, 11.25, 4),
    "less than one GPU is missing": team(["east", "search", "A100"], 2, 1.01, 1),
    "nothing that waits fits the rest of the share": team(["east", "search", "A100"], 16, 4, 0),
    "the team itself does not wait": teamOfSharedQueue(["west", "maps", "L4"], 8, 0, 0),
    "its node is lost": withoutNodes("lost_node"),
    "its node is still to come": withoutNodes("node_to_come"),
    "pods of no queue hold its node": withoutNodes("past_queues"),
    "its GPUs are promised twice": withoutNodes("promised_twice"),
    "a setting keeps with others what it misses": team(["east", "search", "A100"], 16, 4, 0, { indivisible: 12 }),
    "what the share is, is not known": [
      series("fairlead_team_pending_gpus", { cluster: "east", team: "search" }, 12),
      series("fairlead_team_fairness_deviation_gpus", { cluster: "east", team: "search", domain: "A100" }, -12),
    ],
  },
  arrivals: [
    {
      labels: { cluster: "east", team: "search", domain: "A100" },
      description: `${short("search", "east", "12", "A100")} First in line: search/train-9 (16 GPUs), search/eval (2 GPUs).`,
      subject: "search/train-9 (16 GPUs), search/eval (2 GPUs)",
      advice: giveBackAdvice,
      dashboard: "fairlead-fairness?var-cluster=east&var-team=search&var-domain=A100",
    },
    {
      labels: { cluster: "east", team: "vision & co", domain: "A100+H100" },
      ...unnamed(short("vision & co", "east", "5", "A100+H100"), "pending?team=vision+%26+co"),
      advice: null,
      dashboard: "fairlead-fairness?var-cluster=east&var-team=vision+%26+co&var-domain=A100%2BH100",
    },
    {
      labels: { cluster: "west", team: "search", domain: "A100" },
      ...unnamed(short("search", "west", "5.5", "A100"), "pending?team=search"),
      advice: null,
      dashboard: "fairlead-fairness?var-cluster=west&var-team=search&var-domain=A100",
    },
    {
      labels: { cluster: "west", team: "maps", domain: "L4" },
      ...unnamed(short("maps", "west", "8", "L4"), "pending?team=maps"),
      advice: null,
      dashboard: "fairlead-fairness?var-cluster=west&var-team=maps&var-domain=L4",
    },
  ],
} satisfies Partial<AlertTable>;

const above = [
  ...team(["east", "search", "A100"], 16, 4, 12),
  ...team(["east", "ads", "A100"], 16, 22, 0, { reclaimable: 6 }),
  ...team(["east", "crawl", "A100"], 0, 6, 0, { reclaimable: 1 }),
  // Nothing moves between this one and whoever is starved.
  ...team(["east", "other tree", "A100"], 0, 12, 0),
  ...team(["west", "ads", "A100"], 16, 32, 0, { reclaimable: 16 }),
  ...team(["west", "search", "L4"], 8, 0, 8),
  ...teamOfSharedQueue(["west", "maps", "L4"], 4, 12, 0),
  series("fairlead_queue_reclaimable_gpus", sharedQueue("west", "L4"), 8),
];

function jain(cluster: string, index: number, capacity: number, teams: number): readonly WorldSeries[] {
  return [
    series("fairlead_fairness_jain_index", { cluster, domain: "A100" }, index),
    series("fairlead_domain_capacity_gpus", { cluster, domain: "A100" }, capacity),
    ...Array.from({ length: teams }, (_, number) =>
      series("fairlead_team_entitled_gpus", { cluster, team: `team-${number}`, domain: "A100" }, 4),
    ),
    series("fairlead_team_entitled_gpus", { cluster, team: "nobody", domain: "A100" }, 0),
  ];
}

const pastText = (cluster: string, gpus: string): string =>
  `Pods of no queue in ${cluster} hold ${gpus} of A100 that queues are guaranteed and wait for. No other queue has them: the finding pods-past-queues names the namespaces.`;

const unevenAdvice = { text: `${title} (gains 12 GPUs)`, id: "reclaim-1", saving: "3360 USD a week" };

/** Shares of teams and queues. */
export const fairnessTables: readonly AlertTable[] = [
  {
    ...starved,
    alert: "GpuTeamStarved",
    severity: "warning",
    summary: "A team holds far fewer GPUs than its share while work that fits its share waits.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
  },
  {
    alert: "GpuTeamAboveFairShare",
    severity: "warning",
    area: "fairness",
    action: "ticket",
    summary: "A team holds far more GPUs than its share, which waiting work of a starved team could use.",
    step: "1m",
    firesAt: 60,
    quietAt: 59,
    world: [...above, ...giveBack],
    quiet: {
      "130 % of the share is allocated": [
        ...team(["east", "search", "A100"], 16, 4, 12),
        ...team(["east", "ads", "A100"], 10, 13, 0, { reclaimable: 3 }),
      ],
      "less than two GPUs more": [
        ...team(["east", "search", "A100"], 16, 4, 12),
        ...team(["east", "ads", "A100"], 1, 2.9, 0, { reclaimable: 1.9 }),
      ],
      "nobody is starved there": [
        ...team(["east", "ads", "A100"], 16, 32, 0, { reclaimable: 16 }),
        ...team(["east", "search", "L4"], 16, 4, 12),
        ...team(["west", "search", "A100"], 16, 4, 12),
      ],
      "another team is starved, and no scheduler would move any of it there": [
        ...team(["east", "search", "A100"], 16, 4, 12),
        ...team(["east", "ads", "A100"], 16, 28, 0),
      ],
      "what another team misses has no nodes": [
        ...team(["east", "search", "A100"], 0, 0, 0, { absent: 16 }),
        ...team(["east", "ads", "A100"], 8, 16, 0),
        ...absentCapacity("east", "A100", "lost_node", 16),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", domain: "A100" },
        description:
          "Team ads in east holds 6 GPUs more than its share of A100, where another team is starved and work waits that would start with some of them.",
        advice: giveBackAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-team=ads&var-domain=A100",
      },
      {
        labels: { cluster: "east", team: "crawl", domain: "A100" },
        description:
          "Team crawl in east holds 6 GPUs more than its share of A100, where another team is starved and work waits that would start with some of them.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-team=crawl&var-domain=A100",
      },
      {
        labels: { cluster: "west", team: "maps", domain: "L4" },
        description:
          "Team maps in west holds 8 GPUs more than its share of L4, where another team is starved and work waits that would start with some of them.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-team=maps&var-domain=L4",
      },
    ],
  },
  {
    alert: "GpuPodsPastQueues",
    severity: "info",
    area: "fairness",
    action: "digest",
    summary: "Pods of no queue hold GPUs that queues are guaranteed and wait for.",
    step: "1m",
    firesAt: 30,
    quietAt: 29,
    world: [
      ...absentCapacity("east", "A100", "past_queues", 8),
      ...absentCapacity("east", "L4", "lost_node", 8),
      ...absentCapacity("west", "A100", "past_queues", 1),
    ],
    quiet: {
      "what is guaranteed is on a lost node": absentCapacity("east", "A100", "lost_node", 8),
      "what is guaranteed is on a node to come": absentCapacity("east", "A100", "node_to_come", 8),
      "what is guaranteed is promised twice": absentCapacity("east", "A100", "promised_twice", 8),
      "there is room for pods of no queue": [
        series("fairlead_domain_past_queues_gpus", { cluster: "east", domain: "A100" }, 8),
        series("fairlead_fairness_absent_capacity_gpus", { cluster: "east", domain: "A100", owner: "past_queues" }, 0),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", domain: "A100" },
        description: pastText("east", "8 GPUs"),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=east&var-domain=A100",
      },
      {
        labels: { cluster: "west", domain: "A100" },
        description: pastText("west", "1 GPU"),
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-domain=A100",
      },
    ],
  },
  {
    alert: "GpuFairnessLow",
    severity: "info",
    area: "fairness",
    action: "digest",
    summary: "GPUs have been shared unevenly between queues for hours.",
    step: "5m",
    firesAt: 72,
    quietAt: 71,
    world: [...jain("east", 0.45, 64, 3), ...jain("west", 0.69, 8, 3), ...giveBack],
    quiet: {
      "the index is just high enough": jain("east", 0.7, 64, 3),
      "two teams only": jain("east", 0.45, 64, 2),
      "too small a domain": jain("east", 0.45, 7, 3),
    },
    arrivals: [
      {
        labels: { cluster: "east", domain: "A100" },
        description: "Jain's fairness index of A100 in east is 0.45, where 1 is even.",
        advice: unevenAdvice,
        dashboard: "fairlead-fairness?var-cluster=east&var-domain=A100",
      },
      {
        labels: { cluster: "west", domain: "A100" },
        description: "Jain's fairness index of A100 in west is 0.69, where 1 is even.",
        advice: null,
        dashboard: "fairlead-fairness?var-cluster=west&var-domain=A100",
      },
    ],
  },
];
