import { alertmanagerFiles } from "../alertmanager/alertmanagerFiles.ts";
import { type AlertingRule, alertGroups, type RecordingRule, type RuleGroup, recordingGroups } from "../ruleGroups.ts";
import type { AlertsConfig } from "../thresholds.ts";
import { yamlText } from "./yamlText.ts";

/** The contents of files to write, by their path below the output folder. */
export type RuleFiles = Readonly<Record<string, string>>;

/**
 * All files: plain rules for Prometheus from 2.42 on, Thanos, Mimir and vmalert; the same rules as a PrometheusRule for the
 * Prometheus Operator; and an example configuration of Alertmanager with its message templates.
 */
export function ruleFiles(config: AlertsConfig): RuleFiles {
  const [recording, alerts] = [recordingGroups(config), alertGroups(config)];
  return {
    "rules/fairlead-recording.yaml": yamlText({ groups: recording }),
    "rules/fairlead-alerts.yaml": yamlText({ groups: alerts }),
    "prometheusrule.yaml": yamlText(prometheusRule([...recording, ...alerts])),
    ...alertmanagerFiles(config),
  };
}

/** `PrometheusRule` of `monitoring.coreos.com/v1`, as the Prometheus Operator reads it. */
interface PrometheusRule {
  readonly apiVersion: "monitoring.coreos.com/v1";
  readonly kind: "PrometheusRule";
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly groups: readonly RuleGroup<RecordingRule | AlertingRule>[] };
}

/** The rules as one object. A label such as `release`, by which the operator selects rules, may have to be added. */
function prometheusRule(groups: readonly RuleGroup<RecordingRule | AlertingRule>[]): PrometheusRule {
  return {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: { name: "fairlead", labels: { "app.kubernetes.io/name": "fairlead" } },
    spec: { groups },
  };
}
