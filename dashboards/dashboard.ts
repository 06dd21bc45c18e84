import type { DashboardName } from "../alerts/dashboardUid.ts";
import type { AlertsConfig } from "../alerts/thresholds.ts";
import type { LabelName } from "../exporter/catalogue/labels.ts";
import type { PanelDraft, ValueLink } from "./panel/draft.ts";
import type { Unit } from "./panel/units.ts";
import type { Queries } from "./query/queries.ts";
import type { ChosenVariable, VariableName } from "./query/variables.ts";

/** What a dashboard is made with. */
export interface Tools {
  /** Series, narrowed by the dashboard's variables. */
  readonly query: Queries;
  /** The alerts' configuration: the limits of numbers that an alert judges, too. */
  readonly alerts: AlertsConfig;
  /** Currency of all amounts: `{ currency: tools.currency }` is a matcher of every series of money. */
  readonly currency: string;
  /** Amounts in that currency. */
  readonly money: Unit;
  /**
   * Leads from a series to another dashboard; time, data source and variables go along. `labels`: variable -> the label of the
   * series that gives its value.
   */
  readonly seriesLink: (to: DashboardName, title: string, labels: LinkLabels) => ValueLink;
  /** The same from a cell of a table: from any column of its row. */
  readonly rowLink: (to: DashboardName, title: string, labels: LinkLabels) => ValueLink;
  /** Leads to a page of Fairlead, such as `/recommendations`. */
  readonly page: (path: `/${string}`, title: string) => ValueLink;
  /** Leads from a row with the label `id` of a recommendation to the recommendation in Fairlead. */
  readonly recommendationLink: ValueLink;
}

export type LinkLabels = Readonly<Partial<Record<VariableName, LabelName>>>;

/** Panels that are together. */
export interface Section {
  /** `null`: without a row's head; only the first one. */
  readonly title: string | null;
  /** Whether it is closed when the dashboard opens. */
  readonly collapsed: boolean;
  /** From left to right and from top to bottom: each begins a new line where it does not fit into the last. */
  readonly panels: readonly PanelDraft[];
}

/** One dashboard. */
export interface DashboardDefinition {
  readonly name: DashboardName;
  readonly title: string;
  /** The question that it answers, in one sentence. */
  readonly description: string;
  /** What a reader can choose beside data source and cluster, in this order. */
  readonly variables: readonly ChosenVariable[];
  /** Begin of its time range. */
  readonly from: `now-${number}${"h" | "d"}`;
  /** How often it is loaded anew; empty for never. */
  readonly refresh: "" | `${number}${"m" | "h"}`;
  readonly sections: (tools: Tools) => readonly Section[];
}

/** Panels without a head, at the top. */
export function opening(...panels: readonly PanelDraft[]): Section {
  return { title: null, collapsed: false, panels };
}

/** Panels below a head. */
export function row(title: string, ...panels: readonly PanelDraft[]): Section {
  return { title, collapsed: false, panels };
}

/** Panels below a head that is closed when the dashboard opens. */
export function collapsedRow(title: string, ...panels: readonly PanelDraft[]): Section {
  return { title, collapsed: true, panels };
}
