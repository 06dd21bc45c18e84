import { orZero } from "../alerts/rules/recorded.ts";
import { aggregate, matches, topk } from "../exporter/catalogue/promql.ts";
import { smallest, sorted } from "../exporter/catalogue/promqlSeries.ts";
import { collapsedRow, type DashboardDefinition, opening, row, type Tools } from "./dashboard.ts";
import { barGauge } from "./panel/barGauge.ts";
import type { PanelDraft } from "./panel/draft.ts";
import { doubtfulBelow, limit, limitOf, worseAbove, worseOutside } from "./panel/levels.ts";
import { shows } from "./panel/shown.ts";
import { stat } from "./panel/stat.ts";
import { stateTimeline } from "./panel/stateTimeline.ts";
import { table } from "./panel/table.ts";
import { timeSeries } from "./panel/timeSeries.ts";
import { units } from "./panel/units.ts";
import { hours, looksOver } from "./query/overTime.ts";
import { queueSetup } from "./queueSetup.ts";
import { queueShortfalls } from "./queueShortfalls.ts";
import { queueWaits, waitsAndEvictions } from "./queueWaits.ts";

/**
 * The dashboard of who has more than its share, who less, who waits, and whether the queues' settings allow it to be otherwise.
 */
export const fairness: DashboardDefinition = {
  name: "fairness",
  title: "Fairlead: fairness and queues",
  description: "Who holds more than its share, who waits although it is entitled, and why?",
  variables: ["team", "queue", "domain"],
  from: "now-24h",
  refresh: "1m",
  sections: (tools) => [
    opening(...judged(tools), ...misplaced(tools), shareOfQueues(tools), teamsOverTime(tools)),
    row("Who holds it, who waits, and why?", queueShortfalls(tools), pairs(tools), ...queueWaits(tools)),
    collapsedRow("Has it evened out over time?", borrowed(tools), owed(tools), jain(tools)),
    collapsedRow("How are waits spread, and what is evicted?", ...waitsAndEvictions(tools)),
    collapsedRow("How are the queues set up?", ...queueSetup(tools)),
  ],
};

