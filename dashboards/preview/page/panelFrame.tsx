import { dateTime, type GrafanaTheme2, type TimeRange } from "@grafana/data";
import { PanelChrome } from "@grafana/ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Panel } from "./dashboardJson.ts";
import { interpolate } from "./interpolate.ts";
import type { PlacedPanel } from "./layout.ts";
import { builtInOf, loadPanelData, type PageContext, type PanelData } from "./panelData.ts";
import { BarChartPanel } from "./panels/barChart.tsx";
import { BarGaugePanel } from "./panels/barGauge.tsx";
import type { DrawnPanel } from "./panels/drawnPanel.ts";
import { HeatmapPanel } from "./panels/heatmap.tsx";
import { StatPanel } from "./panels/stat.tsx";
import { StateTimelinePanel } from "./panels/stateTimeline.tsx";
import { TablePanel } from "./panels/table.tsx";
import { TextPanel } from "./panels/text.tsx";
import { TimeSeriesPanel } from "./panels/timeSeries.tsx";

const visualizations: Readonly<Record<string, (drawn: DrawnPanel) => ReactNode>> = {
  stat: StatPanel,
  bargauge: BarGaugePanel,
  timeseries: TimeSeriesPanel,
  table: TablePanel,
  text: TextPanel,
  barchart: BarChartPanel,
  "state-timeline": StateTimelinePanel,
  heatmap: HeatmapPanel,
};

/** The visualizations that show by themselves that there is no data. */
const saysNothingItself = new Set(["stat", "bargauge", "text"]);

function timeRangeOf({ span }: PageContext, panel: Panel): TimeRange {
  const [, count, unit] = /^(?:now-)?(\d+)([smhdw])$/.exec(panel.timeFrom ?? "") ?? [];
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[unit ?? ""];
  const from = count === undefined || seconds === undefined ? span.from : span.to - Number(count) * seconds;
  const [begin, end] = [dateTime(from * 1000).utc(), dateTime(span.to * 1000).utc()];
  return { from: begin, to: end, raw: { from: begin, to: end } };
}

/**
 * Selectors of the elements that exist once a visualization has drawn, for those that draw some time after they were mounted.
 */
const drawnBy: Readonly<Record<string, string>> = { table: '[role="gridcell"]', timeseries: "canvas" };

const isNothing = (loaded: Loaded): boolean =>
  loaded === null || "error" in loaded || loaded.data.frames.every(({ length }) => length === 0);

type Loaded = { readonly data: PanelData } | { readonly error: string } | null;

/** One panel in its place, in Grafana's `PanelChrome`. Its `data-ready` shows that it has been drawn. */
export function PanelFrame({
  placed,
  context,
  theme,
}: {
  placed: PlacedPanel;
  context: PageContext;
  theme: GrafanaTheme2;
}) {
  const { panel, left, top, width, height } = placed;
  const [loaded, setLoaded] = useState<Loaded>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    loadPanelData(panel, context, width).then(
      (data) => setLoaded({ data }),
      (error: unknown) => setLoaded({ error: error instanceof Error ? error.message : String(error) }),
    );
  }, [panel, context, width]);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (loaded === null) return;
    const awaited = isNothing(loaded) ? undefined : drawnBy[panel.type];
    const deadline = Date.now() + 15_000;
    let timer = 0;
    const look = (): void => {
      const isDrawn = awaited === undefined || place.current?.querySelector(awaited) != null || Date.now() > deadline;
      timer = window.setTimeout(isDrawn ? () => requestAnimationFrame(() => setReady(true)) : look, isDrawn ? 300 : 50);
    };
    look();
    return () => window.clearTimeout(timer);
  }, [loaded, panel.type]);
  const builtIn = builtInOf(context.span, context.scrapeSeconds, context.scrapeSeconds);
  const replace = (text: string): string => interpolate(text, context.variables, builtIn);
  const rows =
    loaded !== null && "data" in loaded ? loaded.data.frames.reduce((sum, frame) => sum + frame.length, 0) : 0;
  const marks = {
    "data-panel": panel.id,
    "data-type": panel.type,
    "data-title": replace(panel.title),
    "data-rows": rows,
    ...(loaded !== null && "data" in loaded ? { "data-series": loaded.data.series } : {}),
    ...(loaded !== null && "error" in loaded ? { "data-error": loaded.error } : {}),
    ...(isReady ? { "data-ready": "yes" } : {}),
  };
  return (
    <div ref={place} {...marks} style={{ position: "absolute", left, top, width, height }}>
      <PanelChrome
        title={replace(panel.title)}
        description={panel.description}
        width={width}
        height={height}
        padding={panel.type === "table" ? "none" : "md"}
        displayMode={panel.transparent ? "transparent" : "default"}
      >
        {(innerWidth, innerHeight) =>
          content(loaded, {
            panel,
            width: innerWidth,
            height: innerHeight,
            theme,
            timeRange: timeRangeOf(context, panel),
            replace,
            frames: [],
          })
        }
      </PanelChrome>
    </div>
  );
}

function content(loaded: Loaded, drawn: DrawnPanel): ReactNode {
  if (loaded === null) return null;
  if ("error" in loaded) return <Said words={loaded.error} drawn={drawn} />;
  const { frames } = loaded.data;
  const Visualization = visualizations[drawn.panel.type];
  if (Visualization === undefined)
    return <Said words={`the preview does not draw ${drawn.panel.type}`} drawn={drawn} />;
  const isEmpty = frames.every(({ length }) => length === 0);
  if (isEmpty && !saysNothingItself.has(drawn.panel.type)) {
    const { noValue } = drawn.panel.fieldConfig.defaults;
    return <Said words={typeof noValue === "string" ? noValue : "No data"} drawn={drawn} />;
  }
  return <Visualization {...drawn} frames={frames} />;
}

function Said({ words, drawn }: { words: string; drawn: DrawnPanel }) {
  const { width, height, theme } = drawn;
  return (
    <div
      style={{
        width,
        height,
        display: "flex",
        alignItems: "center",
        justifyContent: "center",
        textAlign: "center",
        color: theme.colors.text.secondary,
      }}
    >
      {words}
    </div>
  );
}
