import { recommendation, series, type WorldSeries } from "../world.ts";
import type { AlertTable } from "./alertTable.ts";

interface Spending {
  readonly amount: number;
  readonly spent: number;
  readonly burn: number;
  readonly perHour: number;
}

function budget(
  [cluster, team, currency]: readonly [string, string, string],
  { amount, spent, burn, perHour }: Spending,
): readonly WorldSeries[] {
  return [
    series("fairlead_budget_amount", { cluster, team, currency }, amount),
    series("fairlead_budget_spent", { cluster, team, currency }, spent),
    series("fairlead_budget_burn_rate_ratio", { cluster, team, currency }, burn),
    series("fairlead_team_cost_per_hour", { cluster, team, currency, charge: "allocation" }, perHour),
    series("fairlead_team_cost_per_hour", { cluster, team, currency, charge: "use" }, perHour / 2),
  ];
}

// 730.5 hours a month: 100 an hour is 73050 a month.
const fast = { amount: 50_000, spent: 20_000, burn: 1.5, perHour: 100 };
const adsEast = ["east", "ads", "USD"] as const;

const smaller = recommendation({
  cluster: "east",
  id: "size-4",
  kind: "right_size",
  title: "take 4 of 8 H100 from ads/embed-v3",
  gpus: 4,
  from_team: "ads",
  pool: "H100",
  saving: [4200.4, "USD"],
});
const smallerAdvice = {
  text: "take 4 of 8 H100 from ads/embed-v3 (gains 4 GPUs)",
  id: "size-4",
  saving: "4200 USD a week",
};

function priced(cluster: string, pool: string, stale: number, unpriced: number): readonly WorldSeries[] {
  return [
    series("fairlead_stale_price_gpus", { cluster, pool }, stale),
    ...(unpriced === 0
      ? []
      : [
          series(
            "fairlead_unpriced_gpus",
            { cluster, pool, node_pool: "a", capacity_type: "spot", reason: "no-price" },
            unpriced,
          ),
        ]),
  ];
}

function open(
  cluster: string,
  id: string,
  team: string,
  saving: readonly [number, string],
  firstSeen: number,
  gpus = 8,
): readonly WorldSeries[] {
  const advised = { cluster, id, kind: "scale_in", title: `let node ${id} go`, gpus, from_team: team, saving };
  return [
    ...recommendation(advised),
    series("fairlead_recommendation_first_seen_timestamp_seconds", { cluster, id, kind: "scale_in" }, firstSeen),
  ];
}

// The test begins at the epoch: what was first seen eight days before it is old from the begin.
const eightDaysBefore = -8 * 86_400;

