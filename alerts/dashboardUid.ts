/** The dashboards, by their names in alerts and links. */
export const dashboardNames = ["fleet", "team", "fairness", "waste", "cost", "review", "exporter"] as const;
export type DashboardName = (typeof dashboardNames)[number];

/** The fixed uid of a dashboard, which is the same in every Grafana, so that addresses that people keep stay valid. */
export function dashboardUid(name: DashboardName): string {
  return `fairlead-${name}`;
}
