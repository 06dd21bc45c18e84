import { aggregate, arithmetic, topk, where } from "../exporter/catalogue/promql.ts";
import { clampMin, union } from "../exporter/catalogue/promqlSeries.ts";
import { adviceTable } from "./adviceTable.ts";
import { collapsedRow, type DashboardDefinition, opening, type Tools } from "./dashboard.ts";
import { barChart } from "./panel/barChart.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { limit, limitOf, worseAbove, worseBelow } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { table } from "./panel/table.ts";
import { text } from "./panel/text.ts";
import { units } from "./panel/units.ts";
import { partOf } from "./query/queries.ts";
import { allocatedAndShare, entitledGpus, shareByDomain, waitingWork } from "./teamShares.ts";
import { teamUse } from "./teamUse.ts";

/**
 * The dashboard of one team: what it holds and is entitled to, waits for, wastes and pays. If none is chosen, it shows all
 * teams together.
 */
export const team: DashboardDefinition = {
  name: "team",
  title: "Fairlead: one team",
  description: "What does this team have, is it owed more, what does it waste, and what does it cost?",
  variables: ["team"],
  from: "now-7d",
  refresh: "5m",
  sections: (tools) => [
    opening(
      ...shares(tools),
      ...useAndMoney(tools),
      allocatedAndShare(tools),
      waitingWork(tools),
      shareByDomain(tools),
      teamAdvice(tools),
    ),
    collapsedRow("What do its GPUs do?", ...teamUse(tools), teamComputed(tools)),
    collapsedRow("What does it cost?", ...teamCosts(tools)),
  ],
};

/** What the team pays and for what. */
function teamCosts(tools: Tools): readonly PanelDraft[] {
  return [byNamespace(tools), dearest(tools)];
}

function byNamespace({ query, currency, money, seriesLink }: Tools): PanelDraft {
  const by = ["cluster", "namespace"] as const;
  const aDay = (charge: "allocation" | "use") =>
    arithmetic(query.sum("fairlead_namespace_cost_per_hour", by, { charge, currency }), "*", 24);
  return barChart({
    title: "Cost per day, by namespace",
    meaning: `What 24 hours of what each namespace holds now would cost, in ${currency}, and the part of it that is in use. The gap between the two is paid for nothing: look there first.`,
    unit: money,
    size: [12, 9],
    labels: { namespace: "Namespace", cluster: null },
    along: "namespace",
    first: { count: 10, by: "Allocated" },
    values: [
      { title: "Allocated", query: aDay("allocation"), unit: money, decimals: 0 },
      { title: "Used", query: aDay("use"), unit: money, decimals: 0 },
    ],
    colours: { Allocated: "watch", Used: "good" },
    noValue: `nothing allocated has a ${currency} price`,
    links: [seriesLink("cost", "What was it charged?", {})],
  });
}

function dearest({ query, currency, money, rowLink }: Tools): PanelDraft {
  const perHour = query.sum("fairlead_workload_cost_per_hour", ["cluster", "namespace", "workload"], { currency });
  return table({
    title: "Cost per day, by workload",
    meaning: `What 24 hours of what each workload holds now would cost, in ${currency}, used or not; the ten dearest of those that Fairlead follows (cost.topWorkloads). One that nobody needs any more is the fastest saving.`,
    size: [12, 9],
    labels: { workload: "Workload", namespace: "Namespace", cluster: "Cluster" },
    values: [{ title: "a day", query: topk(10, arithmetic(perHour, "*", 24)), unit: money, cell: "bar" }],
    sortBy: "a day",
    empty: "nothing allocated has a price",
    widths: { Namespace: 95, Cluster: 75, "a day": 120 },
    links: { workload: rowLink("cost", "What was the team charged?", { cluster: "cluster" }) },
  });
}

/** The recommendations that would take GPUs from the team, or give it some. */
function teamAdvice(tools: Tools): PanelDraft {
  const { currency } = tools;
  return adviceTable(tools, {
    title: "Recommendations to it or for it",
    meaning: `Open recommendations by which the team gives up GPUs or gains some, those that gain most first, and what each saves a day in ${currency}. Open one to see its plan, and why it is safe.`,
    size: [24, 7],
    teams: "from or for",
    count: 10,
    per: "day",
  });
}

