import type { AdviceKindLabel } from "../alerts/alertList.ts";
import {
  aggregate,
  arithmetic,
  type Expression,
  matches,
  oneOf,
  secondsSince,
  topk,
} from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft, Size } from "./panel/draft.ts";
import { type Levels, neutral } from "./panel/levels.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

interface Advice {
  readonly title: string;
  readonly meaning: string;
  readonly size: Size;
  readonly count: number;
  /** Only of these kinds; without, all. */
  readonly kinds?: readonly AdviceKindLabel[];
  /** What the age of a recommendation means. */
  readonly ageLevels?: Levels;
}

/** Open recommendations that gain most GPUs: of the chosen teams, what they would give up. */
export function adviceTable(
  { query, currency, money, rowLink, recommendationLink }: Tools,
  { title, meaning, size, count, kinds, ageLevels = neutral }: Advice,
): PanelDraft {
  // Advice for several pools or domains names none: it would vanish where one is chosen.
  const advice = query.without("pool", "domain");
  const kind = kinds === undefined ? {} : { kind: oneOf(kinds) };
  const asked = { ...kind, from_team: matches("$team") };
  const gpus = advice.recorded("cluster_recommendation:fairlead_recommendation_gpus:max", asked);
  const top = topk(count, aggregate("max", gpus, ["cluster", "id", "from_team", "for_team", "title"]));
  const one = ["cluster", "id"] as const;
  const saving = advice.recorded("cluster_recommendation:fairlead_recommendation_saving_per_week:max", {
    ...asked,
    currency,
  });
  const since = advice.recorded("cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min");
  const ofTop = (of: Expression<(typeof one)[number]>) => arithmeticWithOne(arithmetic(top, "*", 0), "+", of, one);
  return table({
    title,
    meaning,
    size,
    labels: { title: "What to do", cluster: "Cluster", from_team: "From", for_team: "For", id: null },
    values: [
      { title: "Gains", query: top, unit: units.gpus },
      { title: "Saves a week", query: ofTop(aggregate("sum", saving, one)), unit: money },
      {
        title: "Open for",
        query: ofTop(secondsSince(aggregate("min", since, one))),
        unit: units.wait,
        levels: ageLevels,
      },
    ],
    sortBy: "Gains",
    noValue: "–",
    widths: { Cluster: 110, From: 120, For: 120, Gains: 90, "Saves a week": 115, "Open for": 120 },
    links: {
      title: recommendationLink,
      from_team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "from_team" }),
      for_team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "for_team" }),
    },
  });
}
