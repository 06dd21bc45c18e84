import { aggregate, arithmetic, type Expression } from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne, union } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";
import { meanOver, sumOfDays } from "./query/overTime.ts";
import { orZero } from "./query/queries.ts";
import { week } from "./reviewWeeks.ts";

/** Teams by how many GPUs more they held than the week before. */
export function movers({ query, currency, money, rowLink }: Tools): PanelDraft {
  type OfTeam = Expression<"cluster" | "team">;
  const by = ["cluster", "team"] as const;
  const known = query.recorded("cluster:fairlead_build_info:max");
  const allocated = query.sum("fairlead_team_gpus", by);
  const now = meanOver(allocated, known, week);
  const before = meanOver(allocated, known, week, week);
  // A team without series held nothing, if Fairlead ran: 0 then, and not unknown.
  const ran = (ago: typeof week | undefined) => arithmetic(meanOver(known, known, week, ago), "*", 0);
  const none = (other: OfTeam, ago: typeof week | undefined) =>
    arithmeticWithOne(arithmetic(other, "*", 0), "+", ran(ago), ["cluster"]);
  const thisWeek: OfTeam = union(now, none(before, undefined));
  const weekBefore: OfTeam = union(before, none(now, week));
  const idle = query.sum("fairlead_team_gpus", by, { state: "idle" });
  const cost = aggregate(
    "sum",
    query.recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum", { currency }),
    by,
  );
  return table({
    title: "Who holds more or less than a week ago?",
    meaning: `GPUs allocated to each team as a mean of the last 7 days, the difference to the 7 days before, how many of them were idle, and what it was charged, in ${currency}. Ask those at the top what comes, and those at the bottom what they need no more.`,
    size: [24, 10],
    labels: { team: "Team", cluster: "Cluster" },
    values: [
      { title: "GPUs", query: thisWeek, unit: units.gpus, decimals: 1 },
      { title: "Before", query: weekBefore, unit: units.gpus, decimals: 1 },
      { title: "Change", query: arithmetic(thisWeek, "-", weekBefore), unit: units.gpusMoreOrLess, decimals: 1 },
      { title: "Idle", query: meanOver(idle, known, week), unit: units.gpus, decimals: 1 },
      { title: "Charged", query: charged(cost, undefined), unit: money },
      { title: "Charged before", query: charged(cost, week), unit: money },
    ],
    sortBy: "Change",
    noValue: "–",
    widths: { Cluster: 110, GPUs: 105, Before: 105, Change: 105, Idle: 100, Charged: 105, "Charged before": 135 },
    links: { team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "team" }) },
  });

  function charged(perHour: OfTeam, ago: typeof week | undefined): OfTeam {
    return arithmetic(meanOver(perHour, known, week, ago), "*", 168);
  }
}

/** Recommendations of a week, by what became of them. */
export function outcomes({ query, page }: Tools): PanelDraft {
  const by = ["cluster", "kind"] as const;
  const all = query.sum("fairlead_recommendations", by);
  // What closed in 24 hours, looked at once a day.
  const closed = (state: "taken" | "expired" | "dismissed") =>
    orZero(sumOfDays(query.sum("fairlead_recommendations", by, { state }), week), all);
  return table({
    title: "What became of advice?",
    meaning:
      "Recommendations of each kind that are open, and those that closed in the last seven whole days (UTC): taken, no longer true, or dismissed. Kinds that are dismissed again and again should be turned off or tuned.",
    size: [14, 12],
    labels: { kind: "Kind", cluster: "Cluster" },
    values: [
      { title: "Open", query: query.sum("fairlead_recommendations", by, { state: "open" }), unit: units.count },
      { title: "Taken", query: closed("taken"), unit: units.count },
      { title: "Expired", query: closed("expired"), unit: units.count },
      { title: "Dismissed", query: closed("dismissed"), unit: units.count },
    ],
    sortBy: "Open",
    noValue: "–",
    widths: { Cluster: 90, Open: 75, Taken: 80, Expired: 85, Dismissed: 100 },
    links: { kind: page("/recommendations", "Which are they?") },
  });
}
