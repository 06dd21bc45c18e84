import { describe, expect, test } from "vitest";
import { type Action, actions, alertList, alertNames, areas, severities } from "../../alerts/alertList.ts";
import { alertGroups, recordingGroups } from "../../alerts/ruleGroups.ts";
import { scrapedNames } from "../../alerts/rules/recordProcess.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { definitionOf, metricNames } from "../../exporter/catalogue/catalogue.ts";
import { everyAnnotation, everyQuery, filledIn } from "../dashboards/everyDashboard.ts";
import { catalogued, countersNotAskedForRise, doubtfulDivisors, recorded, wrongSeries } from "./promqlLint.ts";
import { readPromql } from "./promqlTree.ts";

const recordings = recordingGroups(defaultAlerts).flatMap(({ rules }) => rules);
const alerts = alertGroups(defaultAlerts).flatMap(({ rules }) => rules);

const money = new Set(metricNames.filter((name) => definitionOf(name).labels.includes("currency")));

/** What is true of all replicas together, not of one of them. */
const aboutReplicas = new Set([
  "cluster:fairlead_replica:rank",
  "cluster:fairlead_replica:longest",
  "cluster:fairlead_build_info:max",
  "cluster:fairlead_last_cycle_timestamp_seconds:max",
  "cluster:fairlead_replicas:max",
  "cluster:fairlead_working_replicas:count",
  "cluster_version_node_version:fairlead_build_info:max",
]);

/** Recorded about each replica by itself, from what every program and every scrape reports. */
const isOfEachReplica = (record: string): boolean => record.startsWith("cluster_instance_pod:");
const others = new Map<string, readonly string[]>(
  scrapedNames.map((name) => [name, ["cluster", "instance", "pod", "job"]] as const),
);
function actionOf(label: string): Action {
  const action = actions.find((one) => one === label);
  if (action === undefined) throw new Error(`no action: ${label}`);
  return action;
}

