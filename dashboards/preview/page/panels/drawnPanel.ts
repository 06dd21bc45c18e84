import type { DataFrame, GrafanaTheme2, TimeRange } from "@grafana/data";
import type { Panel } from "../dashboardJson.ts";

/** The input of a visualization. */
export interface DrawnPanel {
  readonly panel: Panel;
  readonly frames: DataFrame[];
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  /** Replaces the variables in a text by their values. */
  readonly replace: (text: string) => string;
}
