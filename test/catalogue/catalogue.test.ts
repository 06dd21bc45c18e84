import { describe, expect, test } from "vitest";
import { idleWindows } from "../../exporter/accounts/idleHours.ts";
import { idleNodeStates } from "../../exporter/accounts/idleNodeStates.ts";
import { waitBuckets } from "../../exporter/analysis/waiting/waiting.ts";
import { definitionOf, metricAreas, metricNames, metrics } from "../../exporter/catalogue/catalogue.ts";
import * as listed from "../../exporter/catalogue/labels.ts";
import { subjectMetrics } from "../../exporter/catalogue/subjects.ts";
import { capacityTypes } from "../../exporter/model/capacityType.ts";
import { nodeTimeStates } from "../../exporter/model/idleKinds.ts";
import { placedSizeNames, placedSizes } from "../../exporter/model/placedSizes.ts";

describe("every metric", () => {
  test.each(metricNames)("%s follows the rules of names and labels", (name) => {
    const { type, unit, help, labels, values, buckets } = definitionOf(name);
    expect(name).toMatch(/^fairlead_[a-z0-9]+(_[a-z0-9]+)*$/);
    expect(name.endsWith("_total")).toBe(type === "counter");
    if (unit === "seconds" || unit === "bytes" || unit === "watts" || unit === "ratio")
      expect(name).toContain(`_${unit}`);
    if (unit === "gpus") expect(name).toMatch(/_gpus$/);
    if (unit === "info") expect(name).toMatch(/_info$/);
    expect(labels[0]).toBe("cluster");
    expect(new Set(labels).size).toBe(labels.length);
    expect(help).toMatch(/^[A-Z0-9].*\.$/);
    expect(help).not.toContain("|");
    expect(buckets?.every((bound, i) => i === 0 || bound > (buckets[i - 1] ?? 0))).not.toBe(false);
    expect(name).not.toMatch(/_(bucket|sum|count)$/);
    for (const label of Object.keys(values ?? {})) expect(labels).toContain(label);
    for (const unbounded of ["pod", "uuid", "node"]) expect(labels).not.toContain(unbounded);
    // Of workloads only the few that cost most, or that alerts name, have series, and namespaces have the budget of teams.
    if (labels.includes("workload") || labels.includes("namespace"))
      expect(name in subjectMetrics || /_(workload|namespace)_cost_/.test(name)).toBe(true);
    if (unit === "cost" || unit === "cost_per_hour") expect(labels).toContain("currency");
  });

  const explained = metricAreas
    .filter(({ title }) => /Placement|Idle nodes|Prices|Cost|Budgets|Recommendations|Names/.test(title))
    .flatMap(({ metrics: own }) => Object.keys(own));

  test.each(explained)("%s has a formula and an example with numbers", (name) => {
    const { formula, example } = definitionOf(metricNames.find((known) => known === name) ?? "fairlead_gpus");
    expect(formula).toMatch(/\S{3}/);
    expect(example).toMatch(/\d/);
    for (const text of [formula, example]) expect(text).not.toMatch(/[|\n]/);
  });

  test("is in exactly one area", () => {
    const inAreas = metricAreas.flatMap((area) => Object.keys(area.metrics));
    expect(inAreas.sort()).toEqual(Object.keys(metrics).sort());
  });

  test("carries only labels that are explained, and every explained label is used", () => {
    const used = new Set(metricNames.flatMap((name) => definitionOf(name).labels));
    expect([...used].sort()).toEqual(Object.keys(listed.labelMeanings).sort());
  });
});

describe("values of labels that are lists of the catalogue's own", () => {
  test.each([
    ["bounds of waits", listed.waitBounds, waitBuckets],
    ["states of nodes, idle ones by kind", [...listed.nodeStates, ...idleNodeStates], nodeTimeStates],
    ["windows of idle nodes", listed.idleWindowLabels, Object.keys(idleWindows)],
    ["how nodes are paid for", listed.capacityTypeLabels, [...capacityTypes, "unknown"]],
  ] as const)("%s", (_, values, known) => {
    expect([...values].sort()).toEqual([...known].sort());
  });

  test("sizes of pods are the same as numbers and as texts", () => {
    expect(placedSizeNames).toEqual(placedSizes.map(String));
  });
});
