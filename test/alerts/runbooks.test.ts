import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { type AlertName, alertNames, listedAlert } from "../../alerts/alertList.ts";
import { alertGroups } from "../../alerts/ruleGroups.ts";
import { recordedLabels } from "../../alerts/rules/recordedNames.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { run } from "../../cli/run.ts";
import { definitionOf, metricNames } from "../../exporter/catalogue/catalogue.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { adviceKinds } from "../../exporter/model/recommendation.ts";
import { findList } from "../../exporter/publish/http/lists.ts";
import { buildOpenApi } from "../../exporter/publish/http/openapi.ts";
import { captureIo } from "../cli/captureIo.ts";
import { readPromql } from "./promqlTree.ts";
import { hasPromtool } from "./promtool.ts";

const root = path.join(import.meta.dirname, "../..");
const folder = path.join(root, "alerts/runbooks");
const headings = [
  "Meaning",
  "Who acts",
  "Check in two minutes",
  "What to do",
  "When it is fine",
  "Tune or mute",
] as const;

interface Runbook {
  readonly name: AlertName;
  readonly text: string;
  /** Text under each heading. */
  readonly parts: ReadonlyMap<string, string>;
}

function read(name: AlertName): Runbook {
  const text = readFileSync(path.join(folder, `${name.toLowerCase()}.md`), "utf8");
  const parts = text.split(/^## /m).slice(1);
  return { name, text, parts: new Map(parts.map((part) => [line(part), part.slice(line(part).length).trim()])) };
}

const line = (text: string): string => text.split("\n")[0] ?? "";

/** Text of all code blocks in a language. */
function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, block]) => block ?? "",
  );
}

