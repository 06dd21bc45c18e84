import { fleet } from "../../dashboards/fleet.ts";
import { recommendation, series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

type State = "active" | "underutilized" | "idle" | "gang_wait" | "unobserved" | "free" | "idle_node" | "unavailable";

const gpus = (cluster: string, pool: string, state: State, count: number): WorldSeries =>
  series("fairlead_gpus", { cluster, pool, state, node_pool: "a", capacity_type: "on-demand" }, count);
const allocated = (cluster: string, pool: string, team: string, state: "active" | "idle", count: number): WorldSeries =>
  series("fairlead_team_gpus", { cluster, pool, team, state }, count);
const share = (cluster: string, team: string, domain: string, entitled: number, deviation: number) => [
  series("fairlead_team_entitled_gpus", { cluster, team, domain }, entitled),
  series("fairlead_team_fairness_deviation_gpus", { cluster, team, domain }, deviation),
];
const cost = (currency: string, state: "active" | "idle", perHour: number): WorldSeries =>
  series(
    "fairlead_cost_per_hour",
    { cluster: "east", pool: "A100", node_pool: "a", capacity_type: "spot", state, currency },
    perHour,
  );

const twoPools = [
  gpus("east", "A100", "active", 6),
  gpus("east", "A100", "underutilized", 1),
  gpus("east", "A100", "idle", 3),
  gpus("east", "A100", "gang_wait", 2),
  gpus("east", "A100", "free", 3),
  gpus("east", "A100", "unavailable", 1),
  gpus("west", "H100", "active", 8),
  gpus("west", "H100", "unobserved", 4),
  gpus("west", "H100", "idle_node", 4),
  allocated("east", "A100", "ads", "active", 7),
  allocated("east", "A100", "maps", "idle", 5),
  allocated("west", "H100", "ads", "active", 12),
];

/** Another replica says the same; it counts once. */
const again = twoPools.map((one) => ({
  ...one,
  labels: { ...one.labels, instance: "10.0.9.9:10836", pod: "fairlead-9" },
}));

const shareOf = (cluster: string, team: string, domain: string, entitled: number, deviation: number) => [
  series("fairlead_team_entitled_gpus", { cluster, team, domain }, entitled),
  series("fairlead_team_fairness_deviation_gpus", { cluster, team, domain }, deviation),
];

testPanelNumbers(fleet, [
  {
    panel: "Guaranteed GPUs without nodes, by cause",
    why: "by whose it is to fix, and all that pods of no queue hold",
    world: [
      ...(["lost_node", "node_to_come", "past_queues", "promised_twice"] as const).map((owner, i) =>
        series("fairlead_fairness_absent_capacity_gpus", { cluster: "east", domain: "A100", owner }, i),
      ),
      series("fairlead_domain_past_queues_gpus", { cluster: "east", domain: "A100" }, 5),
      series("fairlead_domain_past_queues_gpus", { cluster: "east", domain: "L4" }, 0),
    ],
    shows: {
      "Nodes to come [A100, east]": 1,
      "Past the queues [A100, east]": 2,
      "Promised twice [A100, east]": 3,
      "Allocated to no queue [A100, east]": 5,
    },
  },
  {
    panel: "GPUs in all",
    why: "16 in each of two clusters, though two replicas say so",
    world: [...twoPools, ...again],
    shows: { GPUs: 32 },
  },
  {
    panel: "GPUs in all",
    why: "only the chosen cluster",
    world: twoPools,
    variables: { cluster: "west" },
    shows: { GPUs: 16 },
  },
  {
    panel: "GPUs in all",
    why: "nothing is known of a pool that is not there",
    world: twoPools,
    variables: { pool: "L4" },
    shows: {},
  },
  { panel: "GPUs allocated", why: "24 of 32", world: twoPools, shows: { Allocated: 0.75 } },
  {
    panel: "GPUs allocated",
    why: "12 of 16 in the chosen pool",
    world: twoPools,
    variables: { pool: "A100" },
    shows: { Allocated: 0.75 },
  },
  {
    panel: "Busy part of allocated GPUs",
    why: "6 of the 10 whose activity is known and matters, not those that wait for a gang",
    world: twoPools,
    variables: { pool: "A100" },
    shows: { Busy: 0.6 },
  },
  {
    panel: "Cost of idle GPUs, per day",
    why: "12 USD an hour idle; what is active, and other currencies, are not in it",
    world: [cost("USD", "idle", 12), cost("USD", "active", 40), cost("EUR", "idle", 99)],
    shows: { "a day": 288 },
  },
  { panel: "Cost of idle GPUs, per day", why: "without a price it is not 0", world: twoPools, shows: {} },
  {
    panel: "Worst-off team, part of its share",
    why: "maps holds 2 of 8; ads has 12 of 16 in two quota domains, and nobody else is named",
    world: [
      ...shareOf("east", "ads", "A100", 8, 0),
      ...shareOf("east", "ads", "L4", 8, -4),
      ...shareOf("west", "maps", "A100", 8, -6),
    ],
    shows: { "maps (west)": 0.25 },
  },
  {
    panel: "Open recommendations",
    why: "open ones of every kind and cluster; closed ones are not",
    world: [
      series("fairlead_recommendations", { cluster: "east", kind: "reclaim", state: "open" }, 3),
      series("fairlead_recommendations", { cluster: "east", kind: "reclaim", state: "taken" }, 5),
      series("fairlead_recommendations", { cluster: "west", kind: "release_idle", state: "open" }, 1),
    ],
    shows: { Recommendations: 4 },
  },
  {
    panel: "Open recommendations",
    why: "a Fairlead that runs and advises nothing: 0",
    world: [],
    shows: { Recommendations: 0 },
  },
  {
    panel: "GPUs over share, by team",
    why: "ads: 4 + 12 of 8 + 12; maps holds half as much again as its share; crawl is entitled to nothing",
    world: [
      ...share("east", "ads", "A100", 8, -4),
      ...share("east", "ads", "L4", 12, 0),
      ...share("east", "maps", "A100", 8, 4),
      ...share("east", "crawl", "A100", 0, 3),
    ],
    shows: { "ads (east)": 0.8, "maps (east)": 1.5 },
  },
  {
    panel: "GPUs by what they do",
    why: "parts of 16 add up to 1; 2 of the 3 free ones are where no usual pod fits",
    world: [...twoPools, series("fairlead_stranded_gpus", { cluster: "east", pool: "A100", reason: "cpu" }, 2)],
    variables: { pool: "A100" },
    shows: {
      Busy: 6 / 16,
      "Hardly used": 1 / 16,
      "Idle, allocated": 3 / 16,
      "Starting, waiting for a gang": 2 / 16,
      Free: 1 / 16,
      "Free, no usual pod fits": 2 / 16,
      "Not usable": 1 / 16,
    },
  },
  {
    panel: "Recommendations that gain most",
    why: "gains, saving of a seventh of a week, and age since its first minute",
    world: [
      ...recommendation({
        cluster: "east",
        id: "idle-7",
        kind: "release_idle",
        title: "end notebook-3",
        gpus: 4,
        from_team: "ads",
        pool: "A100",
        saving: [1680, "USD"],
      }),
      series(
        "fairlead_recommendation_first_seen_timestamp_seconds",
        { cluster: "east", kind: "release_idle", id: "idle-7" },
        300,
      ),
      ...recommendation({
        cluster: "east",
        id: "move-1",
        kind: "defragment",
        title: "move 2 pods",
        gpus: 8,
        for_team: "maps",
      }),
    ],
    variables: { pool: "L4" },
    shows: {
      "Gains [end notebook-3, east, ads, ]": 4,
      "Gains [move 2 pods, east, , maps]": 8,
      "Saves a day [end notebook-3, east, ads, ]": 240,
      "Open for [end notebook-3, east, ads, ]": 600,
    },
  },
  {
    panel: "Demand over capacity, by quota domain",
    why: "10 allocated and 14 waited for, of 16",
    world: [
      ...(["fairlead_queue_allocated_gpus", "fairlead_queue_pending_gpus"] as const).map((name, index) =>
        series(
          name,
          { cluster: "east", scheduler: "kueue", kind: "ClusterQueue", queue: "ads", domain: "A100", team: "ads" },
          index === 0 ? 10 : 14,
        ),
      ),
      series("fairlead_domain_capacity_gpus", { cluster: "east", domain: "A100" }, 16),
    ],
    shows: { "A100 (east)": 1.5 },
  },
  {
    panel: "Nodes lost, by node pool",
    why: "one node and its 8 GPUs",
    world: [
      series("fairlead_nodes", { cluster: "east", node_pool: "a", state: "not_ready" }, 1),
      series("fairlead_nodes", { cluster: "east", node_pool: "a", state: "ready" }, 7),
      { ...gpus("east", "A100", "unavailable", 8) },
    ],
    shows: { "Not ready [a, east]": 1, "Not usable [a, east]": 8 },
  },
  {
    panel: "GPUs unusable or slow, by cause",
    why: "two pools with the same cause, and one GPU that is slow",
    world: [
      ...["A100", "L4"].map((pool) =>
        series("fairlead_unavailable_gpus", { cluster: "east", pool, node_pool: pool, cause: "ecc" }, 1),
      ),
      series("fairlead_degraded_gpus", { cluster: "east", pool: "L4", node_pool: "L4", cause: "thermal" }, 1),
    ],
    shows: { "ecc (east)": 2, "slow: thermal (east)": 1 },
  },
  {
    panel: "GPUs to look after",
    why: "one GPU with work on it",
    world: [
      series(
        "fairlead_sick_gpu_gpus",
        { cluster: "east", node_pool: "a", sick_node: "n1", gpu: "GPU-1", tier: "drain", cause: "ecc" },
        1,
      ),
    ],
    shows: { "GPUs [drain, ecc, n1, GPU-1, a, east]": 1 },
  },
  {
    panel: "Time covered",
    why: "all of it where nothing was left out; three quarters where every fourth minute was",
    world: [series("fairlead_uncovered_seconds_total", { cluster: "west", reason: "too-long" }, "0+20x#")],
    range: "10m",
    shows: { east: 1, west: 0.75 },
  },
  {
    panel: "GPUs without a team",
    why: "3 of 12",
    world: [...twoPools, series("fairlead_unassigned_gpus", { cluster: "east" }, 3)],
    variables: { cluster: "east" },
    shows: { east: 0.25 },
  },
]);
