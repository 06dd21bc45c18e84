import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import type { AlertName } from "../../alerts/alertList.ts";
import { yamlText } from "../../alerts/output/yamlText.ts";
import {
  type AlertingRule,
  alertGroups,
  type RecordingRule,
  type RuleGroup,
  recordingGroups,
} from "../../alerts/ruleGroups.ts";
import type { AlertsConfig } from "../../alerts/thresholds.ts";

/** One alert as promtool compares it. */
export interface ExpectedAlert {
  readonly exp_labels: Readonly<Record<string, string>>;
  readonly exp_annotations: Readonly<Record<string, string>>;
}

/** A moment at which one alert must fire exactly so. */
export interface AlertMoment {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts: readonly ExpectedAlert[];
}

type TestedGroup = RuleGroup<RecordingRule | AlertingRule>;

/** One world of series, and what must fire in it. */
export interface RuleTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly AlertMoment[];
}

/** Whether promtool is there; says so when it is not. */
export function hasPromtool(): boolean {
  const found = spawnSync("promtool", ["--version"]).status === 0;
  if (!found) process.stdout.write("skipped: promtool is not installed (Debian: apt-get install prometheus)\n");
  return found;
}

/** Does something with a file of rules in a folder of its own. */
export function withRules<Result>(
  groups: readonly TestedGroup[],
  use: (folder: string, file: string) => Result,
): Result {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-rules-"));
  try {
    const file = path.join(folder, "rules.yaml");
    writeFileSync(file, yamlText({ groups }));
    return use(folder, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One alert and what is recorded for it and for its annotations: the whole would be evaluated for minutes. */
export function rulesOf(alert: AlertName, config: AlertsConfig): readonly TestedGroup[] {
  const own = alertGroups(config).map((group) => ({
    ...group,
    rules: group.rules.filter((rule) => rule.alert === alert),
  }));
  const read = own.flatMap(({ rules }) =>
    rules.flatMap(({ expr, annotations }) => [
      expr,
      annotations.recommendation,
      annotations.saving,
      annotations.subject ?? "",
    ]),
  );
  return [...recordingsFor(read, config), ...own.filter(({ rules }) => rules.length > 0)];
}

/** What is recorded for the expressions that are read. */
export function recordingsFor(read: readonly string[], config: AlertsConfig): readonly RuleGroup<RecordingRule>[] {
  return recordingGroups(config).map((group) => {
    const wanted: RecordingRule[] = [];
    for (const rule of group.rules.toReversed()) {
      const readers = [...read, ...wanted.map(({ expr }) => expr)];
      if (readers.some((text) => text.includes(rule.record))) wanted.unshift(rule);
    }
    return { ...group, rules: wanted };
  });
}

/** Runs tests with one step between evaluations in one promtool; what it says about each that fails, by its name. */
export function runPromtool(
  groups: readonly TestedGroup[],
  step: string,
  tests: readonly RuleTest[],
): ReadonlyMap<string, string> {
  return withRules(groups, (folder, rules) => {
    const file = path.join(folder, "tests.yaml");
    const group_eval_order = groups.map(({ name }) => name);
    writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: step, group_eval_order, tests }));
    const { stdout, stderr, status } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
    const said = `${stdout}${stderr}`;
    const failures = new Map<string, string>();
    for (const part of said.split(/^ {4}name: /m).slice(1)) {
      const name = part.slice(0, part.indexOf(",\n"));
      failures.set(name, `${failures.get(name) ?? ""}${part}`);
    }
    if (status !== 0 && failures.size === 0) failures.set("promtool", said);
    return failures;
  });
}
