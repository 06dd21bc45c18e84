import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { manifestsWith } from "../../deploy/manifests/manifests.ts";
import { chartFiles } from "../../deploy/output/chart.ts";
import { chartOf } from "../../deploy/output/deployFiles.ts";
import { type InstalledObject, installedObjects, valuesWith } from "../../deploy/output/installation.ts";
import { valuesJsonSchema } from "../../deploy/output/valuesJsonSchema.ts";
import { coalesced } from "../../deploy/values/coalesced.ts";
import { type GivenValues, valuesSchema } from "../../deploy/values/schema.ts";
import { variants } from "../../deploy/values/variants.ts";

const manifests = manifestsWith(["fairlead-team"]);
const files = chartFiles(chartOf("1.0.0"), manifests, {});

/** Whether there is something in values at a path; below maps that users fill, anything. */
function isThere(values: unknown, path: readonly string[]): boolean {
  const [name, ...below] = path;
  if (name === undefined) return true;
  if (typeof values !== "object" || values === null) return false;
  const found = Object.getOwnPropertyDescriptor(values, name);
  return found !== undefined && isThere(found.value, below);
}

describe("the chart", () => {
  const templates = Object.entries(files).filter(([name]) => name.startsWith("templates/"));

  test("uses only values that values.yaml has", () => {
    const values: unknown = parse(files["values.yaml"] ?? "");
    const used = templates.flatMap(([, text]) =>
      [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path),
    );
    expect(used.length).toBeGreaterThan(100);
    expect(used.filter((path) => !isThere(values, path.split(".")))).toEqual([]);
  });

  test("uses every value that values.yaml has", () => {
    const whole = templates.map(([, text]) => text).join("\n");
    const unused = leavesOf(valuesSchema.parse({})).filter((path) => {
      // A list or map may be used whole.
      const parts = path.split(".");
      return !parts.some((_, index) =>
        new RegExp(`\\.Values\\.${parts.slice(0, index + 1).join("\\.")}(?![\\w.])`).test(whole),
      );
    });
    expect(unused).toEqual([]);
  });

  test("says in values.yaml what the schema says", () => {
    expect(parse(files["values.yaml"] ?? "")).toEqual(valuesSchema.parse({}));
  });

  test("has patterns that Go understands", () => {
    const patterns = JSON.stringify(valuesJsonSchema()).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
    expect(patterns.length).toBeGreaterThan(3);
    expect(patterns.filter((pattern) => /\(\?[=!<]|\\\\[1-9]/.test(pattern))).toEqual([]);
  });
});

function leavesOf(values: object): readonly string[] {
  return Object.entries(values).flatMap(([name, of]) =>
    typeof of === "object" && of !== null && !Array.isArray(of) && Object.keys(of).length > 0
      ? leavesOf(of).map((below) => `${name}.${below}`)
      : [name],
  );
}

const objectsOf = (given: GivenValues, chart = chartOf("1.0.0")): readonly InstalledObject[] =>
  installedObjects({
    chart,
    manifests,
    contents: { "files/prometheusrule.yaml": "spec: {groups: []}" },
    values: valuesWith(given),
    release: { name: "fairlead", namespace: "fairlead", service: "Helm" },
    apiGroups: ["monitoring.coreos.com"],
  });

describe("variants of values", () => {
  test.each(Object.entries(variants))("%s are valid, and change something", (name, { about, values }) => {
    expect(about).toMatch(/\.$/);
    if (name !== "default") expect(objectsOf(values)).not.toEqual(objectsOf({}));
  });
});

describe("an upgrade", () => {
  const replicasOf = (objects: readonly InstalledObject[]): unknown =>
    objects.filter(({ kind }) => kind === "StatefulSet").map(({ spec }) => spec);

  test("to another version of the chart alone restarts no pod", () => {
    const newer = { ...chartOf("1.0.0"), version: "9.0.0" };
    expect(replicasOf(objectsOf({}, newer))).toEqual(replicasOf(objectsOf({})));
    expect(objectsOf({}, newer)).not.toEqual(objectsOf({}));
  });

  test("that changes the configuration restarts them, for they read it when they start", () => {
    expect(replicasOf(objectsOf({ config: { interval: 15 } }))).not.toEqual(replicasOf(objectsOf({})));
  });

  test("that changes prices does not: they are read again by themselves", () => {
    const pricesOf = (perGpuHour: number) => ({ prices: { prices: [{ gpuModel: "L4", perGpuHour }] } });
    expect(replicasOf(objectsOf(pricesOf(1)))).toEqual(replicasOf(objectsOf(pricesOf(2))));
    expect(objectsOf(pricesOf(1))).not.toEqual(objectsOf(pricesOf(2)));
  });
});

describe("values that a user gives", () => {
  const defaults = { a: 1, list: [1, 2], map: { x: 1, y: { z: 1 } } };

  test.each([
    [{}, defaults],
    [
      { a: 2, b: 3 },
      { ...defaults, a: 2, b: 3 },
    ],
    [{ list: [3] }, { ...defaults, list: [3] }],
    [{ map: { y: { w: 2 } } }, { ...defaults, map: { x: 1, y: { z: 1, w: 2 } } }],
    [{ a: null }, { list: [1, 2], map: { x: 1, y: { z: 1 } } }],
    [{ map: { x: null } }, { ...defaults, map: { y: { z: 1 } } }],
    [{ map: null }, { ...defaults, map: {} }],
    [{ new: { n: null } }, { ...defaults, new: { n: null } }],
  ])("%j are merged as Helm merges them", (given, all) => {
    expect(coalesced(defaults, given)).toEqual(all);
  });

  test("have no prototype", () => {
    const all = coalesced({ a: { b: 1 } }, JSON.parse('{"a": {"__proto__": {"polluted": true}}}'));
    expect(JSON.stringify(all)).toBe('{"a":{"b":1,"__proto__":{"polluted":true}}}');
    expect({}).not.toHaveProperty("polluted");
  });
});
