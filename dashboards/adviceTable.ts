import type { RecordedLabels } from "../alerts/rules/recordedNames.ts";
import { aggregate, arithmetic, type Expression, secondsSince, topk } from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft, Size } from "./panel/draft.ts";
import { type Levels, neutral } from "./panel/levels.ts";
import { table } from "./panel/table.ts";
import { units } from "./panel/units.ts";

/** The series that says how many GPUs each open recommendation gains. */
export const adviceGpus = "cluster_recommendation:fairlead_recommendation_gpus:max";

interface Advice {
  readonly title: string;
  readonly meaning: string;
  readonly size: Size;
  /** Which recommendations, by what each gains: of `adviceGpus`. */
  readonly gpus: Expression<RecordedLabels<typeof adviceGpus>>;
  /** So many of them, those that gain most. */
  readonly count: number;
  /** For what time it says what is saved. */
  readonly per: "day" | "week";
  /** What the age of a recommendation means. */
  readonly ageLevels?: Levels;
}

/** Open recommendations that gain most GPUs, with what each saves and since when it is open. */
export function adviceTable(
  { query, currency, money, rowLink, recommendationLink }: Tools,
  { title, meaning, size, gpus, count, per, ageLevels = neutral }: Advice,
): PanelDraft {
  // Advice for several pools or domains names none: it would vanish where one is chosen.
  const all = query.without("pool", "domain");
  const top = topk(count, aggregate("max", gpus, ["cluster", "kind", "id", "from_team", "for_team", "title"]));
  const one = ["cluster", "id"] as const;
  const saving = all.recorded("cluster_recommendation:fairlead_recommendation_saving_per_week:max", { currency });
  const saved = aggregate("sum", saving, one);
  const since = all.recorded("cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min");
  const ofTop = (of: Expression<(typeof one)[number]>) => arithmeticWithOne(arithmetic(top, "*", 0), "+", of, one);
  const toTeam = (label: "from_team" | "for_team") =>
    rowLink("team", "What does this team have?", { cluster: "cluster", team: label });
  return table({
    title,
    meaning,
    size,
    labels: { title: "What to do", cluster: "Cluster", from_team: "From", for_team: "For", kind: null, id: null },
    values: [
      { title: "Gains", query: top, unit: units.gpus },
      {
        title: `Saves a ${per}`,
        query: ofTop(per === "week" ? saved : arithmetic(saved, "/", 7)),
        unit: money,
        ...(per === "day" ? { decimals: 0 } : {}),
      },
      {
        title: "Open for",
        query: ofTop(secondsSince(aggregate("min", since, one))),
        unit: units.wait,
        levels: ageLevels,
      },
    ],
    sortBy: "Gains",
    noValue: "–",
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
