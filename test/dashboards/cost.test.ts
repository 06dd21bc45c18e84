import { cost } from "../../dashboards/cost.ts";
import { fromReplica, series, type WorldSeries } from "../alerts/world.ts";
import { testPanelNumbers } from "./panelNumbers.ts";

type State = "active" | "idle" | "stalled" | "unobserved" | "free";

const budget = (cluster: string, team: string, currency: string, amount: number, spent: number | null) => [
  series("fairlead_budget_amount", { cluster, team, currency }, amount),
  ...(spent === null ? [] : [series("fairlead_budget_spent", { cluster, team, currency }, spent)]),
];
const pace = (team: string, currency: string, value: number) =>
  series("fairlead_budget_burn_rate_ratio", { cluster: "east", team, currency }, value);
const forecast = (team: string, bound: "low" | "mid" | "high", value: number) =>
  series("fairlead_budget_forecast", { cluster: "east", team, currency: "USD", bound }, value);
const group = (cluster: string, pool: string) => ({ cluster, pool, node_pool: "a", capacity_type: "spot" }) as const;
const perHour = (cluster: string, pool: string, state: State, currency: string, value: number | string): WorldSeries =>
  series("fairlead_cost_per_hour", { ...group(cluster, pool), state, currency }, value);
const gpus = (cluster: string, pool: string, state: State, count: number): WorldSeries =>
  series("fairlead_gpus", { ...group(cluster, pool), state }, count);
const charged = (cluster: string, team: string, currency: string, value: number | string): WorldSeries =>
  series("fairlead_team_cost_per_hour", { cluster, team, charge: "allocation", currency }, value);
const allocated = (team: string, pool: string, state: "active" | "idle", count: number | string): WorldSeries =>
  series("fairlead_team_gpus", { cluster: "east", team, pool, state }, count);

const budgets = [
  ...budget("east", "ads", "USD", 1000, 400),
  ...budget("west", "ads", "USD", 500, 700),
  ...budget("east", "maps", "EUR", 9000, 100),
  ...budget("east", "crawl", "USD", 3000, null),
];

