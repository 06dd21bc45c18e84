import { type AlertName, type Area, alertNames, areas, listedAlert } from "./alertList.ts";
import { type Annotations, annotationsOf } from "./annotations.ts";
import { renameClusterLabel, renameInTemplate } from "./clusterLabel.ts";
import { conditions } from "./rules/conditions.ts";
import type { ReadingName } from "./rules/readings.ts";
import { exhaustionRecordings } from "./rules/recordExhaustion.ts";
import type { Recordings } from "./rules/recorded.ts";
import type { RecordedName } from "./rules/recordedNames.ts";
import { fairnessRecordings } from "./rules/recordFairness.ts";
import { moneyRecordings } from "./rules/recordMoney.ts";
import { nameRecordings } from "./rules/recordNames.ts";
import { priceRecordings } from "./rules/recordPrices.ts";
import { processRecordings } from "./rules/recordProcess.ts";
import { queueRecordings } from "./rules/recordQueues.ts";
import { readingRules } from "./rules/recordReadings.ts";
import { replicaRecordings } from "./rules/recordReplicas.ts";
import { selfRecordings } from "./rules/recordSelf.ts";
import { teamRecordings } from "./rules/recordTeams.ts";
import { useRecordings } from "./rules/recordUse.ts";
import { weekRecordings } from "./rules/recordWeeks.ts";
import { type AlertsConfig, severityIn } from "./thresholds.ts";

/** A rule that records a series, as Prometheus reads it. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** A rule that alerts. */
export interface AlertingRule {
  readonly alert: AlertName;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Annotations;
}

/** Rules that are evaluated one after another. */
export interface RuleGroup<Rule> {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly Rule[];
}

/** All recording rules in one group, in which each rule reads the results of those before it. */
export function recordingGroups(config: AlertsConfig): readonly RuleGroup<RecordingRule>[] {
  const rules = [...rulesOf(replicaRecordings, config), ...readingRules(), ...rulesOf(recordings, config)].map(
    ({ record, expr }) => ({ record, expr: renameClusterLabel(expr, config.clusterLabel) }),
  );
  return [{ name: "fairlead-recording", interval: config.interval, rules }];
}

function rulesOf(of: Partial<Recordings<RecordedName>>, config: AlertsConfig): readonly RecordingRule[] {
  return Object.entries(of).map(([record, expression]) => ({ record, expr: expression(config).text }));
}

/** The alerts that are enabled, one group for each area. */
export function alertGroups(config: AlertsConfig): readonly RuleGroup<AlertingRule>[] {
  return areas
    .map((area) => ({ name: `fairlead-${area}`, interval: config.interval, rules: alertsOf(area, config) }))
    .filter(({ rules }) => rules.length > 0);
}

function alertsOf(area: Area, config: AlertsConfig): readonly AlertingRule[] {
  return alertNames
    .filter((name) => listedAlert(name).area === area && config.alerts[name].enabled)
    .map((name) => alertingRule(name, config));
}

function alertingRule(name: AlertName, config: AlertsConfig): AlertingRule {
  const { action, for: allocated, keepFiringFor } = config.alerts[name];
  const { expression, description } = conditions[name];
  return {
    alert: name,
    expr: renameClusterLabel(expression(config).text, config.clusterLabel),
    for: allocated,
    ...(keepFiringFor.startsWith("0") ? {} : { keep_firing_for: keepFiringFor }),
    labels: { ...config.labels, severity: severityIn(config, name), area: listedAlert(name).area, action },
    annotations: renamed(
      annotationsOf(name, typeof description === "string" ? description : description(config), config),
      config.clusterLabel,
    ),
  };
}

function renamed(annotations: Annotations, cluster: string): Annotations {
  const { summary, subject, runbook_url, ...templates } = annotations;
  return {
    summary,
    description: renameInTemplate(templates.description, cluster),
    ...(subject === undefined ? {} : { subject: renameInTemplate(subject, cluster) }),
    recommendation: renameInTemplate(templates.recommendation, cluster),
    recommendation_url: renameInTemplate(templates.recommendation_url, cluster),
    saving: renameInTemplate(templates.saving, cluster),
    runbook_url,
    dashboard_url: renameInTemplate(templates.dashboard_url, cluster),
  };
}

/** The rules of all other recorded series, each after the rules that it reads. */
const recordings: Recordings<Exclude<RecordedName, ReadingName | keyof typeof replicaRecordings>> = {
  ...selfRecordings,
  ...processRecordings,
  ...fairnessRecordings,
  ...queueRecordings,
  ...exhaustionRecordings,
  ...useRecordings,
  ...teamRecordings,
  ...moneyRecordings,
  ...weekRecordings,
  ...priceRecordings,
  ...nameRecordings,
};
