import { type DashboardName, dashboardUid } from "../alerts/dashboardUid.ts";
import type { LinkLabels } from "./dashboard.ts";
import type { LinkJson } from "./grafana/types.ts";
import type { ValueLink } from "./panel/draft.ts";
import { isVariable, type VariableName } from "./query/variables.ts";

/** The tag by which dashboards find each other. */
export const tag = "fairlead";

/** The bar of links to the other dashboards: chosen values and time go along. */
export const linkBar: LinkJson = {
  title: "Fairlead",
  type: "dashboards",
  icon: "external link",
  tooltip: "",
  url: "",
  tags: [tag],
  asDropdown: false,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
};

/**
 * Leads from a value to a dashboard. Variables that the labels do not give keep what is chosen; Grafana writes them, and
 * encodes all.
 */
export function valueLink(
  to: DashboardName,
  title: string,
  labels: LinkLabels,
  from: { readonly variables: readonly VariableName[]; readonly at: "series" | "row" },
): ValueLink {
  const given = Object.entries(labels).flatMap(([variable, label]) =>
    label === undefined || !isVariable(variable)
      ? []
      : [`var-${variable}=\${${place[from.at]}.${label}:percentencode}`],
  );
  const kept = from.variables
    .filter((variable) => labels[variable] === undefined)
    .map((variable) => `\${${variable}:queryparam}`);
  const query = [`\${datasource:queryparam}`, ...kept, ...given, `\${__url_time_range}`];
  return { title, url: `/d/${dashboardUid(to)}?${query.join("&")}` };
}

/** Leads to a page of Fairlead. */
export function pageLink(fairleadUrl: string, path: string, title: string): ValueLink {
  return { title, url: `${fairleadUrl.replace(/\/+$/, "")}${path}` };
}

/** Leads from a row to the recommendation that it names. */
export function recommendationLink(fairleadUrl: string): ValueLink {
  return pageLink(fairleadUrl, `/recommendations/\${__data.fields.id:percentencode}`, "What to do, in Fairlead");
}

const place = { series: "__field.labels", row: "__data.fields" } as const;
