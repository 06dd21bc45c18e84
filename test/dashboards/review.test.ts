import { exhaustionReasons } from "../../alerts/rules/recordExhaustion.ts";
import { review } from "../../dashboards/review.ts";
import { fromReplica, recommendation, series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

type State = "active" | "underutilized" | "idle" | "gang_wait" | "unobserved" | "free";

/** Two weeks and an hour, seen once an hour: hours 1 to 169 are the week before, 169 to 337 the last one. */
const twoWeeks = { step: "1h", at: 337, range: "7d" } as const;
/** A number that changes after the first week. */
const weeks = (before: number, last: number): string => `${before}x168 ${last}x#`;
/** The mean of the week before, whose last hour is of the new one already. */
const meanBefore = (before: number, last: number): number => (168 * before + last) / 169;

const gpus = (cluster: string, state: State, count: number | string): WorldSeries =>
  series("fairlead_gpus", { cluster, pool: "A100", state, node_pool: "a", capacity_type: "spot" }, count);
const allocated = (cluster: string, team: string, state: "active" | "idle", count: number | string): WorldSeries =>
  series("fairlead_team_gpus", { cluster, pool: "A100", team, state }, count);
const queue = (
  name: "fairlead_queue_allocated_gpus" | "fairlead_queue_pending_gpus",
  domain: string,
  of: number | string,
) => series(name, { cluster: "east", scheduler: "kueue", kind: "ClusterQueue", queue: "ads", domain, team: "ads" }, of);
const capacityOf = (domain: string, gpus: number): WorldSeries =>
  series("fairlead_domain_capacity_gpus", { cluster: "east", domain }, gpus);
/** When a demand that rises by so many GPUs an hour from 8 on reaches 16, looked at in hour 337; milliseconds. */
function endOfRise(anHour: number): number {
  // The 95th percentile of a day is that of its 25 evaluations, of fewer on the first day.
  const p95 = Array.from({ length: 338 }, (_, hour) => 8 + anHour * (hour - 0.05 * Math.min(hour, 24)));
  const meanHour = 337 / 2;
  const mean = p95.reduce((sum, value) => sum + value, 0) / p95.length;
  const [above, square] = p95.reduce(
    ([a, b], value, hour) => [a + (hour - meanHour) * (value - mean), b + (hour - meanHour) ** 2],
    [0, 0],
  );
  return (337 + (16 - (p95[337] ?? 0)) / (above / square)) * 3_600_000;
}
const waiting = (cause: "capacity" | "quota" | "gang", team: string, count: number | string): WorldSeries =>
  series(
    "fairlead_queue_waiting_gpus",
    {
      cluster: "east",
      scheduler: "kueue",
      kind: "ClusterQueue",
      queue: team,
      domain: "A100",
      team,
      priority_class: "",
      cause,
    },
    count,
  );
const cost = (state: "active" | "idle", currency: string, value: number | string): WorldSeries =>
  series(
    "fairlead_cost_per_hour",
    { cluster: "east", pool: "A100", node_pool: "a", capacity_type: "spot", state, currency },
    value,
  );
const charged = (team: string, value: number | string): WorldSeries =>
  series("fairlead_team_cost_per_hour", { cluster: "east", team, charge: "allocation", currency: "USD" }, value);
const covered = (cluster: string, value: number | string): WorldSeries =>
  series("fairlead_idle_node_covered_ratio", { cluster, window: "7d" }, value);
const idleHours = (
  idle_kind: "allocated" | "unallocated",
  warm_pool: "true" | "false",
  window: "24h" | "7d",
  hours: string,
) =>
  series(
    "fairlead_idle_node_hours",
    { cluster: "east", pool: "A100", node_pool: "a", idle_kind, warm_pool, window },
    hours,
  );
const recommendations = (kind: string, state: "open" | "taken" | "expired", count: number): WorldSeries =>
  series("fairlead_recommendations", { cluster: "east", kind, state }, count);

const fleet = [
  gpus("east", "active", weeks(4, 6)),
  gpus("east", "idle", weeks(4, 2)),
  gpus("east", "free", 2),
  gpus("west", "active", 8),
  gpus("west", "free", 12),
];
const again = fleet.map((one) => fromReplica(1, one));

testPanelNumbers(review, [
  {
    panel: "Week covered",
    why: "of the cluster of which least is known, as it was then",
    world: [covered("east", "0.9x200 1x#"), covered("west", 0.95)],
    ...twoWeeks,
    shows: { "7 days": 0.95, before: 0.9 },
  },
  {
    panel: "GPUs allocated",
    why: "of 30 GPUs of both clusters; a chosen team narrows neither side",
    world: [
      ...fleet,
      ...again,
      allocated("east", "ads", "active", weeks(3, 7)),
      allocated("west", "maps", "active", 8),
    ],
    variables: { team: "maps" },
    ...twoWeeks,
    shows: { "7 days": 15 / 30, before: (meanBefore(3, 7) + 8) / 30 },
  },
  {
    panel: "Busy part of GPUs",
    why: "14 of 16 held ones last week; unseen ones and free ones are not judged",
    world: [...fleet, gpus("east", "unobserved", 9)],
    ...twoWeeks,
    shows: { "7 days": 14 / 16, before: (meanBefore(4, 6) + 8) / 16 },
  },
  {
    panel: "GPUs wasted",
    why: "2 idle and 1 that waits for a gang, though another replica says the same; that one came in the last week only",
    world: [...fleet, ...again, gpus("east", "gang_wait", "_x169 1x#")],
    ...twoWeeks,
    shows: { "7 days": 3, before: meanBefore(4, 2) + 1 / 169 },
  },
  {
    panel: "GPU-hours waited for",
    why: "5 GPUs for 168 hours, and none the week before",
    world: [
      queue("fairlead_queue_pending_gpus", "A100", weeks(0, 5)),
      queue("fairlead_queue_allocated_gpus", "A100", 3),
    ],
    variables: { domain: "L4" },
    ...twoWeeks,
    shows: { "7 days": 840, before: meanBefore(0, 5) * 168 },
  },
  {
    panel: "Cost of the week",
    why: "10 and 2 an hour; no euros",
    world: [cost("active", "USD", 10), cost("idle", "USD", weeks(3, 2)), cost("active", "EUR", 99)],
    ...twoWeeks,
    shows: { "7 days": 12 * 168, before: (10 + meanBefore(3, 2)) * 168 },
  },
  {
    panel: "Cost of idle GPUs",
    why: "only what is idle",
    world: [cost("active", "USD", 10), cost("idle", "USD", weeks(3, 2))],
    ...twoWeeks,
    shows: { "7 days": 336, before: meanBefore(3, 2) * 168 },
  },
  {
    panel: "Cost of the week",
    why: "without a price it is not 0",
    world: fleet,
    ...twoWeeks,
    shows: {},
  },
  {
    panel: "Idle node-hours",
    why: "unallocated ones of 7 days; held ones, warm ones and those of a day are other numbers",
    world: [
      idleHours("unallocated", "false", "7d", "50x200 80x#"),
      idleHours("unallocated", "false", "24h", "7x#"),
      idleHours("unallocated", "true", "7d", "500x#"),
      idleHours("allocated", "false", "7d", "90x#"),
    ],
    ...twoWeeks,
    shows: { "7 days": 80, before: 50 },
  },
  {
    panel: "GPUs by what they did, week against week",
    why: "the parts of both weeks, of both clusters, add up to 30",
    world: [...fleet, ...again],
    ...twoWeeks,
    shows: {
      "Busy [7 days]": 14,
      "Busy [before]": meanBefore(4, 6) + 8,
      "Idle, allocated [7 days]": 2,
      "Idle, allocated [before]": meanBefore(4, 2),
      "Free [7 days]": 14,
      "Free [before]": 14,
    },
  },
  {
    panel: "Demand, part of capacity",
    why: "10 allocated and 10 waited for, of 16",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", 10),
      queue("fairlead_queue_pending_gpus", "A100", 10),
      series("fairlead_domain_capacity_gpus", { cluster: "east", domain: "A100" }, 16),
    ],
    shows: { "A100 (east)": 1.25 },
  },
  {
    panel: "Day on which GPUs run out",
    why: "20 of 16 in both weeks: all is wanted already; another domain is not chosen",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", 10),
      queue("fairlead_queue_pending_gpus", "A100", 10),
      capacityOf("A100", 16),
      capacityOf("L4", 8),
    ],
    variables: { domain: "A100" },
    ...twoWeeks,
    shows: {
      "Capacity [A100, east]": 16,
      "Wanted [A100, east]": 20,
      "Before [A100, east]": 20,
      "Run out [A100, east]": exhaustionReasons.short,
    },
  },
  {
    panel: "Day on which GPUs run out",
    why: "more wanted last week than before, and no trend of four days",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", "4x20 9x#"),
      queue("fairlead_queue_pending_gpus", "A100", 0),
      capacityOf("A100", 16),
    ],
    step: "1h",
    at: 96,
    shows: {
      "Capacity [A100, east]": 16,
      "Wanted [A100, east]": 9,
      "Run out [A100, east]": 1000 * exhaustionReasons.shortHistory,
    },
  },
  {
    panel: "Day on which GPUs run out",
    why: "nothing more is wanted than two weeks ago",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", 8),
      queue("fairlead_queue_pending_gpus", "A100", 0),
      capacityOf("A100", 16),
    ],
    ...twoWeeks,
    shows: {
      "Capacity [A100, east]": 16,
      "Wanted [A100, east]": 8,
      "Before [A100, east]": 8,
      "Run out [A100, east]": 1000 * exhaustionReasons.notGrowing,
    },
  },
  {
    panel: "Day on which GPUs run out",
    why: "0.01 GPUs more each hour, for two weeks: the line through them reaches 16",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", "8+0.01x#"),
      queue("fairlead_queue_pending_gpus", "A100", 0),
      capacityOf("A100", 16),
    ],
    ...twoWeeks,
    shows: {
      "Capacity [A100, east]": 16,
      "Wanted [A100, east]": 8 + 0.01 * (337 - 0.05 * 168),
      "Before [A100, east]": 8 + 0.01 * (169 - 0.05 * 168),
      "Run out [A100, east]": endOfRise(0.01),
    },
  },
  {
    panel: "Day on which GPUs run out",
    why: "0.0001 GPUs more each hour are 8 in nine years",
    world: [
      queue("fairlead_queue_allocated_gpus", "A100", "8+0.0001x#"),
      queue("fairlead_queue_pending_gpus", "A100", 0),
      capacityOf("A100", 16),
    ],
    ...twoWeeks,
    shows: {
      "Capacity [A100, east]": 16,
      "Wanted [A100, east]": 8 + 0.0001 * (337 - 0.05 * 168),
      "Before [A100, east]": 8 + 0.0001 * (169 - 0.05 * 168),
      "Run out [A100, east]": 1000 * exhaustionReasons.farOff,
    },
  },
  {
    panel: "GPU-hours waited for, by cause",
    why: "hours of a week by cause, of all teams of the queues; a gang that came in the last hour has waited an hour",
    world: [waiting("capacity", "ads", 2), waiting("quota", "maps", 1), waiting("gang", "maps", "_x337 3x#")],
    variables: { team: "ads" },
    ...twoWeeks,
    shows: {
      "No GPU free [A100, east]": 336,
      "Quota [A100, east]": 168,
      "Fragmentation [A100, east]": 0,
      "Part of a gang [A100, east]": (3 * 168) / 169,
      "Other [A100, east]": 0,
    },
  },
  {
    panel: "GPUs and charges, against a week ago",
    why: "ads has more; maps is new and held 0 before; crawl is gone and holds 0",
    world: [
      allocated("east", "ads", "active", weeks(4, 6)),
      allocated("east", "ads", "idle", 1),
      allocated("east", "maps", "active", "_x170 3x#"),
      allocated("east", "crawl", "active", "2x160 stale"),
      charged("ads", weeks(8, 14)),
    ],
    ...twoWeeks,
    shows: {
      "GPUs [ads, east]": 7,
      "Before [ads, east]": meanBefore(4, 6) + 1,
      "Change [ads, east]": 6 - meanBefore(4, 6),
      "Idle [ads, east]": 1,
      "Idle [maps, east]": 0,
      "Charged [ads, east]": 14 * 168,
      "Charged before [ads, east]": meanBefore(8, 14) * 168,
      "GPUs [maps, east]": (3 * 168) / 169,
      "Before [maps, east]": 0,
      "Change [maps, east]": (3 * 168) / 169,
      "GPUs [crawl, east]": 0,
      "Before [crawl, east]": (2 * 160) / 169,
      "Change [crawl, east]": (-2 * 160) / 169,
    },
  },
  {
    panel: "GPUs and charges, against a week ago",
    why: "what a team held before Fairlead ran is unknown, and not 0",
    world: [allocated("east", "ads", "active", 4)],
    step: "1h",
    at: 48,
    shows: { "GPUs [ads, east]": 4, "Idle [ads, east]": 0 },
  },
  {
    panel: "Open recommendations",
    why: "of the chosen team, what it would give up, in dollars",
    world: [
      ...recommendation({
        cluster: "east",
        id: "a",
        kind: "reclaim",
        title: "give 8 back",
        gpus: 8,
        from_team: "ads",
        for_team: "maps",
        saving: [10, "EUR"],
      }),
      ...recommendation({
        cluster: "east",
        id: "b",
        kind: "reclaim",
        title: "give 2 back",
        gpus: 2,
        from_team: "maps",
      }),
    ],
    variables: { team: "ads", domain: "A100" },
    shows: { "Gains [give 8 back, east, ads, maps]": 8 },
  },
  {
    panel: "Outcomes of recommendations",
    why: "2 taken on each of 7 days; open ones are those of now",
    world: [
      recommendations("release_idle", "open", 3),
      recommendations("release_idle", "taken", 2),
      recommendations("release_idle", "expired", 0),
      recommendations("reclaim", "expired", 1),
    ],
    ...twoWeeks,
    shows: {
      "Open [release_idle, east]": 3,
      "Taken [release_idle, east]": 14,
      "Expired [release_idle, east]": 0,
      "Dismissed [release_idle, east]": 0,
      "Taken [reclaim, east]": 0,
      "Expired [reclaim, east]": 7,
      "Dismissed [reclaim, east]": 0,
    },
  },
]);
