import { goodputOf } from "../document/goodput.ts";
import type { Review } from "../document/review.ts";
import type { TeamRow } from "../document/use.ts";
import { wastedHours } from "../document/wastedHours.ts";
import { nameText, teamText } from "../words/names.ts";
import { money, weight } from "./money.ts";
import { figure, longColumn, numberColumn, type Piece, type Table, tableOf } from "./section.ts";

/** Sorts teams by what their waste costs, and where that is equal or unknown by its GPU time, the largest first. */
export function teamsByWaste({ teams }: Pick<Review, "teams">): readonly TeamRow[] {
  return [...teams].sort(
    (one, other) =>
      weight(other.wasteCosts) - weight(one.wasteCosts) ||
      wastedHours(other) - wastedHours(one) ||
      (one.team < other.team ? -1 : 1),
  );
}

/** The table of what each team held, used, wasted and cost. */
export function teamTable(review: Review): Table {
  return tableOf(teamsByWaste(review), [], {
    section: "teams",
    caption: "Allocated, used and paid; the most expensive waste first",
    rowHeading: "team",
    row: head,
    columns: [
      [numberColumn("allocated", "GPU-h"), ({ allocated }) => figure("allocated", "GPU-h", allocated)],
      [numberColumn("active", "GPU-h"), ({ active }) => figure("active", "GPU-h", active)],
      [numberColumn("use"), ({ utilization }) => figure("utilization", "ratio", utilization)],
      [numberColumn("idle", "GPU-h"), ({ idle }) => figure("idle", "GPU-h", idle)],
      [numberColumn("stalled", "GPU-h"), ({ stalled }) => figure("stalled", "GPU-h", stalled)],
      [numberColumn("underutilized", "GPU-h"), ({ underutilized }) => figure("underutilized", "GPU-h", underutilized)],
      [numberColumn("cost"), ({ costs }) => money("cost", costs)],
      [numberColumn("of it wasted"), ({ wasteCosts }) => money("waste_cost", wasteCosts)],
      [numberColumn("jobs"), ({ jobs }) => figure("jobs", "count", jobs)],
    ],
  });
}

/**
 * The table of how far the GPU time of each team got: allocated, running whole, not undone by evictions or failures, and
 * productive.
 */
export function goodputTable(review: Review): Table {
  const teams = teamsByWaste(review).map((team) => ({ ...team, ...goodputOf(team) }));
  return tableOf(teams, [], {
    section: "goodput",
    caption: "How far allocated GPU time got, in the same order; each step is a part of the one before",
    rowHeading: "team",
    row: head,
    columns: [
      [numberColumn("allocated", "GPU-h"), ({ allocated }) => figure("allocated", "GPU-h", allocated)],
      [numberColumn("ran whole", "GPU-h"), ({ whole }) => figure("whole", "GPU-h", whole)],
      [
        numberColumn("evictions undid", "GPU-h"),
        ({ undoneByEvictions }) => figure("undone_by_evictions", "GPU-h", undoneByEvictions),
      ],
      [
        numberColumn("failures undid", "GPU-h"),
        ({ undoneByFailures }) => figure("undone_by_failures", "GPU-h", undoneByFailures),
      ],
      [numberColumn("not undone", "GPU-h"), ({ kept }) => figure("not_undone", "GPU-h", kept)],
      [numberColumn("productive", "GPU-h"), ({ productive }) => figure("productive", "GPU-h", productive)],
      [numberColumn("goodput"), ({ ratio }) => figure("goodput", "ratio", ratio)],
    ],
  });
}

/** The table of what each team was entitled to, who owes whom, how long it waited, and what was taken from it. */
export function fairnessTable(review: Review): Table {
  return tableOf(teamsByWaste(review), [], {
    section: "fairness",
    caption: "Entitled, waited and evicted, in the same order",
    rowHeading: "team",
    row: head,
    columns: [
      [numberColumn("entitled", "GPU-h"), ({ entitled }) => figure("entitled", "GPU-h", entitled)],
      [longColumn("deviation"), deviation],
      [numberColumn("wait p50 / p95"), waitPieces],
      [numberColumn("evictions"), ({ evictions }) => figure("evictions", "count", evictions)],
      [numberColumn("undone by them", "GPU-h"), (team) => figure("lost_to_evictions", "GPU-h", team.lostToEvictions)],
    ],
  });
}

