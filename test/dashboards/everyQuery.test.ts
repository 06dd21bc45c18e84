import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { alertGroups } from "../../alerts/ruleGroups.ts";
import { defaultAlerts } from "../../alerts/thresholds.ts";
import { variableTitles } from "../../dashboards/query/variables.ts";
import { countersNotAskedForRise, doubtfulDivisors, recorded, wrongSeries } from "../alerts/promqlLint.ts";
import { readPromql } from "../alerts/promqlTree.ts";
import { hasPromtool } from "../alerts/promtool.ts";
import { everyAnnotation, everyDashboard, everyPanel, everyQuery, filledIn } from "./everyDashboard.ts";

const everything = [...everyQuery, ...everyAnnotation];

/** What is there beside Fairlead's own series: of every alert. */
const others = new Map<string, readonly string[]>([
  ["ALERTS", ["alertname", "alertstate", "severity", "area", "action", ...Object.keys(variableTitles)]],
]);

describe("every query", () => {
  test("there are some", () => {
    expect(everyQuery.length).toBeGreaterThan(everyDashboard.length * 14);
    expect(everyAnnotation.length).toBe(everyDashboard.length * 3);
  });

  test.each(everything)("%s is PromQL of known series and labels", (_, text) => {
    expect(wrongSeries(filledIn(text), others)).toEqual([]);
  });

  test.each(everything)("%s asks counters for their rise only", (_, text) => {
    expect(countersNotAskedForRise(filledIn(text))).toEqual([]);
  });

  test.each(everything)("%s divides by nothing that may be 0", (_, text) => {
    expect(doubtfulDivisors(filledIn(text))).toEqual([]);
  });

  test.each(everything)("%s is short: at most 300 characters", (_, text) => {
    expect(text.length).toBeLessThanOrEqual(300);
  });

  test.each(everything)("%s reads what was chosen: each series by its cluster", (_, text) => {
    for (const { name, labels } of readPromql(filledIn(text)).selectors) expect(labels, name).toContain("cluster");
  });

  test.each(everything)("%s keeps the cluster in each join, and in each sum but the last", (_, text) => {
    for (const labels of readPromql(filledIn(text)).joins) expect(labels).toContain("cluster");
    expect(droppedTooEarly(filledIn(text))).toEqual([]);
  });

  test.each(everyQuery)("%s reads what was recorded, and so of one replica", (_, text) => {
    for (const { name } of readPromql(filledIn(text)).selectors) expect([...recorded.keys()]).toContain(name);
  });

  test.each(everyQuery)("%s never adds up different currencies", (_, text) => {
    for (const { name, labels } of readPromql(filledIn(text)).selectors) {
      if (recorded.get(name)?.includes("currency")) expect(labels, name).toContain("currency");
    }
  });

  test.each(everyPanel.filter(([, { type }]) => type === "table" || type === "barchart"))(
    "%s: no query gives rows a name of their own",
    (_, { targets }) => {
      for (const { expr } of targets ?? []) expect(expr).toMatch(/^(sum|avg|min|max|count) by \(/);
    },
  );

  test.skipIf(!hasPromtool())("promtool takes them all as rules", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "fairlead-queries-"));
    try {
      const file = path.join(folder, "queries.yaml");
      const rules = everything.map(([name, text], index) => ({
        record: `query:${index}`,
        expr: filledIn(text),
        labels: { name },
      }));
      writeFileSync(file, stringify({ groups: [{ name: "queries", rules }] }));
      const { stdout, stderr, status } = spawnSync("promtool", ["check", "rules", file], { encoding: "utf8" });
      expect(`${stdout}${stderr}`).toContain(`SUCCESS: ${rules.length} rules found`);
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

/** Aggregations that drop the cluster although something is matched or added up around them. */
function droppedTooEarly(text: string): readonly string[] {
  const dropped: string[] = [];
  const pattern = /\b(?:sum|avg|min|max|count|topk|quantile)(?: by \(([^)]*)\))? ?\(/g;
  for (const found of text.matchAll(pattern)) {
    const labels = (found[1] ?? "").split(", ");
    const before = text.slice(0, found.index);
    if (found[0].startsWith("topk") || labels.includes("cluster")) continue;
    if (openAggregations(before) > 0) dropped.push(text.slice(found.index, found.index + 80));
  }
  return dropped;
}

/** How many aggregations are open at the end of a text. */
function openAggregations(text: string): number {
  const open: boolean[] = [];
  for (const [index, character] of [...text].entries()) {
    const before = text.slice(0, index);
    if (character === "(") open.push(/\b(sum|avg|min|max|count|topk)(?: by \([^)]*\))? ?$/.test(before));
    if (character === ")") open.pop();
  }
  return open.filter(Boolean).length;
}

describe("thresholds", () => {
  test("numbers that an alert judges have its limit and its runbook", () => {
    const runbooks = new Map<string, string>(
      alertGroups(defaultAlerts).flatMap(({ rules }) =>
        rules.map(({ alert, annotations }) => [alert, annotations.runbook_url] as const),
      ),
    );
    const reported = everyPanel.filter(([, { description = "" }]) => description.includes(" Alert: "));
    expect(reported.length).toBeGreaterThan(8);
    for (const [name, panel] of reported) {
      for (const [, alerts] of (panel.description ?? "").matchAll(/ Alert: ([\w, ]+)\./g)) {
        for (const alert of (alerts ?? "").split(", ")) {
          expect(JSON.stringify(panel), name).toContain(runbooks.get(alert) ?? "no such alert");
        }
      }
    }
  });
});
