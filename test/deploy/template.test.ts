import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { valuesWith } from "../../deploy/output/installation.ts";
import type { Context } from "../../deploy/template/context.ts";
import {
  choose,
  constant,
  equals,
  expression,
  isSet,
  merged,
  text,
  textMap,
  value,
  valueBlock,
  valueNumber,
} from "../../deploy/template/expression.ts";
import { goTemplate } from "../../deploy/template/goTemplate.ts";
import { resolve } from "../../deploy/template/resolve.ts";
import { optional, type Part, spread } from "../../deploy/template/template.ts";
import type { GivenValues } from "../../deploy/values/schema.ts";

const contextWith = (given: GivenValues): Context => ({
  values: valuesWith(given),
  release: { name: "fairlead", namespace: "gpu", service: "Helm" },
  chart: { name: "fairlead", version: "1.2.3", appVersion: "4.5.6" },
  files: {},
  apiGroups: new Set(),
});

const replicas = valueNumber("replicas", (values) => values.replicas);
const priority = value("priorityClassName", (values) => values.priorityClassName);
const labels = valueBlock("podLabels", (values) => values.podLabels);
const extra = valueBlock("extraArgs", (values) => values.extraArgs);

describe("a template", () => {
  const part: Part = {
    kind: "Thing",
    count: replicas,
    priority: optional(isSet(priority), priority),
    labels,
    args: ["serve", optional(isSet(priority), text`--priority=${priority}`), spread(extra)],
    empty: {},
  };

  test("comes to plain data: what is not called for is left out", () => {
    expect(resolve(part, contextWith({}))).toEqual({ kind: "Thing", count: 1, labels: {}, args: ["serve"], empty: {} });
    const given = { priorityClassName: "high", podLabels: { a: "b" }, extraArgs: ["--x", "--y"] };
    expect(resolve(part, contextWith(given))).toEqual({
      kind: "Thing",
      count: 1,
      priority: "high",
      labels: { a: "b" },
      args: ["serve", "--priority=high", "--x", "--y"],
      empty: {},
    });
  });

  test("is written as a file of a chart, with conditions around what they are of", () => {
    expect(goTemplate(part, isSet(labels))).toBe(`{{- if not (empty (.Values.podLabels)) }}
kind: Thing
count: {{ (int .Values.replicas) | toJson }}
{{- if not (empty (.Values.priorityClassName)) }}
priority: {{ .Values.priorityClassName | toJson }}
{{- end }}
labels:
{{ .Values.podLabels | toYaml | indent 2 }}
args:
  - serve
{{- if not (empty (.Values.priorityClassName)) }}
  - {{ printf "--priority=%v" (.Values.priorityClassName) | toJson }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . | indent 2 }}
{{- end }}
empty: {}
{{- end }}
`);
  });

  test("has no dash before a condition: the item would lose its first field with it", () => {
    const items: Part = { items: [{ first: optional(isSet(priority), priority), second: "b" }, { only: "c" }] };
    expect(goTemplate(items, null)).toBe(`items:
  -
{{- if not (empty (.Values.priorityClassName)) }}
    first: {{ .Values.priorityClassName | toJson }}
{{- end }}
    second: b
  - only: c
`);
  });

  test("has a text of several lines as a block, however deep", () => {
    const lines = expression("text", '.Files.Get "a"', () => "x\ny");
    expect(goTemplate({ data: { "a.json": lines } }, null)).toBe(
      'data:\n  a.json: |\n{{ .Files.Get "a" | indent 4 }}\n',
    );
  });

  test.each([
    "yes",
    "on",
    "012",
    "1e3",
    "null",
    "~",
    "a: b",
    "- a",
    "#",
    "",
    " a",
    "2026-11-02",
    "it's",
    '"',
    "{a}",
    "*",
  ])("has the constant %j as YAML of either version reads it", (constant_) => {
    const written = goTemplate({ a: constant_, list: [constant_] }, null);
    expect(parse(written)).toEqual({ a: constant_, list: [constant_] });
    expect(parse(written, { version: "1.1" })).toEqual({ a: constant_, list: [constant_] });
  });

  test("may have no constant with braces, which Helm would take for its own", () => {
    expect(() => goTemplate({ a: "{{ $labels.pod }}" }, null)).toThrow("braces");
  });
});

describe("expressions", () => {
  const in_ = contextWith({ priorityClassName: "50% $&", replicas: 2 });

  test("of a text keep percent signs and dollars as they are", () => {
    const of = text`100%: ${priority} of ${replicas}`;
    expect(of.resolve(in_)).toBe("100%: 50% $& of 2");
    expect(of.pipeline).toBe('printf "100%%: %v of %v" (.Values.priorityClassName) ((int .Values.replicas))');
  });

  test("of several maps give what the first says, unless that is empty", () => {
    const of = merged(
      textMap({ a: constant("1"), b: constant("") }),
      textMap({ a: constant("2"), b: constant("3"), c: constant("") }),
    );
    expect(of.resolve(in_)).toEqual({ a: "1", b: "3", c: "" });
    expect(of.pipeline).toBe('merge (dict) (dict "a" ("1") "b" ("")) (dict "a" ("2") "b" ("3") "c" (""))');
  });

  test("choose by a condition", () => {
    const of = choose(equals(priority, "high"), constant("h"), constant("l"));
    expect([of.resolve(contextWith({ priorityClassName: "high" })), of.resolve(in_)]).toEqual(["h", "l"]);
    expect(of.pipeline).toBe('ternary ("h") ("l") (eq (.Values.priorityClassName) "high")');
  });
});
