import type { DataFrame, GrafanaTheme2, TimeRange } from "@grafana/data";
import type { Panel } from "../dashboardJson.ts";

/** What a visualization is given. */
export interface DrawnPanel {
  readonly panel: Panel;
  readonly frames: DataFrame[];
  readonly width: number;
  readonly height: number;
  readonly theme: GrafanaTheme2;
  readonly timeRange: TimeRange;
  /** Puts values for variables into a text. */
  readonly replace: (text: string) => string;
}
