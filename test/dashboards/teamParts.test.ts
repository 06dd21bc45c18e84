import { team } from "../../dashboards/team.ts";
import { fromReplica, recommendation, series } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";
import { again, allocated, failed, oldest, teams, undone, waits } from "./teamWorld.ts";

testPanelNumbers(team, [
  {
    panel: "GPUs allocated, entitled and wanted",
    why: "24 held, 12 waited for; a team that only waits counts with what it waits for",
    world: [...teams, ...again],
    variables: { team: "ads|vision" },
    shows: { Allocated: 24, Share: 31, "Allocated and waited for": 52 },
  },
  {
    panel: "GPUs waited for, by queue and cause",
    why: "priority classes add up, causes that nothing waits for are no rows, each queue has its longest wait",
    world: [
      waits("ads", "high", "quota", 8),
      waits("ads", "low", "quota", 4),
      waits("ads", "low", "capacity", 2),
      waits("ads", "low", "gang", 0),
      waits("ads", "low", "quota", 1, "west"),
      oldest("ads", "high", 60),
      oldest("ads", "low", 7200),
      oldest("ads", "low", 30, "west"),
    ],
    variables: { team: "ads" },
    shows: {
      "Waits for [ads, quota, east]": 12,
      "Waits for [ads, capacity, east]": 2,
      "Waits for [ads, quota, west]": 1,
      "Longest [ads, quota, east]": 7200,
      "Longest [ads, capacity, east]": 7200,
      "Longest [ads, quota, west]": 30,
    },
  },
  {
    panel: "GPUs entitled and missing, by quota domain",
    why: "each quota domain by itself",
    world: [...teams, ...again],
    variables: { team: "ads", cluster: "east" },
    shows: {
      "Share [A100, ads, east]": 8,
      "Share [L4, ads, east]": 7,
      "Missing [A100, ads, east]": 0,
      "Missing [L4, ads, east]": 3,
    },
  },
  {
    panel: "GPU-hours by how far they got",
    why: "of 4 GPUs for two hours one waited for its gang; 2 GPU-hours were undone, by two evictions and a failure",
    world: [
      allocated("east", "ads", "A100", "active", 2),
      allocated("east", "ads", "L4", "idle", 1),
      allocated("east", "ads", "A100", "gang_wait", 1),
      allocated("east", "maps", "A100", "unobserved", 1),
      undone("ads", "high", "0x30 1800x30 1800x#"),
      undone("ads", "low", "0x30 3600x30 3600x#"),
      failed("ads", "0x30 1800x30 1800x#"),
    ],
    range: "2h",
    at: 125,
    shows: {
      "Allocated [ads, east]": 8,
      "Ran [ads, east]": 6,
      "Undone [ads, east]": 2,
      "Busy [ads, east]": 4,
      "Allocated [maps, east]": 2,
      "Ran [maps, east]": 2,
      "Undone [maps, east]": 0,
      "Busy [maps, east]": 0,
    },
  },
  {
    panel: "Recommendations to it or for it",
    why: "what it gives and what it gains, not what others do between them",
    world: [
      ...recommendation({
        cluster: "east",
        id: "1",
        kind: "release_idle",
        title: "end it",
        gpus: 4,
        from_team: "ads",
        saving: [1680, "USD"],
      }),
      ...recommendation({
        cluster: "west",
        id: "1",
        kind: "reclaim",
        title: "give back",
        gpus: 8,
        from_team: "maps",
        for_team: "ads",
        saving: [70, "EUR"],
      }),
      ...recommendation({
        cluster: "east",
        id: "3",
        kind: "reclaim",
        title: "not ours",
        gpus: 16,
        from_team: "maps",
        for_team: "vision",
      }),
      series(
        "fairlead_recommendation_first_seen_timestamp_seconds",
        { cluster: "east", kind: "release_idle", id: "1" },
        300,
      ),
    ],
    variables: { team: "ads" },
    shows: {
      "Gains [end it, east, ads, ]": 4,
      "Gains [give back, west, maps, ads]": 8,
      "Saves a day [end it, east, ads, ]": 240,
      "Open for [end it, east, ads, ]": 600,
    },
  },
  {
    panel: "GPUs by what they do",
    why: "all clusters and pools of the team; waiting for a gang and starting are one",
    world: [...teams, ...again, allocated("west", "ads", "A100", "starting", 1)],
    variables: { team: "ads" },
    shows: { Busy: 6, "Hardly used": 1, Idle: 7, "Starting, waiting for a gang": 3, Unknown: 8 },
  },
  {
    panel: "Busy part of GPUs, by time",
    why: "each team by itself; a second replica changes nothing",
    world: [
      series("fairlead_team_gpu_utilization_ratio", { cluster: "east", team: "ads" }, 0.5),
      fromReplica(9, series("fairlead_team_gpu_utilization_ratio", { cluster: "east", team: "ads" }, 0.9)),
      series("fairlead_team_gpu_utilization_ratio", { cluster: "east", team: "maps" }, 0.25),
    ],
    shows: { "ads (east)": 0.5, "maps (east)": 0.25 },
  },
  {
    panel: "GPUs by pool",
    why: "a pool of which nothing is observed has no busy part; in another everything is idle",
    world: [...teams, ...again],
    variables: { team: "ads" },
    shows: {
      "Allocated [A100, east]": 12,
      "Allocated [L4, east]": 4,
      "Allocated [A100, west]": 8,
      "Busy [A100, east]": 0.6,
      "Busy [L4, east]": 0,
      "Idle [A100, east]": 3,
      "Idle [L4, east]": 4,
      "Idle [A100, west]": 0,
      "Unseen [A100, west]": 8,
    },
  },
  {
    panel: "Work of GPUs by pool",
    why: "another team works more",
    world: [
      ...(["ads", "maps"] as const).flatMap((team) => {
        const labels = { cluster: "east", team, pool: "A100" };
        const times = team === "ads" ? 1 : 1.5;
        return [
          series("fairlead_team_tensor_active_ratio", labels, 0.3 * times),
          series("fairlead_team_dram_active_ratio", labels, 0.2 * times),
          series("fairlead_team_power_ratio", labels, 0.6 * times),
        ];
      }),
    ],
    variables: { team: "ads" },
    shows: { "Tensor [A100, east]": 0.3, "DRAM [A100, east]": 0.2, "Power [A100, east]": 0.6 },
  },
  {
    panel: "Cost per day, by namespace",
    why: "two teams share a namespace; the same name in another cluster is another",
    world: (["east", "west"] as const).flatMap((cluster) => [
      series(
        "fairlead_namespace_cost_per_hour",
        { cluster, namespace: "ml", team: "ads", charge: "allocation", currency: "USD" },
        cluster === "east" ? 10 : 1,
      ),
      series(
        "fairlead_namespace_cost_per_hour",
        { cluster, namespace: "ml", team: "maps", charge: "allocation", currency: "USD" },
        5,
      ),
      series(
        "fairlead_namespace_cost_per_hour",
        { cluster, namespace: "ml", team: "ads", charge: "use", currency: "USD" },
        2,
      ),
    ]),
    variables: { cluster: "east" },
    shows: { "Allocated [ml]": 360, "Used [ml]": 48 },
  },
  {
    panel: "Cost per day, by workload",
    why: "the chosen team's, in one currency",
    world: [
      series(
        "fairlead_workload_cost_per_hour",
        { cluster: "east", team: "ads", namespace: "ml", workload: "Job/a", currency: "USD" },
        2.5,
      ),
      series(
        "fairlead_workload_cost_per_hour",
        { cluster: "east", team: "ads", namespace: "ml", workload: "Job/a", currency: "EUR" },
        9,
      ),
      series(
        "fairlead_workload_cost_per_hour",
        { cluster: "east", team: "maps", namespace: "ml", workload: "Job/b", currency: "USD" },
        9,
      ),
    ],
    variables: { team: "ads" },
    shows: { "a day [Job/a, ml, east]": 60 },
  },
]);
