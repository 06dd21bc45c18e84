import { yamlText } from "../output/yamlText.ts";
import type { AlertsConfig } from "../thresholds.ts";
import { alertmanagerConfig } from "./alertmanagerConfig.ts";
import { messageTemplates } from "./templates.ts";

/** The example configuration of Alertmanager and its message templates, by their paths below the folder of outputs. */
export function alertmanagerFiles(config: AlertsConfig): Readonly<Record<string, string>> {
  return {
    "alertmanager.yml": yamlText(alertmanagerConfig(config)),
    "templates/fairlead.tmpl": messageTemplates(config.clusterLabel),
  };
}