testPanelNumbers(cost, [
  {
    panel: "Spent this month",
    why: "of both clusters in dollars, though another replica says the same",
    world: [...budgets, ...budgets.map((one) => fromReplica(1, one))],
    shows: { "This month": 1100 },
  },
  {
    panel: "Spent this month",
    why: "without a budget it is not 0",
    world: [charged("east", "ads", "USD", 5)],
    shows: {},
  },
  {
    panel: "Budget left",
    why: "600 and -200; of the team whose spending is unknown nothing is left over",
    world: budgets,
    shows: { Left: 400 },
  },
  {
    panel: "Month's cost, forecast",
    why: "the middle of the forecast of each team",
    world: [
      forecast("ads", "low", 900),
      forecast("ads", "mid", 1000),
      forecast("ads", "high", 1100),
      forecast("maps", "mid", 50),
    ],
    shows: { "Month end": 1050 },
  },
  {
    panel: "Fastest-spending team",
    why: "the fastest in the currency of the page",
    world: [pace("ads", "USD", 0.8), pace("maps", "USD", 1.6), pace("crawl", "EUR", 3)],
    shows: { "maps (east)": 1.6 },
  },
  {
    panel: "Cost per day",
    why: "24 hours of all states and clusters; no euros",
    world: [
      perHour("east", "A100", "active", "USD", 10),
      perHour("east", "A100", "free", "USD", 2),
      perHour("west", "A100", "active", "USD", 3),
      perHour("west", "H100", "active", "EUR", 99),
    ],
    shows: { "a day": 360 },
  },
  {
    panel: "Cost without work",
    why: "idle for half of the time and free always, of all; what nobody saw is neither",
    world: [
      perHour("east", "A100", "active", "USD", "4x30 2x#"),
      perHour("east", "A100", "idle", "USD", "0x30 2x#"),
      perHour("east", "A100", "free", "USD", 2),
      perHour("east", "A100", "unobserved", "USD", 4),
    ],
    at: 62,
    shows: { "Without work": 3 / 10 },
  },
  {
    panel: "Price of a GPU-hour",
    why: "24 for 8 GPUs; not those without a price, and not those that are paid in euros",
    world: [
      gpus("east", "A100", "active", 6),
      gpus("east", "A100", "free", 4),
      series("fairlead_unpriced_gpus", { ...group("east", "A100"), reason: "no-price" }, 2),
      perHour("east", "A100", "active", "USD", 18),
      perHour("east", "A100", "free", "USD", 6),
      gpus("west", "A100", "active", 50),
      perHour("west", "A100", "active", "EUR", 100),
    ],
    shows: { "a GPU-hour": 3 },
  },
  {
    panel: "Cost of free GPUs a day",
    why: "24 hours of what nobody holds in the chosen pool",
    world: ["A100", "L4"].map((pool) =>
      series("fairlead_unallocated_cost_per_hour", { cluster: "east", pool, currency: "USD" }, pool === "A100" ? 5 : 1),
    ),
    variables: { pool: "A100" },
    shows: { "a day": 120 },
  },
  {
    panel: "Cost per day, by team",
    why: "7 an hour in 3 of the 7 looks at a day that began an hour ago; charged by use is another number",
    world: [
      charged("east", "ads", "USD", "_x31 7x#"),
      charged("east", "maps", "USD", 2),
      charged("east", "maps", "EUR", 9),
      series("fairlead_team_cost_per_hour", { cluster: "east", team: "ads", charge: "use", currency: "USD" }, 5),
    ],
    at: 62,
    shows: { "ads (east)": 72, "maps (east)": 48 },
  },
  {
    panel: "Chargeback, by team",
    why: "6 GPUs for an hour at 2, twice as much as the 6 of the hour before; the chosen pool narrows none of it",
    world: [
      allocated("ads", "A100", "active", "2x65 3x#"),
      allocated("ads", "A100", "idle", "0x65 1x#"),
      allocated("ads", "L4", "active", "1x65 2x#"),
      charged("east", "ads", "USD", "6x65 12x#"),
      charged("east", "ads", "EUR", 99),
      series("fairlead_replicas", { cluster: "east" }, 1),
    ],
    variables: { pool: "A100" },
    at: 125,
    shows: {
      "Allocated [ads, east]": 6,
      "Busy [ads, east]": 5,
      "Idle, allocated [ads, east]": 1,
      "Amount [ads, east]": 12,
      "A GPU-hour [ads, east]": 2,
      "Before [ads, east]": 6,
    },
  },
  {
    panel: "Chargeback, by team",
    why: "nothing before, of a time of which almost nothing is known; a team without a price has no amount",
    world: [
      allocated("ads", "A100", "active", 3),
      charged("east", "ads", "USD", 6),
      allocated("maps", "A100", "active", 1),
    ],
    range: "2h",
    at: 125,
    shows: {
      "Allocated [ads, east]": 6,
      "Busy [ads, east]": 6,
      "Idle, allocated [ads, east]": 0,
      "Amount [ads, east]": 12,
      "A GPU-hour [ads, east]": 2,
      "Allocated [maps, east]": 2,
      "Busy [maps, east]": 2,
      "Idle, allocated [maps, east]": 0,
    },
  },
  {
    panel: "Budgets of this month, by team",
    why: "each team in its cluster",
    world: [
      ...budget("east", "ads", "USD", 1000, 1100),
      pace("ads", "USD", 1.4),
      forecast("ads", "low", 1200),
      forecast("ads", "high", 1500),
    ],
    shows: {
      "Budget [ads, east]": 1000,
      "Spent [ads, east]": 1100,
      "Used [ads, east]": 1.1,
      "Pace [ads, east]": 1.4,
      "Month end, low [ads, east]": 1200,
      "Month end, high [ads, east]": 1500,
    },
  },
  {
    panel: "Workloads that cost most per day",
    why: "24 hours, of the chosen team",
    world: ["ads", "maps"].map((team) =>
      series(
        "fairlead_workload_cost_per_hour",
        { cluster: "east", team, namespace: team, workload: "Job/train", currency: "USD" },
        team === "ads" ? 4 : 9,
      ),
    ),
    variables: { team: "ads" },
    shows: { "A day [Job/train, ads, ads, east]": 96 },
  },
  {
    panel: "Cost by pool and what GPUs did",
    why: "an hour of each pool, by what its GPUs did",
    world: [
      perHour("east", "A100", "active", "USD", 6),
      perHour("east", "A100", "idle", "USD", "0x30 4x#"),
      perHour("east", "A100", "stalled", "USD", "0x30 8x#"),
      perHour("east", "L4", "free", "USD", 1),
    ],
    at: 62,
    shows: {
      "Busy [A100, east]": 6,
      "Idle, allocated [A100, east]": 2,
      "Stalled [A100, east]": 4,
      "Busy [L4, east]": 0,
      "Free [L4, east]": 1,
    },
  },
  {
    panel: "GPUs with a missing or old price",
    why: "3 are old and 2 have no price",
    world: [
      series("fairlead_stale_price_gpus", { cluster: "east", pool: "A100" }, 3),
      series("fairlead_unpriced_gpus", { ...group("east", "A100"), reason: "no-price" }, 2),
    ],
    shows: { "A100 (east)": 5 },
  },
]);
