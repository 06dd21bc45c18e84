/** The dashboards, by the names that alerts and links know them by. */
export const dashboardNames = ["fleet", "team", "fairness", "waste", "cost", "review", "exporter"] as const;
export type DashboardName = (typeof dashboardNames)[number];

/** The fixed identity of a dashboard, the same in every Grafana: addresses that people keep stay valid. */
export function dashboardUid(name: DashboardName): string {
  return `fairlead-${name}`;
}
