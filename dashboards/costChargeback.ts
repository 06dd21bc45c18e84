import { aggregate, arithmetic, type Expression, filter, where } from "../exporter/catalogue/promql.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";
import { hoursOver, looksOver } from "./query/overTime.ts";
import { orZero, partOf } from "./query/queries.ts";

/** Part of a span that must be known before it is compared with another. */
const knownEnough = 0.95;

/** What each team held in the time range, what it did with it, and what it is charged. */
export function chargeback({ query, currency, money, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "team"] as const;
  // What a team is charged is known of all pools together only.
  const ofAll = query.without("pool");
  const allocated = hoursOver(ofAll.sum("fairlead_team_gpus", by), "$__range");
  const inState = (state: "active" | "idle") =>
    orZero(hoursOver(ofAll.sum("fairlead_team_gpus", by, { state }), "$__range"), allocated);
  const perHour: Expression<(typeof by)[number]> = aggregate(
    "sum",
    ofAll.recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum", { currency }),
    by,
  );
  const amount = hoursOver(perHour, "$__range");
  const earlier = hoursOver(perHour, "$__range", "$__range");
  const running = ofAll.recorded("cluster:fairlead_build_info:max");
  const enough = where(
    looksOver(running, "$__range", "$__range"),
    ">=",
    arithmetic(looksOver(running, "$__range"), "*", knownEnough),
  );
  const change = arithmetic(partOf(amount, filter(earlier, "and", enough, ["cluster"])), "-", 1);
  return table({
    title: "What is each team charged?",
    meaning: `GPU-hours allocated to each team in the time range, of all pools; the busy and the idle part; the amount in ${currency} by allocation, what that is for a GPU-hour, and the change against as long a time before, where that is known. Seen every 10 minutes: Fairlead's API has the exact accounts.`,
    size: [24, 10],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "Allocated", query: allocated, unit: units.gpuHours },
      { title: "Busy", query: inState("active"), unit: units.gpuHours },
      { title: "Idle, allocated", query: inState("idle"), unit: units.gpuHours },
      { title: "A GPU-hour", query: partOf(amount, allocated), unit: money, decimals: 2 },
      { title: "Amount", query: amount, unit: money },
      { title: "Change", query: change, unit: units.change },
    ],
    sortBy: "Amount",
    noValue: "–",
    widths: {
      Cluster: 110,
      Allocated: 120,
      Busy: 120,
      "Idle, allocated": 115,
      "A GPU-hour": 110,
      Amount: 110,
      Change: 100,
    },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });
}
