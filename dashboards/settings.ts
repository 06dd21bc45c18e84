import { z } from "zod";

/** A point of time in the format of Grafana's time picker. */
const point = z
  .string()
  .regex(/^now(-\d{1,4}[smhdwMy])?(\/[hdwMy])?$/, "expected a time of Grafana, such as now-24h or now/d");

const refresh = z
  .string()
  .regex(/^$|^[1-9]\d{0,3}[smhd]$/, "expected a length of time such as 1m, or nothing for no refresh");

const url = z.url({ protocol: /^https?$/ }).max(500);

/** The uid of a dashboard, by which Grafana names it in addresses. */
const uid = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,40}$/, "expected the uid of a dashboard, as in its address after /d/")
  .optional();

/** The settings of the dashboards; thresholds and the label of clusters are those of the alerts. */
export const dashboardsSchema = z.strictObject({
  datasource: z
    .string()
    .min(1)
    .max(200)
    .default("default")
    .describe("Name or uid of the Prometheus data source that is chosen first; `default`: Grafana's own default."),
  prometheusUrl: url
    .default("http://prometheus:9090")
    .describe("Where Grafana reaches Prometheus; only for the example that provisions a data source."),
  severalClusters: z
    .boolean()
    .default(false)
    .describe("Whether the data source holds several clusters: then legends and tables name the cluster, too."),
  currency: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,15}$/, "expected a short word such as USD")
    .default("USD")
    .describe("Currency of your prices. Amounts in other currencies are not shown: they are never added up."),
  from: point.optional().describe("Begin of the time range; default: each dashboard's own."),
  to: point.default("now").describe("End of the time range."),
  refresh: refresh.optional().describe("How often a dashboard is loaded anew; default: each dashboard's own."),
  timezone: z
    .string()
    .regex(/^(browser|utc|[A-Za-z_]+(\/[A-Za-z_+-]+){1,2})$/, "expected browser, utc or a name such as Europe/Berlin")
    .default("browser")
    .describe("Time zone of the dashboards."),
  gpuDashboard: uid.describe(
    "Uid of your dashboard for single GPUs, such as that of dcgm-exporter (12239 at grafana.com): then fleet, waste and health link to it.",
  ),
  nodeDashboard: uid.describe(
    "Uid of your dashboard for single nodes, such as that of node_exporter: then fleet, waste and health link to it.",
  ),
  folder: z.string().min(1).max(100).default("Fairlead").describe("Folder of Grafana that holds the dashboards."),
  path: z
    .string()
    .min(1)
    .max(500)
    .default("/var/lib/grafana/dashboards/fairlead")
    .describe("Where Grafana finds the files; only for the example that provisions them."),
});

export type DashboardsConfig = z.infer<typeof dashboardsSchema>;

/** The settings with everything at its default. */
export const defaultDashboards: DashboardsConfig = dashboardsSchema.parse({});
