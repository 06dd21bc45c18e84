import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { defaultAlerts } from "../../alerts/thresholds.ts";
import { dashboardFiles } from "../../dashboards/output/dashboardFiles.ts";
import { defaultDashboards } from "../../dashboards/settings.ts";
import type { Files } from "./files.ts";
import { rightsFile } from "./rightsFile.ts";
import { valuesJsonSchema } from "./valuesJsonSchema.ts";

/** The files of the Helm chart that are not written by hand, by their path in it. `values`: the text of its values.yaml. */
export function chartFiles(values: string): Files {
  return {
    "values.schema.json": `${JSON.stringify(valuesJsonSchema(values), null, 2)}\n`,
    "files/rights.yaml": rightsFile(),
    "files/prometheusrule.yaml": ruleFiles(rulesOfChart)["prometheusrule.yaml"] ?? "",
    ...dashboardsOfChart(),
  };
}

/** The shipped rules, with addresses that the template `fairlead.rules` of the chart replaces by its `links`. */
const rulesOfChart = {
  ...defaultAlerts,
  fairleadUrl: "https://fairlead.invalid",
  runbookUrl: "https://runbooks.invalid/{alert}.md",
  dashboardUrl: "https://grafana.invalid/d/{dashboard}",
};

/** On one line each: an installation's release, of which Kubernetes keeps at most 1 MiB, has all of them. */
function dashboardsOfChart(): Files {
  const files = Object.entries(dashboardFiles(defaultDashboards, defaultAlerts));
  return Object.fromEntries(
    files
      .filter(([name]) => /^fairlead-[a-z]+\.json$/.test(name))
      .map(([name, text]) => [`files/dashboards/${name}`, `${JSON.stringify(JSON.parse(text))}\n`]),
  );
}
