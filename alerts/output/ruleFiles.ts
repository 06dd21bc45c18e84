import { alertmanagerFiles } from "../alertmanager/alertmanagerFiles.ts";
import { alertGroups, recordingGroups } from "../ruleGroups.ts";
import type { AlertsConfig } from "../thresholds.ts";
import { prometheusRule } from "./prometheusRule.ts";
import { yamlText } from "./yamlText.ts";

/** A file that is written, by its path below the folder of outputs. */
export type RuleFiles = Readonly<Record<string, string>>;

/**
 * All files: plain rules for Prometheus from 2.42 on, Thanos, Mimir and vmalert, and the same as a PrometheusRule for
 * the Prometheus Operator; and an example configuration of Alertmanager with its message templates.
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