function borrowed({ query, seriesLink }: Tools): PanelDraft {
  return timeSeries({
    title: "GPUs above or below the share, by queue",
    meaning:
      "GPUs that each queue holds above what it is entitled to in a quota domain; below 0 it lacks as many. Lines that mirror each other are two queues where one holds what the other is owed.",
    unit: units.gpusMoreOrLess,
    size: [12, 11],
    noValue: "no shares known",
    shows: [
      shows(
        query.sum("fairlead_fairness_deviation_gpus", ["cluster", "queue", "domain"]),
        "{{queue}} {{domain}} ({{cluster}})",
      ),
    ],
    links: [seriesLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" })],
  });
}

function owed({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "queue", "domain", "half_life"] as const;
  const missing = query.recorded("cluster_queue_team_domain_half_life:fairlead_owed_gpu_hours:sum");
  const part = query.recorded("cluster_queue_team_domain_half_life:fairlead_owed:ratio");
  return table({
    title: "GPU-hours owed from before, by queue",
    meaning:
      "GPU-hours that a queue was entitled to and did not get, less what was allocated to it above its share; the past counts half after each half-life, and less than one GPU-hour is left out. The part is that of all it was entitled to. Short half-lives say who lacks now, long ones who has lacked for days.",
    size: [12, 11],
    labels: { queue: "Queue", domain: "Quota domain", half_life: "Half-life", cluster: null },
    values: [
      { title: "Is owed", query: aggregate("sum", missing, by), unit: units.gpuHours },
      { title: "Part", query: aggregate("max", part, by), unit: units.ratio },
    ],
    sortBy: "Is owed",
    empty: "nobody is owed anything",
    widths: { "Quota domain": 140, "Half-life": 70, "Is owed": 95, Part: 50 },
    links: { queue: rowLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" }) },
  });
}

function judged(tools: Tools): readonly PanelDraft[] {
  const { query, alerts, page, seriesLink } = tools;
  const ofTeam = ["cluster", "team"] as const;
  const starved = aggregate("max", query.recorded("cluster_team_domain:fairlead_starved_team_gpus:sum"), ofTeam);
  const known = query.recorded("cluster_team_domain:fairlead_team_entitled_gpus:sum");
  const starvedTeams = orZero(aggregate("count", starved, ["cluster"]), aggregate("count", known, ["cluster"]));
  const advice = page("/recommendations", "What would change this?");
  return [
    stat({
      title: "Worst-off team",
      meaning:
        "The team that holds least of what it is entitled to in a quota domain, and how much that is: 100 % is its share. Shares never count more than a team asks for, so a low number means that its work waits.",
      unit: units.ratio,
      levels: doubtfulBelow(...limitOf(alerts, "GpuTeamStarved", ({ allocatedBelow }) => allocatedBelow)),
      // The last value from when a team still asked for something is not the present one.
      kind: "now",
      text: "both",
      noValue: "no shares known",
      shows: [
        shows(
          smallest(query.recorded("cluster_team_domain:fairlead_allocated_of_entitled:ratio")),
          "{{team}} {{domain}} ({{cluster}})",
        ),
      ],
      links: [advice],
    }),
    stat({
      title: "Longest starved, hours",
      meaning:
        "The team that was starved longest in the time range, and for how many hours: it held far less than its share in a quota domain while work waited that the missing GPUs would start.",
      unit: units.hours,
      levels: worseAbove(limit(1, "watch"), limit(4, "act")),
      kind: "now",
      text: "both",
      noValue: "no team was starved",
      shows: [
        shows(
          topk(1, hours(looksOver(query.recorded("cluster_team_domain:fairlead_starved_team_gpus:sum"), "$__range"))),
          "{{team}} {{domain}} ({{cluster}})",
        ),
      ],
      links: [advice],
    }),
    stat({
      title: "Starved teams",
      meaning:
        "Teams that hold far less than their share in a quota domain while work waits that the missing GPUs would start. None is normal; for each, see who holds its GPUs.",
      unit: units.count,
      levels: worseAbove(...limitOf(alerts, "GpuTeamStarved", () => 1)),
      noValue: "no shares known",
      shows: [shows(aggregate("sum", starvedTeams), "Starved teams")],
      links: [advice],
    }),
    stat({
      title: "Longest wait now",
      meaning:
        "How long the work that has waited longest waits now. Whole gangs of many GPUs wait longer than single pods; see below why it waits.",
      unit: units.seconds,
      levels: worseAbove(limit(alerts.alerts.GpuQueueWaitHigh.p95AboveSeconds, "watch")),
      kind: "now",
      noValue: "nothing known to wait",
      shows: [shows(aggregate("max", query.max("fairlead_queue_oldest_wait_seconds", ["cluster"])), "Longest")],
      links: [seriesLink("team", "What do these teams have?", {})],
    }),
  ];
}

function misplaced({ query, alerts, page }: Tools): readonly PanelDraft[] {
  const reclaimable = query.sum("fairlead_queue_reclaimable_gpus", ["cluster"]);
  const findings = orZero(
    query.sum("fairlead_configuration_findings", ["cluster"]),
    query.recorded("cluster:fairlead_build_info:max"),
  );
  const { minExcessGpus } = alerts.alerts.GpuTeamAboveFairShare;
  return [
    stat({
      title: "GPUs that could be taken back",
      meaning:
        "GPUs that queues hold above what they are entitled to now, and that their scheduler would move to others, whose waiting gangs start with them. None is fair; what is allocated above a share and of use to nobody is no matter.",
      unit: units.gpus,
      levels: worseAbove(limit(minExcessGpus, "watch")),
      noValue: "no shares known",
      size: [12, 4],
      shows: [shows(aggregate("sum", reclaimable), "Could be taken back")],
      links: [page("/recommendations", "What could be taken back, and how?")],
    }),
    stat({
      title: "Settings that disable fairness",
      meaning:
        "Ways in which the configuration of queues makes fairness other than its author meant. None is right; Fairlead names each with the change that fixes it.",
      unit: units.count,
      levels: worseAbove(limit(1, "watch")),
      size: [12, 4],
      shows: [shows(aggregate("sum", findings), "Findings")],
      links: [page("/api/v1/findings", "Which queues, and what fixes each")],
    }),
  ];
}

/**
 * The main panel of the page: how much of its share each queue has. Readers who come here for one team want to see who holds
 * what it lacks, so other teams and queues are shown, too.
 */
function shareOfQueues({ query, alerts, seriesLink }: Tools): PanelDraft {
  const held = query.without("team", "queue").recorded("cluster_queue_domain:fairlead_allocated_of_entitled:ratio");
  return barGauge({
    title: "GPUs over share, by queue",
    meaning:
      "GPUs that each queue holds over those that it is entitled to now, in each quota domain: at 1 it has its share. All queues of the chosen domains are shown, so that those who hold more are next to those who lack it.",
    unit: units.times,
    max: 2,
    levels: worseOutside(
      [limit(alerts.alerts.GpuTeamStarved.allocatedBelow, "watch")],
      [limit(alerts.alerts.GpuTeamAboveFairShare.allocatedAbove, "watch")],
    ),
    noValue: "no shares known",
    size: [24, 10],
    shows: [shows(sorted(held, "smallest"), "{{queue}} {{domain}} ({{cluster}})")],
    links: [seriesLink("fairness", "Only this queue", { cluster: "cluster", queue: "queue", domain: "domain" })],
  });
}

function pairs({ query, rowLink }: Tools): PanelDraft {
  const by = ["cluster", "domain", "starved_queue", "borrower_queue"] as const;
  return table({
    title: "GPUs held above a share that others lack",
    meaning:
      "GPUs that a queue holds above its share and that would start whole waiting gangs of another: those that its scheduler would move, and those that a setting keeps where they are; the ten largest pairs of each quota domain. Change the setting for these.",
    size: [12, 8],
    labels: { starved_queue: "Short", borrower_queue: "Holds them", domain: "Quota domain", cluster: null },
    values: [
      {
        title: "GPUs",
        query: query.max("fairlead_fairness_pair_gpus", by, { starved_queue: matches("$queue") }),
        unit: units.gpus,
      },
      {
        title: "Kept",
        query: query.max("fairlead_fairness_held_back_gpus", by, { starved_queue: matches("$queue") }),
        unit: units.gpus,
      },
    ],
    nonZero: ["GPUs", "Kept"],
    sortBy: "GPUs",
    empty: "nobody holds what another is owed",
    widths: { Short: 110, "Holds them": 110, GPUs: 80, Kept: 80 },
    links: {
      starved_queue: rowLink("fairness", "Only the queue that is short", {
        cluster: "cluster",
        queue: "starved_queue",
      }),
      borrower_queue: rowLink("fairness", "Only the queue that holds more", {
        cluster: "cluster",
        queue: "borrower_queue",
      }),
    },
  });
}

/** One number for all queues. A high value alone is not good: one of many queues may be starved all the same. */
function jain({ query, alerts, page }: Tools): PanelDraft {
  return timeSeries({
    title: "Jain's fairness index, by quota domain",
    meaning:
      "How equal the parts are that all queues of a quota domain have of what they are entitled to: 1 where all have the same part. Among many queues it stays high while one is starved: the numbers at the top say who is worst off.",
    unit: units.index,
    levels: doubtfulBelow(...limitOf(alerts, "GpuFairnessLow", ({ jainBelow }) => jainBelow)),
    limits: true,
    noValue: "no shares known",
    size: [24, 8],
    shows: [shows(query.recorded("cluster_domain:fairlead_fairness_jain_index:min"), "{{domain}} ({{cluster}})")],
    links: [page("/recommendations", "What would change this?")],
  });
}

function teamsOverTime(tools: Tools): PanelDraft {
  const { allocatedBelow } = tools.alerts.alerts.GpuTeamStarved;
  const { allocatedAbove } = tools.alerts.alerts.GpuTeamAboveFairShare;
  const nearly = Math.max(allocatedBelow, 0.95);
  return stateTimeline({
    title: "GPUs over share, by team and time",
    meaning: `GPUs that each team holds over those that it is entitled to, in each quota domain. Far below (under ${allocatedBelow}) for hours is unfair; far above (from ${allocatedAbove}) is only a matter while others are short. Nothing is shown while a team asks for nothing.`,
    unit: units.times,
    size: [24, 9],
    noValue: "no shares known",
    shows: [
      shows(
        tools.query.recorded("cluster_team_domain:fairlead_allocated_of_entitled:ratio"),
        "{{team}} {{domain}} ({{cluster}})",
      ),
    ],
    states: [
      { from: null, to: allocatedBelow, text: "far below its share", colour: "act" },
      { from: allocatedBelow, to: nearly, text: "below its share", colour: "watch" },
      { from: nearly, to: allocatedAbove, text: "its share", colour: "good" },
      { from: allocatedAbove, to: null, text: "far above its share", colour: "other" },
    ],
    links: [tools.seriesLink("team", "What does this team have?", { cluster: "cluster", team: "team" })],
  });
}
