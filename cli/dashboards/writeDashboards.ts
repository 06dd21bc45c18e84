import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { dashboardFiles } from "../../dashboards/output/dashboardFiles.ts";
import { dashboardsSchema, defaultDashboards } from "../../dashboards/settings.ts";
import { readSettings, writeFiles } from "../generatedFiles.ts";
import type { ExitCode, Io } from "../io.ts";
import { printable } from "../printable.ts";

/** Options of `fairlead dashboards`. */
export interface WriteDashboardsOptions {
  /** Path of the configuration of the dashboards; `null`: everything is at its default. */
  readonly configFile: string | null;
  /**
   * Path of the configuration of the alerts, which has the limits that colour numbers and the label of clusters; `null`:
   * everything is at its default.
   */
  readonly alertsFile: string | null;
  readonly output: string;
}

/** `fairlead dashboards`: writes the dashboards, or says all that is wrong with both configurations and writes nothing. */
export async function writeDashboards(
  { configFile, alertsFile, output }: WriteDashboardsOptions,
  io: Io,
): Promise<ExitCode> {
  const config = configFile === null ? defaultDashboards : await readSettings(configFile, dashboardsSchema, io);
  const alerts = alertsFile === null ? defaultAlerts : await readSettings(alertsFile, alertsSchema, io);
  if (config === null || alerts === null) return 1;
  if (!(await writeFiles(dashboardFiles(config, alerts), output, io))) return 1;
  io.out(
    printable(
      `Next step: import a fairlead-*.json in Grafana, or put them all where it finds them: ${output}/provisioning has an example.\nThey read recorded series: give Prometheus the rules of \`fairlead alerts\`, too.\n`,
    ),
  );
  return 0;
}
