import { dashboardUid } from "../../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../../alerts/thresholds.ts";
import { dashboardList } from "../dashboardList.ts";
import { finalize } from "../finalize.ts";
import type { DashboardsConfig } from "../settings.ts";
import { provisioningFiles } from "./provisioning.ts";

/** A file that is written, by its path below the folder of outputs. */
export type DashboardFiles = Readonly<Record<string, string>>;

/** All files: a dashboard each, and examples of what makes Grafana read them. */
export function dashboardFiles(config: DashboardsConfig, alerts: AlertsConfig): DashboardFiles {
  const dashboards = dashboardList.map((definition) => [
    `${dashboardUid(definition.name)}.json`,
    `${JSON.stringify(finalize(definition, config, alerts), null, 2)}\n`,
  ]);
  return { ...Object.fromEntries(dashboards), ...provisioningFiles(config) };
}
