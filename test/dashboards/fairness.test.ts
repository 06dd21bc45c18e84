import { fairness } from "../../dashboards/fairness.ts";
import { series } from "../alerts/world.ts";
import { jain, misses, oldest, queue, queues, share, startable, twice } from "./fairnessWorld.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

testPanelNumbers(fairness, [
  {
    panel: "Jain's fairness index, by quota domain",
    why: "of the chosen domain",
    world: twice([jain("east", "A100", 0.9), jain("east", "L4", 0.8)]),
    variables: { domain: "A100" },
    shows: { "A100 (east)": 0.9 },
  },
  {
    panel: "Worst-off team",
    why: "2 of 8 L4: the 12 of 8 A100 of the same team do not make up for it",
    world: twice([
      ...share("east", "ads", "A100", 8, 4),
      ...share("east", "ads", "L4", 8, -6),
      ...share("east", "maps", "L4", 0, 5),
    ]),
    shows: { "ads L4 (east)": 0.25 },
  },
  {
    panel: "Longest starved, hours",
    why: "ads for the last half hour of two, looked at every ten minutes; crawl has nothing that would start",
    world: [
      series("fairlead_team_entitled_gpus", { cluster: "east", team: "ads", domain: "A100" }, 8),
      series("fairlead_team_fairness_deviation_gpus", { cluster: "east", team: "ads", domain: "A100" }, "0x94 -6x#"),
      startable("east", "ads", "A100", 4),
      ...share("east", "crawl", "A100", 8, -8),
      startable("east", "crawl", "A100", 0),
    ],
    range: "2h",
    at: 125,
    shows: { "ads A100 (east)": 0.5 },
  },
  {
    panel: "Longest starved, hours",
    why: "who holds a little less than its share is not starved",
    world: [...share("east", "ads", "A100", 8, -1), startable("east", "ads", "A100", 4)],
    shows: {},
  },
  {
    panel: "Starved teams",
    why: "ads in two domains is one team, ads in another cluster another; maps lacks little, crawl has nothing to start",
    world: twice([
      ...share("east", "ads", "A100", 8, -6),
      ...share("east", "ads", "L4", 4, -4),
      ...share("west", "ads", "A100", 8, -8),
      ...share("east", "maps", "A100", 8, -2),
      ...share("east", "crawl", "A100", 8, -8),
      startable("east", "ads", "A100", 4),
      startable("east", "ads", "L4", 4),
      startable("west", "ads", "A100", 8),
      startable("east", "maps", "A100", 2),
      startable("east", "crawl", "A100", 0),
    ]),
    shows: { "Starved teams": 2 },
  },
  {
    panel: "Starved teams",
    why: "none, where shares are known",
    world: [...share("east", "ads", "A100", 8, 0)],
    shows: { "Starved teams": 0 },
  },
  { panel: "Starved teams", why: "unknown, where no share is", world: [], shows: {} },
  {
    panel: "Longest wait now",
    why: "of the chosen queue, whatever its priority",
    world: [
      oldest(queue("east", "ads", "A100"), "high", 60),
      oldest(queue("east", "ads", "A100"), "low", 5400),
      oldest(queue("east", "maps", "A100"), "low", 9000),
    ],
    variables: { queue: "ads" },
    shows: { Longest: 5400 },
  },
  {
    panel: "GPUs that could be taken back",
    why: "2 + 1 in the one cluster and 1 in the other, of more that is allocated above shares",
    world: twice([
      ...queues,
      series("fairlead_queue_reclaimable_gpus", queue("east", "ads", "A100"), 2),
      series("fairlead_queue_reclaimable_gpus", queue("east", "crawl", "A100"), 1),
      series("fairlead_queue_reclaimable_gpus", queue("west", "ads", "A100"), 1),
    ]),
    shows: { "Could be taken back": 4 },
  },
  {
    panel: "GPUs missing, by queue and cause",
    why: "each cause by itself; a queue that misses nothing is not there",
    world: twice([
      ...misses(queue("east", "ads", "A100"), { by_others: 4, idle_gap: 1 }),
      ...misses(queue("east", "maps", "A100"), { absent_capacity: 8, indivisible: 2 }),
      ...misses(queue("east", "crawl", "A100"), {}),
    ]),
    shows: {
      "With others [ads, A100]": 4,
      "Free [ads, A100]": 1,
      "No nodes [maps, A100]": 8,
      "Of no use [maps, A100]": 2,
    },
  },
  {
    panel: "Settings that disable fairness",
    why: "of both schedulers, where another cluster has none",
    world: [
      series("fairlead_configuration_findings", { cluster: "east", scheduler: "kueue", code: "kueue-no-reclaim" }, 2),
      series("fairlead_configuration_findings", { cluster: "east", scheduler: "kai", code: "kai-cycle" }, 1),
    ],
    shows: { Findings: 3 },
  },
  {
    panel: "Settings that disable fairness",
    why: "a Fairlead that runs and finds nothing: 0",
    world: [],
    shows: { Findings: 0 },
  },
  {
    panel: "GPUs over share, by queue",
    why: "each domain by itself, and all queues, though one team is chosen; who is entitled to nothing has no part",
    world: twice(queues),
    variables: { team: "maps", queue: "maps" },
    shows: { "ads A100 (east)": 1.5, "ads L4 (east)": 0, "maps A100 (east)": 0.5, "ads A100 (west)": 1.5 },
  },
  {
    panel: "GPUs held above a share that others lack",
    why: "what the chosen queue is owed, and what a setting keeps of it",
    world: twice([
      series(
        "fairlead_fairness_held_back_gpus",
        { cluster: "east", domain: "L4", starved_queue: "maps", borrower_queue: "crawl" },
        3,
      ),
      series(
        "fairlead_fairness_pair_gpus",
        { cluster: "east", domain: "A100", starved_queue: "maps", borrower_queue: "ads" },
        4,
      ),
      series(
        "fairlead_fairness_pair_gpus",
        { cluster: "east", domain: "A100", starved_queue: "tools", borrower_queue: "ads" },
        2,
      ),
    ]),
    variables: { queue: "maps" },
    shows: { "GPUs [maps, ads, A100]": 4, "Kept [maps, crawl, L4]": 3 },
  },
  {
    panel: "GPUs over share, by team and time",
    why: "each domain and cluster by itself",
    world: twice([
      ...share("east", "ads", "A100", 8, 4),
      ...share("east", "ads", "L4", 8, -6),
      ...share("west", "ads", "A100", 8, 0),
    ]),
    shows: { "ads A100 (east)": 1.5, "ads L4 (east)": 0.25, "ads A100 (west)": 1 },
  },
]);