/** Budgets, prices, and advice that nobody takes. */
export const costTables: readonly AlertTable[] = [
  {
    alert: "GpuBudgetBurnFast",
    severity: "warning",
    area: "cost",
    action: "ticket",
    summary: "A team spends its GPU budget of the month too fast.",
    step: "5m",
    firesAt: 72,
    quietAt: 71,
    world: [
      ...budget(adsEast, fast),
      ...budget(["east", "search", "USD"], { ...fast, burn: 1.31 }),
      ...budget(["east", "search", "EUR"], { ...fast, burn: 1 }),
      ...budget(["west", "ads", "USD"], { ...fast, burn: 2 }),
      ...smaller,
    ],
    quiet: {
      "just not too fast since the month began": budget(adsEast, { ...fast, burn: 1.3 }),
      "slower lately": budget(adsEast, { ...fast, perHour: 88 }),
      "less than a tenth is spent": budget(adsEast, { ...fast, spent: 4999 }),
      "no budget": budget(adsEast, { ...fast, amount: 0 }),
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", currency: "USD" },
        description: "Team ads in east spends its USD budget 1.5 times as fast as would last for the month.",
        advice: smallerAdvice,
        dashboard: "fairlead-cost?var-cluster=east&var-team=ads&var-currency=USD",
      },
      {
        labels: { cluster: "east", team: "search", currency: "USD" },
        description: "Team search in east spends its USD budget 1.3 times as fast as would last for the month.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=east&var-team=search&var-currency=USD",
      },
      {
        labels: { cluster: "west", team: "ads", currency: "USD" },
        description: "Team ads in west spends its USD budget 2.0 times as fast as would last for the month.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=west&var-team=ads&var-currency=USD",
      },
    ],
  },
  {
    alert: "GpuBudgetExhausted",
    severity: "warning",
    area: "cost",
    action: "ticket",
    summary: "A team has spent its GPU budget of the month.",
    step: "1m",
    firesAt: 60,
    quietAt: 59,
    world: [
      ...budget(adsEast, { ...fast, spent: 50_000 }),
      ...budget(["east", "search", "USD"], { ...fast, spent: 60_000 }),
      ...budget(["west", "ads", "USD"], { ...fast, spent: 75_000 }),
      ...smaller,
    ],
    quiet: {
      "all but one unit is spent": budget(adsEast, { ...fast, spent: 49_999 }),
      "no budget": budget(adsEast, { ...fast, amount: 0 }),
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", currency: "USD" },
        description: "Team ads in east has spent 100% of its USD budget of this month.",
        advice: smallerAdvice,
        dashboard: "fairlead-cost?var-cluster=east&var-team=ads&var-currency=USD",
      },
      {
        labels: { cluster: "east", team: "search", currency: "USD" },
        description: "Team search in east has spent 120% of its USD budget of this month.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=east&var-team=search&var-currency=USD",
      },
      {
        labels: { cluster: "west", team: "ads", currency: "USD" },
        description: "Team ads in west has spent 150% of its USD budget of this month.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=west&var-team=ads&var-currency=USD",
      },
    ],
  },
  {
    alert: "GpuPriceStale",
    severity: "info",
    area: "cost",
    action: "digest",
    summary: "GPUs of a pool have an old price or none, so their cost is wrong or missing.",
    step: "1h",
    firesAt: 24,
    quietAt: 23,
    world: [
      ...priced("east", "A100", 16, 8),
      ...priced("east", "L4", 0, 4),
      ...priced("east", "H100", 0, 0),
      ...priced("west", "A100", 1, 0),
      ...smaller,
    ],
    quiet: { "less than one GPU": priced("east", "A100", 0.5, 0.25), "all have a price": priced("east", "A100", 0, 0) },
    arrivals: [
      {
        labels: { cluster: "east", pool: "A100" },
        description: "The price of 24 GPUs of A100 in east is too old, or not known.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=east&var-pool=A100",
      },
      {
        labels: { cluster: "east", pool: "L4" },
        description: "The price of 4 GPUs of L4 in east is too old, or not known.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=east&var-pool=L4",
      },
      {
        labels: { cluster: "west", pool: "A100" },
        description: "The price of 1 GPU of A100 in west is too old, or not known.",
        advice: null,
        dashboard: "fairlead-cost?var-cluster=west&var-pool=A100",
      },
    ],
  },
  {
    alert: "GpuRecommendationIgnored",
    severity: "info",
    area: "cost",
    action: "digest",
    summary: "Recommendations that would save much have been open for a week, neither followed nor dismissed.",
    step: "5m",
    firesAt: 12,
    quietAt: 11,
    world: [
      ...open("east", "n1", "ads", [300, "USD"], eightDaysBefore, 12),
      ...open("east", "n2", "ads", [400, "USD"], eightDaysBefore),
      ...open("east", "n3", "ads", [9000, "USD"], -86_400),
      ...open("east", "n4", "", [501, "EUR"], eightDaysBefore),
      ...open("west", "n1", "ads", [600, "USD"], eightDaysBefore),
    ],
    quiet: {
      "they save just too little": [
        ...open("east", "n1", "ads", [250, "USD"], eightDaysBefore),
        ...open("east", "n2", "ads", [250, "USD"], eightDaysBefore),
        ...open("east", "n3", "ads", [400, "EUR"], eightDaysBefore),
        ...open("east", "n4", "search", [400, "USD"], eightDaysBefore),
      ],
      "they are not old enough": open("east", "n1", "ads", [9000, "USD"], -7 * 86_400 + 3700),
      "what they save is not known": [
        series(
          "fairlead_recommendation_first_seen_timestamp_seconds",
          { cluster: "east", id: "n1", kind: "scale_in" },
          eightDaysBefore,
        ),
      ],
    },
    arrivals: [
      {
        labels: { cluster: "east", team: "ads", currency: "USD" },
        description:
          "Recommendations for team ads in east that would save 700 USD a week have been open for long; each can be followed, or dismissed with a reason.",
        advice: { text: "let node n1 go (gains 12 GPUs)", id: "n1", saving: "300 USD a week" },
        dashboard: "fairlead-review?var-cluster=east&var-team=ads&var-currency=USD",
      },
      {
        labels: { cluster: "east", currency: "EUR" },
        description:
          "Recommendations in east that would save 501 EUR a week have been open for long; each can be followed, or dismissed with a reason.",
        advice: { text: "let node n4 go (gains 8 GPUs)", id: "n4", saving: "501 EUR a week" },
        dashboard: "fairlead-review?var-cluster=east&var-team=&var-currency=EUR",
      },
      {
        labels: { cluster: "west", team: "ads", currency: "USD" },
        description:
          "Recommendations for team ads in west that would save 600 USD a week have been open for long; each can be followed, or dismissed with a reason.",
        advice: { text: "let node n1 go (gains 8 GPUs)", id: "n1", saving: "600 USD a week" },
        dashboard: "fairlead-review?var-cluster=west&var-team=ads&var-currency=USD",
      },
    ],
  },
];
