import { aggregate, arithmetic, type Expression, matches, secondsSince, topk } from "../exporter/catalogue/promql.ts";
import { arithmeticWithOne, union } from "../exporter/catalogue/promqlSeries.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { table } from "./panel/table.ts";
import { text } from "./panel/text.ts";
import { units } from "./panel/units.ts";

/** What Fairlead recommends that the team would give, or gain. */
export function teamAdvice({ query, currency, money, rowLink, recommendationLink }: Tools): PanelDraft {
  const gpus = "cluster_recommendation:fairlead_recommendation_gpus:max";
  const chosen = matches("$team");
  const either = union(query.recorded(gpus, { from_team: chosen }), query.recorded(gpus, { for_team: chosen }));
  const top = topk(10, aggregate("max", either, ["cluster", "kind", "id", "from_team", "for_team", "title"]));
  const one = ["cluster", "id"] as const;
  const saving = query.recorded("cluster_recommendation:fairlead_recommendation_saving_per_week:max", { currency });
  const since = query.recorded("cluster_recommendation:fairlead_recommendation_first_seen_timestamp_seconds:min");
  const ofTop = (of: Expression<(typeof one)[number]>) => arithmeticWithOne(arithmetic(top, "*", 0), "+", of, one);
  return table({
    title: "What is advised to it, or for it?",
    meaning: `Open recommendations by which the team gives up GPUs or gains some, those that gain most first, and what each saves a day in ${currency}. Open one to see its plan, and why it is safe.`,
    size: [24, 6],
    labels: { title: "What to do", cluster: "Cluster", from_team: "From", for_team: "For", kind: null, id: null },
    values: [
      { title: "Gains", query: top, unit: units.gpus },
      {
        title: "Saves a day",
        query: ofTop(arithmetic(aggregate("sum", saving, one), "/", 7)),
        unit: money,
        decimals: 0,
      },
      { title: "Open for", query: ofTop(secondsSince(aggregate("min", since, one))), unit: units.wait },
    ],
    sortBy: "Gains",
    noValue: "–",
    widths: { Cluster: 75, From: 95, For: 95, Gains: 80, "Saves a day": 95, "Open for": 105 },
    links: {
      title: recommendationLink,
      from_team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "from_team" }),
      for_team: rowLink("team", "What does this team have?", { cluster: "cluster", team: "for_team" }),
    },
  });
}

/** Where the numbers of the page come from, in words. */
export function teamComputed({ currency, page }: Tools): PanelDraft {
  const advice = page("/recommendations", "").url;
  const state = page("/", "").url;
  return text({
    title: "How is this computed?",
    size: [24, 9],
    markdown: [
      "**Team**: who answers for a pod, by the rules under `teams` of Fairlead's configuration. What no rule assigns is `unassigned`.",
      "**Held**: physical GPUs that its running pods have, parts of shared cards as parts; used or not.",
      "**Share**: what its queues are entitled to now: first what each is sure of, then the rest by weight, never more than it holds and waits for, and never above a limit. Each quota domain (the pools that one quota counts over) is shared out by itself.",
      "**Busy**: the active part, by the telemetry of the cards. **Idle**: nothing for long, of work that is neither starting nor opted out.",
      `**Cost**: price of a GPU-hour of its node × GPUs × time, charged by what is held; amounts in ${currency} only. **Budget**: what was charged since the month began (UTC), while Fairlead was watching.`,
      `Where nothing is known, nothing is shown; that is not 0. By name: [which work could let go of GPUs](${advice}), [what Fairlead cannot see now](${state}).`,
    ].join("\n\n"),
  });
}
