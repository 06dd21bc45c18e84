import { matches } from "../exporter/catalogue/promql.ts";
import { union } from "../exporter/catalogue/promqlSeries.ts";
import { adviceGpus, adviceTable } from "./adviceTable.ts";
import type { Tools } from "./dashboard.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { text } from "./panel/text.ts";

/** What Fairlead recommends that the team would give, or gain. */
export function teamAdvice(tools: Tools): PanelDraft {
  const { query, currency } = tools;
  const chosen = matches("$team");
  return adviceTable(tools, {
    title: "What is advised to it, or for it?",
    meaning: `Open recommendations by which the team gives up GPUs or gains some, those that gain most first, and what each saves a day in ${currency}. Open one to see its plan, and why it is safe.`,
    size: [24, 7],
    gpus: union(query.recorded(adviceGpus, { from_team: chosen }), query.recorded(adviceGpus, { for_team: chosen })),
    count: 10,
    per: "day",
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
      "**Allocated**: physical GPUs that its running pods have, parts of shared GPUs as parts; used or not.",
      "**Share**: what its queues are entitled to now: first what each is sure of, then the rest by weight, never more than it holds and waits for, and never above a limit. Each quota domain (the pools that one quota counts over) is shared out by itself.",
      "**Busy**: the active part, by the telemetry of the GPUs. **Idle**: nothing for long, of work that is neither starting nor opted out.",
      `**Cost**: price of a GPU-hour of its node × GPUs × time, charged by what is allocated; amounts in ${currency} only. **Budget**: what was charged since the month began (UTC), while Fairlead was watching.`,
      `Where nothing is known, nothing is shown; that is not 0. By name: [which work could let go of GPUs](${advice}), [what Fairlead cannot see now](${state}).`,
    ].join("\n\n"),
  });
}
