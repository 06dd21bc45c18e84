import { describe, expect, test } from "vitest";
import { waitBuckets } from "../../exporter/analysis/waiting/waiting.ts";
import { definitionOf, metricAreas, metricNames, metrics } from "../../exporter/catalogue/catalogue.ts";
import { labelMeanings, waitBounds } from "../../exporter/catalogue/labels.ts";

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
    expect(buckets !== undefined).toBe(type === "histogram");
    expect(buckets?.every((bound, i) => i === 0 || bound > (buckets[i - 1] ?? 0))).not.toBe(false);
    expect(name).not.toMatch(/_(bucket|sum|count)$/);
    for (const label of Object.keys(values ?? {})) expect(labels).toContain(label);
    for (const bounded of ["pod", "uuid", "node", "workload", "namespace"]) expect(labels).not.toContain(bounded);
  });

  test("is in exactly one area", () => {
    const inAreas = metricAreas.flatMap((area) => Object.keys(area.metrics));
    expect(inAreas.sort()).toEqual(Object.keys(metrics).sort());
  });

  test("carries only labels that are explained, and every explained label is used", () => {
    const used = new Set(metricNames.flatMap((name) => definitionOf(name).labels));
    expect([...used].sort()).toEqual(Object.keys(labelMeanings).sort());
  });
});

describe("bounds of waits", () => {
  test("are those by which waits are counted", () => {
    expect(waitBounds).toEqual(waitBuckets);
  });
});
