import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { readVersion } from "../../../cli/version.ts";
import { schemaOfValues } from "../../../deploy/output/describedValues.ts";
import { chartFolder, chartValues } from "../../../deploy/output/helm.ts";
import { valuesJsonSchema } from "../../../deploy/output/valuesJsonSchema.ts";
import { readsOfSources } from "../../../deploy/rights/reads.ts";
import { defaultListenAddress, defaultTelemetryPath } from "../../../exporter/publish/http/listenAddress.ts";

const folder = join(chartFolder, "templates");
const whole = readdirSync(folder)
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .join("\n");
const values = z.looseObject({}).parse(parse(chartValues()));

/** Whether there is something in values at a path; below maps that users fill, anything. */
function isThere(of: unknown, [name, ...below]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (typeof of !== "object" || of === null) return false;
  const found = Object.getOwnPropertyDescriptor(of, name);
  return found !== undefined && isThere(found.value, below);
}

describe("the chart", () => {
  test("uses only values that values.yaml has", () => {
    const used = [...whole.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path);
    expect(used.length).toBeGreaterThan(100);
    expect(used.filter((path) => !isThere(values, path.split(".")))).toEqual([]);
  });

  test("uses every value that values.yaml has", () => {
    const unused = leavesOf(values).filter((path) => {
      // A list or map may be used whole.
      const parts = path.split(".");
      return !parts.some((_, index) =>
        new RegExp(`\\.Values\\.${parts.slice(0, index + 1).join("\\.")}(?![\\w.])`).test(whole),
      );
    });
    expect(unused).toEqual([]);
  });

  test("says in its schema the defaults that values.yaml has, and what each means", () => {
    const { properties } = schemaOfValues(chartValues());
    expect(defaultsOf(properties)).toEqual(values);
    expect(() => schemaOfValues("# A.\na: 1\nb: 2\n")).toThrow("does not say what b means");
    expect(() => schemaOfValues("# A.\na: 1\n# B.\nb:\n  # C.\n  c: 1\n  d: 2\n")).toThrow(
      "does not say what b.d means",
    );
  });

  test("has patterns that Go understands", () => {
    const patterns = JSON.stringify(valuesJsonSchema(chartValues())).match(/"pattern":"(?:[^"\\]|\\.)*"/g) ?? [];
    expect(patterns.length).toBeGreaterThan(3);
    expect(patterns.filter((pattern) => /\(\?[=!<]|\\\\[1-9]/.test(pattern))).toEqual([]);
  });

  test("listens and is scraped where Fairlead does by default", () => {
    const port = /define "fairlead.port" -}}(\d+){{/.exec(whole)?.[1];
    const probePort = /define "fairlead.probePort" -}}(\d+){{/.exec(whole)?.[1];
    expect(`:${port}`).toBe(defaultListenAddress);
    expect(Number(probePort)).toBe(Number(port) + 1);
    expect(values).toMatchObject({ service: { port: Number(port) } });
    const paths = [...whole.matchAll(/^ *(?:"prometheus.io\/path"|path:) "?(\/metrics\w*)"?$/gm)].map(
      ([, path]) => path,
    );
    expect(paths).toEqual([defaultTelemetryPath, defaultTelemetryPath]);
  });

  test("has a value that switches each optional right, and none that switches nothing", () => {
    const { rbac } = z.looseObject({ rbac: z.looseObject({ optional: z.looseObject({}) }) }).parse(values);
    const rights = readsOfSources().flatMap(({ right }) => right ?? []);
    expect(Object.keys(rbac.optional).toSorted()).toEqual([...new Set(rights)].toSorted());
  });

  test("is of the version of Fairlead that is here", () => {
    expect(parse(readFileSync(join(chartFolder, "Chart.yaml"), "utf8"))).toMatchObject({ appVersion: readVersion() });
  });
});

function leavesOf(of: object): readonly string[] {
  return Object.entries(of).flatMap(([name, part]) =>
    typeof part === "object" && part !== null && !Array.isArray(part) && Object.keys(part).length > 0
      ? leavesOf(part).map((below) => `${name}.${below}`)
      : [name],
  );
}

type Properties = ReturnType<typeof schemaOfValues>["properties"];

function defaultsOf(properties: Properties): Readonly<Record<string, unknown>> {
  const entries = Object.entries(properties).map(([name, { properties: below, default: preset }]) => [
    name,
    below === undefined ? preset : defaultsOf(z.record(z.string(), z.looseObject({})).parse(below)),
  ]);
  return Object.fromEntries(entries);
}

/** Every emptyDir below a value, with what it says about its size. */
function emptyDirsIn(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) => (name === "emptyDir" ? [below] : emptyDirsIn(below)));
}

describe("what pods write beside their volumes", () => {
  const limit = /^[1-9]\d*[MG]i$/;

  test("is limited by a value in every template", () => {
    const found = [...whole.matchAll(/^ *emptyDir:(.*)\n(.*)/gm)];
    expect(found.length).toBeGreaterThanOrEqual(3);
    for (const [, rest = "", below = ""] of found) {
      const path = /^\s*sizeLimit: \{\{ \.Values\.([\w.]+) \| quote \}\}$/.exec(below)?.[1];
      expect(rest).toBe("");
      expect(path, below).toBeDefined();
      const value = (path ?? "").split(".").reduce<unknown>((at, name) => z.looseObject({}).parse(at)[name], values);
      expect(value).toMatch(limit);
    }
  });

  test.each(["dist/fairlead.yaml", "restore-pod.yaml"])("is limited in %s", (file) => {
    const text = readFileSync(join(import.meta.dirname, "../../../deploy", file), "utf8");
    const found = emptyDirsIn(parseAllDocuments(text).map((document) => document.toJS()));
    expect(found.length).toBeGreaterThan(0);
    for (const emptyDir of found) expect(emptyDir).toEqual({ sizeLimit: expect.stringMatching(limit) });
  });
});
