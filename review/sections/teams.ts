import type { Review } from "../document/review.ts";
import type { TeamRow } from "../document/use.ts";
import { wastedHours } from "../document/wastedHours.ts";
import type { Figure } from "../words/figure.ts";
import { nameText, teamText } from "../words/names.ts";
import { money, weight } from "./money.ts";
import { longColumn, numberColumn, type Piece, type Table } from "./section.ts";

const gpuHours = (measure: string, value: number | null): Figure => ({ measure, unit: "GPU-h", value });
const count = (measure: string, value: number | null): Figure => ({ measure, unit: "count", value });

/** Teams by what their waste costs, else by the GPU time of it. */
export function teamsByWaste({ teams }: Pick<Review, "teams">): readonly TeamRow[] {
  return [...teams].sort(
    (one, other) =>
      weight(other.wasteCosts) - weight(one.wasteCosts) ||
      wastedHours(other) - wastedHours(one) ||
      (one.team < other.team ? -1 : 1),
  );
}

/** What each team held, used, wasted and cost. */
export function teamTable(review: Review): Table {
  return {
    section: "teams",
    caption: "Allocated, used and paid; the most expensive waste first",
    rowHeading: "team",
    columns: [
      numberColumn("allocated", "GPU-h"),
      numberColumn("active", "GPU-h"),
      numberColumn("use"),
      numberColumn("idle", "GPU-h"),
      numberColumn("stalled", "GPU-h"),
      numberColumn("underutilized", "GPU-h"),
      numberColumn("cost"),
      numberColumn("of it wasted"),
      numberColumn("jobs"),
    ],
    rows: teamsByWaste(review).map((team) => ({
      ...head(team),
      cells: [
        [gpuHours("allocated", team.allocated)],
        [gpuHours("active", team.active)],
        [{ measure: "utilization", unit: "ratio", value: team.utilization }],
        [gpuHours("idle", team.idle)],
        [gpuHours("stalled", team.stalled)],
        [gpuHours("underutilized", team.underutilized)],
        money("cost", team.costs),
        money("waste_cost", team.wasteCosts),
        [count("jobs", team.jobs)],
      ],
    })),
  };
}

/** What each team was entitled to, who owes whom, how long it waited and what was taken from it. */
export function fairnessTable(review: Review): Table {
  return {
    section: "fairness",
    caption: "Entitled, waited and evicted, in the same order",
    rowHeading: "team",
    columns: [
      numberColumn("entitled", "GPU-h"),
      longColumn("deviation"),
      numberColumn("wait p50 / p95"),
      numberColumn("evictions"),
      numberColumn("undone by them", "GPU-h"),
    ],
    rows: teamsByWaste(review).map((team) => ({
      ...head(team),
      cells: [
        [gpuHours("entitled", team.entitled)],
        deviation(team),
        waitPieces(team),
        [count("evictions", team.evictions)],
        [gpuHours("lost_to_evictions", team.lostToEvictions)],
      ],
    })),
  };
}

const head = ({ team }: TeamRow) => ({ item: teamText(team), cluster: "", head: teamText(team) });

/** Who has what a team lacked, or why nobody has it. */
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

/** Who owes whom, and why a team is short. */
function deviation(team: TeamRow): readonly Piece[] {
  const why = whereItIs.flatMap(([measure, of, words]): Piece[] => {
    const amount = of(team);
    return (amount ?? 0) > 0.05 ? [", ", gpuHours(measure, amount), ` ${words}`] : [];
  });
  const said: Piece = gpuHours("deviation", team.deviation);
  return why.length === 0 ? [said] : [said, " (short: ", ...why.slice(1), ")"];
}

/** `4 min / 1 h 20 min`. */
export function waitPieces({ waits }: Pick<TeamRow, "waits">): readonly Piece[] {
  return [
    { measure: "wait_p50", unit: "s", value: waits?.p50Seconds ?? null },
    " / ",
    { measure: "wait_p95", unit: "s", value: waits?.p95Seconds ?? null },
  ];
}

/** Budgets of teams that have one; `null` where none has. */
export function budgetTable(review: Review): Table | null {
  const rows = teamsByWaste(review).flatMap((team) =>
    team.budgets.map((budget) => {
      const { cluster, month, currency, perMonth, spent, forecast } = budget;
      const money = (measure: string, value: number | null): Figure => ({
        measure,
        value,
        unit: { currency, per: null },
      });
      const several = review.clusters.length > 1 ? `${nameText(cluster)}, ` : "";
      return {
        item: `${teamText(team.team)} ${nameText(month)}`,
        cluster,
        head: `${teamText(team.team)} (${several}${nameText(month)})`,
        cells: [
          [money("budget", perMonth)],
          [money("spent", spent)],
          forecast === null
            ? ["–"]
            : forecast.low === null && forecast.high === null
              ? [money("month_end", forecast.mid), ", range not known"]
              : [
                  money("month_end", forecast.mid),
                  " (",
                  money("month_end_low", forecast.low),
                  " to ",
                  money("month_end_high", forecast.high),
                  ")",
                ],
        ],
      };
    }),
  );
  if (rows.length === 0) return null;
  return {
    section: "budgets",
    caption: "Budgets, and where the month ends (four of five ends lie within the range)",
    rowHeading: "team and month",
    columns: [numberColumn("budget"), numberColumn("spent"), numberColumn("month ends at")],
    rows,
  };
}
