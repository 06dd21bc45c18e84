import type { AdviceKindLabel } from "../alerts/alertList.ts";
import { aggregate, arithmetic, type Expression, type Matcher, matches, oneOf } from "../exporter/catalogue/promql.ts";
import { union } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft, Size } from "./panel/draft.ts";
import { type Levels, neutral } from "./panel/levels.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** Matchers for the labels of a recommendation. */
interface TeamMatchers {
  readonly kind?: Matcher;
  readonly from_team?: Matcher;
  readonly for_team?: Matcher;
}

interface Advice {
  readonly title: string;
  readonly meaning: string;
  readonly size: Size;
  /** The kinds of recommendations that are shown; if absent, all kinds. */
  readonly kinds?: readonly AdviceKindLabel[];
  /**
   * Which recommendations are shown: all of them, those that take from the chosen teams, or those that take from them or give
   * to them.
   */
  readonly teams: "all" | "from" | "from or for";
  /** The number of recommendations that are shown: those that gain most. */
  readonly count: number;
  /** The time to which the saving refers. */
  readonly per: "day" | "week";
  /** The levels for the age of a recommendation. */
  readonly ageLevels?: Levels;
}

/** A table of the open recommendations that gain most GPUs, with what each saves and since when it is open. */
export function adviceTable(
  { query, currency, money, rowLink, recommendationLink }: Tools,
  { title, meaning, size, kinds, teams, count, per, ageLevels = neutral }: Advice,
): PanelDraft {
  // Recommendations for several pools or domains name none, and would vanish where one is chosen.
  const all = query.without("pool", "domain");
  const chosen = matches("$team");
  const asked = kinds === undefined ? {} : { kind: oneOf(kinds) };
  const among = <Labels extends string>(of: (teams: TeamMatchers) => Expression<Labels>): Expression<Labels> => {
    if (teams === "all") return of(asked);
    const from = of({ ...asked, from_team: chosen });
    return teams === "from" ? from : union(from, of({ ...asked, for_team: chosen }));
  };
  const gains = among((of) => all.recorded("cluster_recommendation:fairlead_recommendation_gpus:max", of));
  const saved = among((of) =>
    all.recorded("cluster_recommendation:fairlead_open_saving_per_week:sum", { ...of, currency }),
  );
  const open = among((of) => all.recorded("cluster_recommendation:fairlead_open_seconds:max", of));
  const by = ["cluster", "kind", "id", "from_team", "for_team", "title"] as const;
  const toTeam = (label: "from_team" | "for_team") =>
    rowLink("team", "What does this team have?", { cluster: "cluster", team: label });
  return table({
    title,
    meaning,
    size,
    labels: { title: "What to do", cluster: "Cluster", from_team: "From", for_team: "For", kind: null, id: null },
    values: [
      { title: "Gains", query: aggregate("max", gains, by), unit: units.gpus },
      {
        title: `Saves a ${per}`,
        query: aggregate("max", per === "week" ? saved : arithmetic(saved, "/", 7), by),
        unit: money,
        ...(per === "day" ? { decimals: 0 } : {}),
      },
      {
        title: "Open for",
        query: aggregate("max", open, by),
        unit: units.wait,
        levels: ageLevels,
      },
    ],
    sortBy: "Gains",
    first: count,
    empty: "no recommendation is open",
    widths: {
      Cluster: 90,
      From: 95,
      For: 95,
      Gains: 80,
      [`Saves a ${per}`]: per === "day" ? 95 : 115,
      "Open for": 105,
    },
    links: { title: recommendationLink, from_team: toTeam("from_team"), for_team: toTeam("for_team") },
  });
}