/** The sources of the numbers of the page, in words. */
function teamComputed({ currency, page }: Tools): PanelDraft {
  const advice = page("/recommendations", "").url;
  const state = page("/", "").url;
  return text({
    title: "Method",
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

function shares(tools: Tools): readonly PanelDraft[] {
  const { query, seriesLink } = tools;
  const deviation = query.recorded("cluster_team_domain:fairlead_team_fairness_deviation_gpus:sum");
  const fairness = seriesLink("fairness", "Who has more, who has less?", {});
  return [
    stat({
      title: "GPUs allocated",
      meaning:
        "Physical GPUs that pods of the team hold, used or not. More than it uses is waste; less than its share while its work waits is unfair.",
      unit: units.gpus,
      shows: [shows(aggregate("sum", query.recorded("cluster_team:fairlead_allocated_gpus:sum")), "Allocated")],
      links: [seriesLink("waste", "Which of them are idle?", {})],
    }),
    stat({
      title: "GPUs entitled",
      meaning:
        "Physical GPUs that the team is entitled to now, by guarantees, limits, weights and what everybody asks for. It is never more than the team holds and waits for; a small share with nothing waiting is normal.",
      unit: units.gpus,
      noValue: "no share known",
      shows: [shows(aggregate("sum", entitledGpus(tools)), "Share")],
      links: [fairness],
    }),
    stat({
      title: "GPUs above and missing",
      meaning:
        "GPUs allocated above the share and GPUs missing below it, each counted by quota domain: too many of one pool do not make up for too few of another. What is above may be taken back when others need it; if some are missing, see who holds them.",
      unit: units.gpus,
      noValue: "no share known",
      shows: [
        shows(aggregate("sum", clampMin(deviation, 0)), "Above"),
        shows(aggregate("sum", clampMin(arithmetic(deviation, "*", -1), 0)), "Missing"),
      ],
      links: [fairness],
    }),
    stat({
      title: "GPUs waited for",
      meaning:
        "Physical GPUs that work of the team waits for, in its queues or as pods; work in a queue of several teams counts once it has pods. The table of waiting work below shows the reasons, and how long the work has waited.",
      unit: units.gpus,
      shows: [shows(aggregate("sum", query.recorded("cluster_team:fairlead_waiting_gpus:max")), "Waiting")],
      links: [fairness],
    }),
  ];
}

function useAndMoney(tools: Tools): readonly PanelDraft[] {
  const { query, alerts, currency, money, seriesLink } = tools;
  const busy = aggregate("sum", query.recorded("cluster_team_pool:fairlead_busy_gpus:sum"));
  const judged = aggregate("sum", query.recorded("cluster_team_pool:fairlead_judged_gpus:sum"));
  const allocated = aggregate("sum", query.recorded("cluster_team:fairlead_allocated_gpus:sum"));
  const idle = query.recorded("cluster_team:fairlead_idle_gpus:sum");
  const perHour = query.recorded("cluster_team_currency:fairlead_team_cost_per_hour:sum", { currency });
  // A team that holds nothing has no series of its cost, and pays nothing.
  const aDay = union(arithmetic(aggregate("sum", perHour), "*", 24), where(allocated, "==", 0));
  const spent = query.recorded("cluster_team_currency:fairlead_budget_spent:ratio", { currency });
  return [
    stat({
      title: "Busy part of GPUs",
      meaning:
        "Active part of the allocated GPUs whose activity is known; starting and waiting ones are left out. Where it is low, the table of pools below says where to look.",
      unit: units.ratio,
      levels: worseBelow(limit(0.7, "watch"), limit(0.4, "act")),
      // For a team that no longer holds anything, the last known ratio is not the present one.
      kind: "now",
      noValue: "none allocated",
      shows: [shows(partOf(busy, judged), "Busy")],
      links: [seriesLink("waste", "Which of them are idle?", {})],
    }),
    stat({
      title: "Idle GPUs",
      meaning:
        "GPUs that the team holds and that have done nothing for long. Let go of them, or shrink the jobs that hold them: Fairlead's recommendations name them.",
      unit: units.gpus,
      noValue: "none allocated",
      shows: [shows(aggregate("sum", idle), "Idle")],
      links: [seriesLink("waste", "Since when, and what do they cost?", {})],
    }),
    stat({
      title: "Cost per day",
      meaning: `What the team would be charged for 24 hours of what it holds now, in ${currency}; GPUs without a price are left out. The cost dashboard has what it was charged.`,
      unit: money,
      decimals: 0,
      noValue: `no ${currency} price`,
      shows: [shows(aDay, "a day")],
      links: [seriesLink("cost", "What was it charged?", {})],
    }),
    stat({
      title: "Budget used",
      meaning: `Part of its budget of this month that the team has spent, in ${currency}; of several teams, of the one that has spent most of its own. Compare it with how much of the month has passed.`,
      unit: units.ratio,
      levels: worseAbove(...limitOf(alerts, "GpuBudgetExhausted", ({ spentAbove }) => spentAbove)),
      noValue: "no budget",
      shows: [shows(aggregate("max", spent), "Spent")],
      links: [seriesLink("cost", "Will it last?", {})],
    }),
  ];
}