/** The queries in an annotation, with a text where a label's value will be. */
function queriesIn(template: string): readonly string[] {
  return [...template.matchAll(/`([^`]*)`/g)].map(([, query]) => (query ?? "").replaceAll(/%\[\d\]q/g, '"x"'));
}

const queries = alerts.flatMap(({ alert, annotations }) =>
  Object.entries(annotations).flatMap(([annotation, template]) =>
    queriesIn(template).map((text) => [`${alert} ${annotation}`, text] as const),
  ),
);
const expressions: readonly (readonly [string, string])[] = [
  ...recordings.map(({ record, expr }) => [record, expr] as const),
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...queries,
];

describe("every expression", () => {
  test("there are some of each kind", () => {
    expect(recordings.length).toBe(recorded.size);
    expect(alerts.map(({ alert }) => alert).sort()).toEqual([...alertNames].sort());
    expect(queries.length).toBeGreaterThan(alerts.length);
  });

  test.each(expressions)("%s is PromQL of known series and labels", (_, text) => {
    expect(wrongSeries(text, others)).toEqual([]);
  });

  test.each(expressions)("%s keeps the cluster in each aggregation and join", (_, text) => {
    const { aggregations, joins } = readPromql(text);
    for (const labels of [...aggregations, ...joins]) {
      // What is scraped of every program may know no cluster before this very join gives it one.
      if (labels?.join() === "instance,pod" && text.includes("group_left (cluster)")) continue;
      // The best ones of what a query has narrowed to one cluster.
      if (labels === null && /^topk\([13], /.test(text)) continue;
      if (labels === null && text.includes("and on (cluster, id) (topk(1, ")) continue;
      expect(labels).toContain("cluster");
    }
  });

  test.each(expressions)("%s asks counters for their rise only", (name, text) => {
    // Which replica has counted longest is the one thing that a counter itself says.
    if (name !== "cluster:fairlead_replica:rank") expect(countersNotAskedForRise(text)).toEqual([]);
  });
});

describe("recorded series", () => {
  test.each(recordings.map(({ record, expr }) => [record, expr] as const))(
    "%s reads one replica, or what others recorded of it",
    (record, expr) => {
      if (aboutReplicas.has(record) || isOfEachReplica(record)) return;
      const { selectors, joins } = readPromql(expr);
      const raw = selectors.filter(({ name }) => catalogued.has(name));
      const ofReplica = joins.filter((labels) => labels?.join() === "cluster,instance,pod");
      expect(ofReplica).toHaveLength(raw.length);
      expect(selectors.filter(({ name }) => name === "cluster:fairlead_replica:longest")).toHaveLength(raw.length);
    },
  );

  test.each(recordings.map(({ record, expr }) => [record, expr] as const))("%s is named by its labels", (record) => {
    expect(record).toMatch(/^[a-z0-9_]+:fairlead_[a-z_]+:[a-z0-9]+$/);
    const level = record.split(":")[0] ?? "";
    if (level === "cluster_recommendation" || level === "cluster") return;
    expect(level.split("_").join("")).toBe((recorded.get(record) ?? []).join("").replaceAll("_", ""));
  });

  test("each is read after it is recorded", () => {
    const before = new Set<string>();
    for (const { record, expr } of recordings) {
      for (const { name } of readPromql(expr).selectors) {
        // The rank depends on which replica the evaluation before has chosen.
        const isOfLastTime = record === "cluster:fairlead_replica:rank" && name === "cluster:fairlead_replica:longest";
        if (recorded.has(name) && !isOfLastTime) expect([...before]).toContain(name);
      }
      before.add(record);
    }
  });

  test("sums of money keep the currency", () => {
    for (const { record, expr } of recordings) {
      const asked = readPromql(expr);
      if (!asked.selectors.some(({ name }) => [...money].some((of) => of === name))) continue;
      expect(recorded.get(record)).toContain("currency");
      for (const labels of asked.aggregations) expect(labels).toContain("currency");
    }
  });

  test("each is read by an alert, an annotation, another rule or a panel", () => {
    const texts = [...expressions, ...everyQuery, ...everyAnnotation].map(([, text]) => filledIn(text));
    const read = new Set(texts.flatMap((text) => readPromql(text).selectors.map(({ name }) => name)));
    expect([...recorded.keys()].filter((name) => !read.has(name))).toEqual([]);
  });
});

describe("alerts", () => {
  test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s reads recorded series only", (_, { expr }) => {
    for (const { name } of readPromql(expr).selectors) expect([...recorded.keys()]).toContain(name);
  });

  test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s has labels of the fixed lists", (alert, rule) => {
    expect(Object.keys(rule.labels).sort()).toEqual(["action", "area", "severity"]);
    expect(severities).toContain(rule.labels.severity);
    expect(areas).toContain(rule.labels.area);
    expect(actions).toContain(rule.labels.action);
    expect(Object.values(rule.labels).join()).not.toMatch(/[{$]/);
    expect(alert).toMatch(/^Gpu([A-Z][a-z]+)+$/);
    expect(alert).not.toMatch(/Critical|Warning|Info/);
  });

  test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s has every annotation", (_, { annotations }) => {
    expect(Object.keys(annotations).filter((name) => name !== "subject")).toEqual([
      "summary",
      "description",
      "recommendation",
      "recommendation_url",
      "saving",
      "runbook_url",
      "dashboard_url",
    ]);
    expect(annotations.summary).toMatch(/^[A-Z][^{}$]*\.$/);
    expect(annotations.description).toMatch(/\.({{ end }})?$/);
    expect(annotations.dashboard_url).not.toMatch(/\{\{ \$labels\.\w+ \}\}/);
  });

  test("severity says the same as action, also where the configuration changes the action", () => {
    const said = { page: "critical", ticket: "warning", digest: "info" } as const;
    for (const { labels } of alerts) expect(labels.severity).toBe(said[actionOf(labels.action ?? "")]);
    const config = alertsSchema.parse({
      alerts: { GpuNodeLostLong: { action: "ticket" }, GpuNodeLost: { action: "page", severity: "info" } },
    });
    const changed = alertGroups(config).flatMap(({ rules }) => rules);
    const labelsOf = (name: string) => changed.find(({ alert }) => alert === name)?.labels;
    expect(labelsOf("GpuNodeLostLong")).toMatchObject({ action: "ticket", severity: "warning" });
    expect(labelsOf("GpuNodeLost")).toMatchObject({ action: "page", severity: "info" });
  });

  test("what a page of 1 GPU would be is a ticket: every page waits for GPU time that is worth it, or for Fairlead itself", () => {
    const pages = alerts.filter(({ labels }) => labels.action === "page" && labels.area !== "exporter");
    expect(pages.map(({ alert }) => alert)).toEqual([
      "GpuTeamStarvedLong",
      "GpuQueueStuckLong",
      "GpuJobUnplaceableLong",
      "GpuNodeLostLong",
    ]);
    for (const { alert, expr, annotations } of pages) {
      expect(expr).toMatch(/gpu_hours:sum >= 32/);
      expect(expr).toMatch(/>= 100/);
      expect(annotations.subject, alert).toBeDefined();
    }
  });

  test("no summary is given twice", () => {
    const summaries = Object.values(alertList).map(({ summary }) => summary);
    expect(new Set(summaries).size).toBe(summaries.length);
  });

  test("quotients have denominators above 0", () => {
    for (const [name, text] of expressions) expect(doubtfulDivisors(text), name).toEqual([]);
  });
});