/** Commands of the shell blocks, and those in running text. */
function commands({ text }: Runbook): readonly string[] {
  const inText = [...text.matchAll(/`((?:fairlead|curl|kubectl) [^`]*)`/g)].map(([, command]) => command ?? "");
  return [...blocks(text, "sh").flatMap((block) => block.trim().split("\n")), ...inText];
}

/** What is in backticks in running text. */
function words(text: string): readonly string[] {
  const running = text.replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...running.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? "");
}

const series = new Map<string, readonly string[]>([
  ...Object.entries(recordedLabels),
  ...metricNames.map((name): [string, readonly string[]] => [name, definitionOf(name).labels]),
]);

/** What is under a key of some JSON; `undefined`: nothing. */
function under(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(key);
}

/** The schema of a setting by its path; `undefined`: there is none. */
function settingAt(schema: unknown, setting: string): unknown {
  const parts = setting.replaceAll("[]", ".[]").split(".");
  return parts.reduce(
    (at, part) => (part === "[]" ? under(at, "items") : under(under(at, "properties"), part)),
    schema,
  );
}

const settings = configSchema.toJSONSchema({ io: "input", unrepresentable: "any" });
const apiPaths = Object.keys(z.looseObject({ paths: z.looseObject({}) }).parse(buildOpenApi()).paths);
const runbooks = alertNames.map(read);
const each = runbooks.map((runbook) => [runbook.name, runbook] as const);

test("every alert has a runbook, and no other has", () => {
  expect(readdirSync(folder).sort()).toEqual(alertNames.map((name) => `${name.toLowerCase()}.md`).sort());
});

test.each(alertGroups(defaultAlerts).flatMap(({ rules }) => rules.map((rule) => [rule.alert, rule] as const)))(
  "the page of %s leads to its runbook",
  (name, { annotations }) => {
    expect(annotations.runbook_url.split("/").at(-1)).toBe(`${name.toLowerCase()}.md`);
  },
);

test.skipIf(!hasPromtool())("Prometheus takes every query", () => {
  const rules = runbooks.flatMap(({ text }) =>
    blocks(text, "promql").map((query, i) => ({ record: `runbook:query:${i}`, expr: query })),
  );
  const file = path.join(mkdtempSync(path.join(tmpdir(), "fairlead-runbooks-")), "rules.yaml");
  writeFileSync(file, stringify({ groups: [{ name: "runbooks", rules }] }));
  const { stdout, stderr } = spawnSync("promtool", ["check", "rules", "--lint=none", file], { encoding: "utf8" });
  rmSync(path.dirname(file), { recursive: true });
  expect(`${stdout}${stderr}`).toContain(`SUCCESS: ${rules.length} rules found`);
});

describe.each(each)("the runbook of %s", (name, runbook) => {
  const { text, parts } = runbook;

  test("has the shape of all", () => {
    const { area, severity, action, summary, labels } = listedAlert(name);
    const known = labels.map((label) => `\`${label}\``).join(", ");
    const kind = `${area.charAt(0).toUpperCase()}${area.slice(1)}: ${severity}, ${action}`;
    const head = text.split("\n");
    expect(head[0]).toBe(`# ${name}`);
    expect(head[2]).toBe(summary);
    expect(head[4]).toBe(`${kind}; fires after ${defaultAlerts.alerts[name].for}. Labels: ${known}.`);
    expect([...parts.keys()]).toEqual(headings);
    for (const part of parts.values()) expect(part.length).toBeGreaterThan(20);
  });

  test("is short enough to be read at night", () => {
    expect(text.length).toBeLessThan(5000);
    for (const one of text.split("\n"))
      if (!/^(curl|topk|sum|fairlead|kubectl|cluster_|predict)/.test(one)) expect(one.length).toBeLessThanOrEqual(145);
  });

  test("asks for known series by known labels, in PromQL", () => {
    const queries = blocks(parts.get("Check in two minutes") ?? "", "promql");
    expect(queries.length).toBeGreaterThan(0);
    expect(blocks(text, "promql")).toEqual(queries);
    for (const query of queries) {
      const { errors, selectors } = readPromql(query.trim());
      expect(errors, query).toBe(0);
      expect(selectors.length).toBeGreaterThan(0);
      for (const selector of selectors) {
        if (selector.labels.includes("__name__")) continue;
        expect([...series.keys()], query).toContain(selector.name);
        expect(series.get(selector.name), query).toEqual(expect.arrayContaining([...selector.labels]));
      }
    }
  });

  test("names only series that there are", () => {
    for (const word of words(text)) if (word.startsWith("fairlead_")) expect([...series.keys()]).toContain(word);
  });

  test("has commands of fairlead that fairlead takes", async () => {
    for (const command of commands(runbook)) {
      if (!command.startsWith("fairlead ")) continue;
      const io = captureIo();
      // Nobody listens there; what counts is that the command line is understood.
      const args = command
        .replaceAll(/"?\$FAIRLEAD"?/g, "http://127.0.0.1:9")
        .split(/\s+/)
        .slice(1);
      expect(await run(args, io), `${command}: ${io.stderr()}`).not.toBe(2);
      expect(io.stderr(), command).not.toContain("fault in Fairlead");
    }
  });

  test("has addresses that the API has, with filters that they have", () => {
    const addresses = [...commands(runbook), ...words(text)].flatMap((one) => one.match(/\/api\/v1\/[^"\s`]*/g) ?? []);
    for (const address of addresses) {
      const { pathname, searchParams } = new URL(address, "http://fairlead");
      const list = findList(pathname.split("/")[3] ?? "");
      for (const filter of searchParams.keys()) expect(list?.filters, address).toContain(filter);
      expect(apiPaths.map((known) => known.replaceAll(/\{\w+\}/g, "ID"))).toContain(pathname);
    }
  });

  test("has something to look at in the cluster or in Fairlead", () => {
    expect(commands(runbook).length).toBeGreaterThan(0);
    for (const command of commands(runbook)) expect(command).toMatch(/^(fairlead|curl|kubectl) /);
  });

  test("names settings that Fairlead has", () => {
    const named = words(text).filter(
      (word) => /^[a-z][a-zA-Z]*(\[\])?(\.[a-zA-Z[\]]+)+$/.test(word) && !word.endsWith(".yaml"),
    );
    for (const word of named) expect(settingAt(settings, word), word).toBeDefined();
  });

  test("says how to tune it in a file that is taken, for this alert alone", () => {
    const [file, ...others] = blocks(parts.get("Tune or mute") ?? "", "yaml");
    expect(others).toEqual([]);
    const given: unknown = parse(file ?? "");
    expect(given).toEqual({ alerts: { [name]: expect.anything() } });
    expect(alertsSchema.safeParse(given).error).toBeUndefined();
    expect(alertsSchema.parse(given).alerts[name]).not.toEqual(defaultAlerts.alerts[name]);
  });

  test("names the recommendations that answer it, and no others", () => {
    const kinds = words(parts.get("What to do") ?? "").filter((word) => adviceKinds.some((kind) => kind === word));
    expect([...new Set(kinds)].sort()).toEqual([...(listedAlert(name).advice?.kinds ?? [])].sort());
  });

  test("names files of documentation and other alerts that there are", () => {
    for (const [file] of text.matchAll(/docs\/[a-z-]+\.md/g))
      expect(readdirSync(path.join(root, "docs"))).toContain(path.basename(file));
    for (const [other] of text.matchAll(/\bGpu[A-Z][A-Za-z]+\b/g)) expect(alertNames).toContain(other);
  });
});
