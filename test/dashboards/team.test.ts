import { team } from "../../dashboards/team.ts";
import { fromReplica, series } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";
import { again, allocated, budget, pending, teams, waits } from "./teamWorld.ts";

testPanelNumbers(team, [
  {
    panel: "GPUs allocated",
    why: "16 and 8 of ads, 5 of maps, though two replicas say so",
    world: [...teams, ...again],
    shows: { Allocated: 29 },
  },
  {
    panel: "GPUs allocated",
    why: "the chosen team in all clusters",
    world: teams,
    variables: { team: "ads" },
    shows: { Allocated: 24 },
  },
  {
    panel: "GPUs allocated",
    why: "what the replica says that has covered longest",
    world: [
      allocated("east", "ads", "A100", "active", 3),
      fromReplica(9, allocated("east", "ads", "A100", "active", 7)),
      fromReplica(9, series("fairlead_covered_seconds_total", { cluster: "east" }, "100000+60x#")),
    ],
    shows: { Allocated: 7 },
  },
  {
    panel: "GPUs allocated",
    why: "a team with a share and without GPUs holds none, which is known",
    world: teams,
    variables: { team: "vision" },
    shows: { Allocated: 0 },
  },
  {
    panel: "GPUs allocated",
    why: "nothing is known of a team that is not there",
    world: teams,
    variables: { team: "search" },
    shows: {},
  },
  {
    panel: "GPUs entitled",
    why: "of all its quota domains in the chosen cluster",
    world: [...teams, ...again],
    variables: { team: "ads", cluster: "east" },
    shows: { Share: 15 },
  },
  {
    panel: "GPUs above and missing",
    why: "4 too many A100 do not make up for 3 missing L4",
    world: [...teams, ...again],
    variables: { team: "ads" },
    shows: { Above: 4, Missing: 3 },
  },
  {
    panel: "GPUs waited for",
    why: "10 in one cluster, 2 in the other",
    world: [...teams, ...again],
    variables: { team: "ads" },
    shows: { Waiting: 12 },
  },
  {
    panel: "GPUs waited for",
    why: "work that its queue has not admitted has no pods; pods of a queue of several teams are in no queue of one",
    world: [
      pending("east", "ads", 1),
      waits("ads", "high", "quota", 8),
      waits("ads", "low", "capacity", 4),
      waits("ads", "low", "quota", 2, "west"),
      pending("west", "ads", 3),
      pending("west", "maps", 5),
    ],
    shows: { Waiting: 20 },
  },
  {
    panel: "Busy part of GPUs",
    why: "6 of the 14 whose activity is known and matters: not those without telemetry or that wait for a gang",
    world: teams,
    variables: { team: "ads" },
    shows: { Busy: 6 / 14 },
  },
  {
    panel: "Idle GPUs",
    why: "in both pools",
    world: [...teams, ...again],
    variables: { team: "ads" },
    shows: { Idle: 7 },
  },
  {
    panel: "Cost per day",
    why: "what both clusters charge for what is allocated, in one currency",
    world: [
      series(
        "fairlead_team_cost_per_hour",
        { cluster: "east", team: "ads", charge: "allocation", currency: "USD" },
        10,
      ),
      series("fairlead_team_cost_per_hour", { cluster: "east", team: "ads", charge: "use", currency: "USD" }, 4),
      series("fairlead_team_cost_per_hour", { cluster: "west", team: "ads", charge: "allocation", currency: "USD" }, 5),
      series(
        "fairlead_team_cost_per_hour",
        { cluster: "west", team: "ads", charge: "allocation", currency: "EUR" },
        99,
      ),
      series(
        "fairlead_team_cost_per_hour",
        { cluster: "east", team: "maps", charge: "allocation", currency: "USD" },
        7,
      ),
    ],
    variables: { team: "ads" },
    shows: { "a day": 360 },
  },
  {
    panel: "Cost per day",
    why: "who holds nothing pays nothing",
    world: [
      ...teams,
      series(
        "fairlead_team_cost_per_hour",
        { cluster: "east", team: "ads", charge: "allocation", currency: "USD" },
        10,
      ),
    ],
    variables: { team: "vision" },
    shows: { "a day": 0 },
  },
  {
    panel: "Idle GPUs",
    why: "of no GPUs none is idle",
    world: teams,
    variables: { team: "vision" },
    shows: { Idle: 0 },
  },
  {
    panel: "Cost per day",
    why: "without a price it is not 0, not even with a team that holds nothing",
    world: teams,
    shows: {},
  },
  {
    panel: "Budget used",
    why: "of the team that has spent most of its own: 900 of 1000, not 950 of 3000 together",
    world: [
      ...budget("east", "ads", "USD", 2000, 50),
      ...budget("east", "maps", "USD", 1000, 900),
      ...budget("east", "maps", "EUR", 10, 10),
    ],
    shows: { Spent: 0.9 },
  },
]);
