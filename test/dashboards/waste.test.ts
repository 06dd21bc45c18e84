import { waste } from "../../dashboards/waste.ts";
import { fromReplica, recommendation, series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

type Allocated = "active" | "underutilized" | "idle" | "gang_wait" | "unobserved";
type State = Allocated | "free" | "unavailable";

const allocated = (
  cluster: string,
  team: string,
  pool: string,
  state: Allocated,
  count: number | string,
): WorldSeries => series("fairlead_team_gpus", { cluster, team, pool, state }, count);
const time = (cluster: string, team: string, state: State, value: string): WorldSeries =>
  series(
    "fairlead_gpu_seconds_total",
    { cluster, team, state, queue: team, pool: "A100", capacity_type: "spot", priority_class: "" },
    value,
  );
const cost = (team: string, state: "active" | "idle", currency: string, value: string): WorldSeries =>
  series(
    "fairlead_cost_total",
    { cluster: "east", team, state, currency, queue: team, pool: "A100", capacity_type: "spot", priority_class: "" },
    value,
  );
const free = (pool: string, count: number): WorldSeries =>
  series("fairlead_pool_free_gpus", { cluster: "east", pool, part: "whole" }, count);
const stranded = (pool: string, reason: "constraint" | "gpus" | "cpu" | "cpu_and_memory", count: number) =>
  series("fairlead_stranded_gpus", { cluster: "east", pool, reason }, count);

const idle = [
  allocated("east", "ads", "A100", "idle", 3),
  allocated("east", "ads", "A100", "active", 5),
  allocated("east", "ads", "L4", "idle", 1),
  allocated("west", "maps", "A100", "idle", 5),
];

const idleFor = (
  cluster: string,
  team: string,
  pool: string,
  reason: "no-activity" | "no-requests" | "asleep",
  gpus: number,
): WorldSeries => series("fairlead_idle_gpu_seconds_total", { cluster, team, pool, reason }, `0+${60 * gpus}x#`);
const idleByReason = [
  idleFor("east", "ads", "A100", "no-activity", 3),
  idleFor("east", "ads", "L4", "no-activity", 1),
  idleFor("east", "ads", "A100", "no-requests", 2),
  idleFor("east", "ads", "A100", "asleep", 0),
  idleFor("west", "maps", "A100", "asleep", 5),
];

/** 2 GPUs busy, 1 idle, 1 free, of a replica whose samples all are there. */
const fourGpus = [
  time("east", "ads", "active", "0+120x#"),
  time("east", "maps", "idle", "0+60x#"),
  time("east", "", "free", "0+60x#"),
];

/** A Fairlead that ran long and ends after half an hour; the one of `health` has begun anew. */
const ended = (of: WorldSeries, value: string): WorldSeries => ({ ...fromReplica(1, of), value });
const covered = series("fairlead_covered_seconds_total", { cluster: "east" }, "");

const cold = { cluster: "east", pool: "A100", node_pool: "a", capacity_type: "spot" } as const;
const idleNodes = (idle_kind: "allocated" | "unallocated", warm_pool: "true" | "false", count: number) =>
  series("fairlead_idle_nodes", { ...cold, idle_kind, warm_pool }, count);

testPanelNumbers(waste, [
  {
    panel: "Idle GPUs",
    why: "3, 1 and 5 of all teams, pools and clusters, though another replica says the same",
    world: [...idle, ...idle.map((one) => fromReplica(1, one))],
    shows: { Idle: 9 },
  },
  {
    panel: "Idle GPUs",
    why: "of the chosen team in the chosen pool",
    world: idle,
    variables: { team: "ads", pool: "A100" },
    shows: { Idle: 3 },
  },
  {
    panel: "Cost of idle GPUs, 24 h",
    why: "1 USD a minute; not what works, and no euros",
    world: [
      cost("ads", "idle", "USD", "0+1x#"),
      cost("ads", "active", "USD", "0+7x#"),
      cost("maps", "idle", "EUR", "0+9x#"),
    ],
    shows: { "24 hours": 15 },
  },
  { panel: "Cost of idle GPUs, 24 h", why: "without a price it is not 0", world: idle, shows: {} },
  {
    panel: "Stranded, worst pool",
    why: "3 of 10 in the worst pool, not 3 of 14 of all; those that are kept out are not stranded",
    world: [
      free("A100", 10),
      stranded("A100", "cpu", 2),
      stranded("A100", "gpus", 1),
      stranded("A100", "constraint", 5),
      free("L4", 4),
      stranded("L4", "cpu", 0),
    ],
    shows: { "Worst pool": 0.3 },
  },
  {
    panel: "Largest pod that fits",
    why: "the largest of all pools and clusters",
    world: ["A100", "H100"].map((pool) =>
      series(
        "fairlead_largest_placeable_pod_gpus",
        { cluster: pool === "A100" ? "east" : "west", pool },
        pool === "A100" ? 2 : 4,
      ),
    ),
    shows: { "Largest pod": 4 },
  },
  {
    panel: "GPU-hours by what became of them",
    why: "4 GPUs for an hour add up, though another replica says the same",
    world: [...fourGpus, ...fourGpus.map((one) => fromReplica(1, one))],
    at: 62,
    shows: { "All [east]": 4, "Busy [east]": 2, "Idle, allocated [east]": 1, "Free [east]": 1 },
  },
  {
    panel: "GPU-hours by what became of them",
    why: "of a chosen team only what it held",
    world: fourGpus,
    variables: { team: "maps" },
    at: 62,
    shows: { "All [east]": 1, "Idle, allocated [east]": 1 },
  },
  {
    panel: "GPU-hours by what became of them",
    why: "Fairlead that begins anew after half an hour loses the minute between, not the half hour",
    world: [
      ended(covered, "100000+60x30 stale"),
      ended(time("east", "ads", "active", ""), "5000+60x30 stale"),
      time("east", "ads", "active", "_x31 0+60x#"),
    ],
    at: 62,
    shows: { "All [east]": 59 / 60, "Busy [east]": 59 / 60 },
  },
  {
    panel: "Idle GPUs, by team and pool",
    why: "by team and pool; idle in the last half hour of the range only",
    world: [allocated("east", "ads", "A100", "idle", "0x30 3x#"), allocated("east", "ads", "A100", "active", 3)],
    at: 62,
    shows: {
      "Idle now [ads, A100, east]": 3,
      "Allocated [ads, A100, east]": 6,
      "Idle part [ads, A100, east]": 0.5,
      "Idle in range [ads, A100, east]": 1.5,
    },
  },
  {
    panel: "Idle GPUs by how long, by team",
    why: "1 of the 4 of ads since more than an hour; a team whose GPUs all work has no row; nobody knows of a day",
    world: [allocated("east", "ads", "A100", "idle", "1x100 4x#"), allocated("east", "maps", "A100", "active", 8)],
    at: 125,
    shows: { "Now [ads, east]": 4, "For 1 h [ads, east]": 1 },
  },
  {
    panel: "Idle GPUs, by team and reason",
    why: "each team over its pools, each cluster for itself, though another replica says the same; a reason that nobody has is left out",
    world: [...idleByReason, ...idleByReason.map((one) => fromReplica(1, one))],
    shows: {
      "ads, no-activity (east)": 4,
      "ads, no-requests (east)": 2,
      "maps, asleep (west)": 5,
    },
  },
  {
    panel: "Idle GPUs, by team and reason",
    why: "of the chosen pool only",
    world: idleByReason,
    variables: { pool: "L4" },
    shows: { "ads, no-activity (east)": 1 },
  },
  {
    panel: "Cost of idle GPUs in 24 h, by team",
    why: "each team in the currency of the page",
    world: [
      cost("ads", "idle", "USD", "0+2x#"),
      cost("maps", "idle", "USD", "0+4x#"),
      cost("maps", "idle", "EUR", "0+9x#"),
    ],
    shows: { "ads (east)": 30, "maps (east)": 60 },
  },
  {
    panel: "Recommendations against waste",
    why: "against waste, of what the team gives up, though it is for several pools; no reclaim, no euros",
    world: [
      ...recommendation({
        cluster: "east",
        id: "idle-7",
        kind: "release_idle",
        title: "end notebook-3",
        gpus: 4,
        from_team: "ads",
        saving: [1680, "USD"],
      }),
      ...recommendation({
        cluster: "east",
        id: "idle-8",
        kind: "release_idle",
        title: "end notebook-4",
        gpus: 2,
        from_team: "ads",
        saving: [700, "EUR"],
      }),
      ...recommendation({ cluster: "east", id: "r-1", kind: "reclaim", title: "give back", gpus: 9, from_team: "ads" }),
      ...recommendation({
        cluster: "east",
        id: "m-1",
        kind: "right_size",
        title: "smaller",
        gpus: 8,
        from_team: "maps",
      }),
    ],
    variables: { team: "ads", pool: "A100" },
    shows: {
      "Gains [end notebook-3, east, ads, ]": 4,
      "Gains [end notebook-4, east, ads, ]": 2,
      "Saves a week [end notebook-3, east, ads, ]": 1680,
    },
  },
  {
    panel: "Idle nodes, by node pool",
    why: "by why, never added up; those kept warm are left out, and hours are of one window",
    world: [
      idleNodes("unallocated", "false", 2),
      idleNodes("unallocated", "true", 7),
      idleNodes("allocated", "false", 1),
      ...(["24h", "7d"] as const).map((window) =>
        series(
          "fairlead_idle_node_hours",
          {
            cluster: "east",
            pool: "A100",
            node_pool: "a",
            idle_kind: "unallocated",
            warm_pool: "false",
            window,
          },
          window === "24h" ? 30 : 200,
        ),
      ),
    ],
    shows: {
      "Now [a, A100, unallocated, east]": 2,
      "Now [a, A100, allocated, east]": 1,
      "In 24 hours [a, A100, unallocated, east]": 30,
    },
  },
  {
    panel: "Pods that fit now, by size",
    why: "each size of each pool",
    world: (["1", "2", "4", "8"] as const).map((size) =>
      series("fairlead_placeable_pods", { cluster: "east", pool: "A100", size }, 16 / Number(size) - 2),
    ),
    shows: { "of 1 GPU [A100, east]": 14, "of 2 [A100, east]": 6, "of 4 [A100, east]": 2, "of 8 [A100, east]": 0 },
  },
  {
    panel: "Free and stranded GPUs, by pool",
    why: "CPU or memory or both together; 0 where nothing is missing",
    world: [
      free("A100", 10),
      stranded("A100", "cpu", 2),
      stranded("A100", "cpu_and_memory", 1),
      stranded("A100", "constraint", 4),
    ],
    shows: {
      "Free [A100, east]": 10,
      "Stranded [A100, east]": 0.3,
      "No CPU, memory [A100, east]": 3,
      "Few GPUs [A100, east]": 0,
      "Kept out [A100, east]": 4,
    },
  },
  {
    panel: "GPUs of work blocked next to free GPUs",
    why: "12 GPUs of a pool, by what is in the way",
    world: [
      series("fairlead_blocked_gpus", { cluster: "east", pool: "A100", blocker: "topology" }, 8),
      series("fairlead_blocked_gpus", { cluster: "east", pool: "A100", blocker: "cpu" }, 4),
      series("fairlead_longest_blocked_seconds", { cluster: "east", pool: "A100" }, 1800),
    ],
    shows: {
      "Waits for [A100, east]": 12,
      "Longest [A100, east]": 1800,
      "CPU, memory [A100, east]": 4,
      "Topology [A100, east]": 8,
      "Model, selector [A100, east]": 0,
      "MIG shape [A100, east]": 0,
    },
  },
  {
    panel: "Work of GPUs by pool",
    why: "a pool without power",
    world: [
      series("fairlead_pool_tensor_active_ratio", { cluster: "east", pool: "A100" }, 0.3),
      series("fairlead_pool_dram_active_ratio", { cluster: "east", pool: "A100" }, 0.2),
      series("fairlead_pool_power_ratio", { cluster: "east", pool: "L4" }, 0.6),
    ],
    shows: { "Tensor [A100, east]": 0.3, "DRAM [A100, east]": 0.2, "Power [L4, east]": 0.6 },
  },
]);
