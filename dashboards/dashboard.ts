import type { DashboardName } from "../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../alerts/thresholds.ts";
import type { LabelName } from "../exporter/catalogue/labels.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import type { Unit } from "./panel/units.ts";
import type { Queries } from "./query/queries.ts";
import type { ChosenVariable, VariableName } from "./query/variables.ts";

/** The tools with which a dashboard is made. */
export interface Tools {
  /** Series, narrowed by the dashboard's variables. */
  readonly query: Queries;
  /** The alerts' configuration, which also has the limits of numbers that an alert judges. */
  readonly alerts: AlertsConfig;
  /** Currency of all amounts: `{ currency: tools.currency }` is a matcher of every series of money. */
  readonly currency: string;
  /** The unit of amounts in that currency. */
  readonly money: Unit;
  /**
   * A link from a series to another dashboard, which keeps time, data source and variables. `labels` maps a variable to the
   * label of the series that gives its value.
   */
  readonly seriesLink: (to: DashboardName, title: string, labels: LinkLabels) => ValueLink;
  /** The same link from a cell of a table, with the labels of its row. */
  readonly rowLink: (to: DashboardName, title: string, labels: LinkLabels) => ValueLink;
  /** A link to a page of Fairlead, such as `/recommendations`. */
  readonly page: (path: `/${string}`, title: string) => ValueLink;
  /** A link from a row with the label `id` of a recommendation to the recommendation in Fairlead. */
  readonly recommendationLink: ValueLink;
}

export type LinkLabels = Readonly<Partial<Record<VariableName, LabelName>>>;

/** Panels that belong together. */
export interface Section {
  /** The title in the section's head; `null` without a head, which only the first section may be. */
  readonly title: string | null;
  /** Whether it is closed when the dashboard opens. */
  readonly collapsed: boolean;
  /** The panels from left to right and from top to bottom: each begins a new line where it does not fit into the last. */
  readonly panels: readonly PanelDraft[];
}

/** One dashboard. */
export interface DashboardDefinition {
  readonly name: DashboardName;
  readonly title: string;
  /** The question that it answers, in one sentence. */
  readonly description: string;
  /** The variables that a reader can choose beside data source and cluster, in this order. */
  readonly variables: readonly ChosenVariable[];
  /** The beginning of its time range. */
  readonly from: `now-${number}${"h" | "d"}`;
  /** How often it is reloaded; empty for never. */
  readonly refresh: "" | `${number}${"m" | "h"}`;
  readonly sections: (tools: Tools) => readonly Section[];
}

/** A section without a head, at the top. */
export function opening(...panels: readonly PanelDraft[]): Section {
  return { title: null, collapsed: false, panels };
}

/** A section with a head. */
export function row(title: string, ...panels: readonly PanelDraft[]): Section {
  return { title, collapsed: false, panels };
}

/** A section with a head that is closed when the dashboard opens. */
export function collapsedRow(title: string, ...panels: readonly PanelDraft[]): Section {
  return { title, collapsed: true, panels };
}