const head = ({ team }: TeamRow) => ({ item: teamText(team), cluster: "", head: teamText(team) });

/** Who has what a team lacked, or why nobody has it: each measure, its GPU-hours and its words. */
const whereItIs: readonly (readonly [measure: string, of: (team: TeamRow) => number | null, words: string])[] = [
  ["short_by_others", ({ shortByOthers }) => shortByOthers, "with others"],
  ["short_by_idle_gap", ({ shortByIdleGap }) => shortByIdleGap, "free and not given"],
  ["short_by_lost_node", ({ shortByLostNode }) => shortByLostNode, "guaranteed on lost nodes"],
  ["short_by_node_to_come", ({ shortByNodeToCome }) => shortByNodeToCome, "guaranteed on nodes to come"],
  ["short_by_past_queues", ({ shortByPastQueues }) => shortByPastQueues, "guaranteed and with pods of no queue"],
  ["short_by_promised_twice", ({ shortByPromisedTwice }) => shortByPromisedTwice, "promised more than once"],
  [
    "short_by_indivisible",
    ({ shortByIndivisible }) => shortByIndivisible,
    "of no use to a whole gang or kept by a setting",
  ],
];

/** The cell about who owes whom, and why a team is short. */
function deviation(team: TeamRow): readonly Piece[] {
  const why = whereItIs.flatMap(([measure, of, words]): Piece[] => {
    const amount = of(team);
    return (amount ?? 0) > 0.05 ? [", ", ...figure(measure, "GPU-h", amount), ` ${words}`] : [];
  });
  const said = figure("deviation", "GPU-h", team.deviation);
  return why.length === 0 ? said : [...said, " (short: ", ...why.slice(1), ")"];
}

/** The p50 and the p95 of a team's waits: `4 min / 1 h 20 min`. */
const waitPieces = ({ waits }: TeamRow): readonly Piece[] => [
  ...figure("wait_p50", "s", waits?.p50Seconds ?? null),
  " / ",
  ...figure("wait_p95", "s", waits?.p95Seconds ?? null),
];

/** The table of the budgets of teams; `null` where no team has one. */
export function budgetTable(review: Review): Table | null {
  const all = teamsByWaste(review).flatMap(({ team, budgets }) => budgets.map((budget) => ({ team, ...budget })));
  type Budget = (typeof all)[number];
  const inBudget = (measure: string, { currency }: Budget, value: number | null) =>
    figure(measure, { currency, per: null }, value);
  const monthEnd = (budget: Budget): readonly Piece[] => {
    const { forecast } = budget;
    if (forecast === null) return ["–"];
    const middle = inBudget("month_end", budget, forecast.mid);
    if (forecast.low === null && forecast.high === null) return [...middle, ", range not known"];
    const low = inBudget("month_end_low", budget, forecast.low);
    return [...middle, " (", ...low, " to ", ...inBudget("month_end_high", budget, forecast.high), ")"];
  };
  return tableOf(all.length === 0 ? null : all, [], {
    section: "budgets",
    caption: "Budgets, and where the month ends (four of five ends lie within the range)",
    rowHeading: "team and month",
    row: ({ team, month, cluster }) => ({
      item: `${teamText(team)} ${nameText(month)}`,
      cluster,
      head: `${teamText(team)} (${review.clusters.length > 1 ? `${nameText(cluster)}, ` : ""}${nameText(month)})`,
    }),
    columns: [
      [numberColumn("budget"), (one) => inBudget("budget", one, one.perMonth)],
      [numberColumn("spent"), (one) => inBudget("spent", one, one.spent)],
      [numberColumn("month ends at"), monthEnd],
    ],
  });
}
