import "@fontsource/inter/400.css";
import "@fontsource/inter/500.css";
import "@fontsource/inter/600.css";
import "@fontsource/roboto-mono/400.css";
import {
  createTheme,
  type DurationUnit,
  dateTime,
  dateTimeFormat,
  type GrafanaTheme2,
  setTimeZoneResolver,
  ThemeContext,
} from "@grafana/data";
import { GlobalStyles, Icon, PortalContainer } from "@grafana/ui";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { type Dashboard, dashboardSchema } from "./dashboardJson.ts";
import { inspectPanels } from "./inspectPanels.ts";
import { heightOf, type PlacedPanel, placePanels } from "./layout.ts";
import { builtInOf, type PageContext, secondsOf } from "./panelData.ts";
import { PanelFrame } from "./panelFrame.tsx";
import { type Span, setVariables } from "./variables.ts";

/** Height of the title and the variables, which are above the panels, in pixels. */
const headHeight = 84;
const padding = 16;

/** Seconds since the epoch of `now-7d`, `now/M` and the like, in UTC; `null` for any other text. */
function moment(text: string, now: number): number | null {
  const [, ago, unit] = /^now(?:-(\d+[smhdw]))?(?:\/([hdwM]))?$/.exec(text) ?? [];
  if (!text.startsWith("now")) return null;
  const at = now - (ago === undefined ? 0 : (secondsOf(ago) ?? 0));
  const spans: Readonly<Record<string, DurationUnit>> = { h: "h", d: "d", w: "w", M: "M" };
  const whole = unit === undefined ? undefined : spans[unit];
  return whole === undefined
    ? at
    : dateTime(at * 1000)
        .utc()
        .startOf(whole)
        .valueOf() / 1000;
}

/** The span that is shown as of `now`, seconds since the epoch: from the address if that names one, else from the dashboard. */
function spanOf({ time }: Dashboard, asked: URLSearchParams, now: number): Span {
  return { from: moment(asked.get("from") ?? time.from, now) ?? now - 6 * 3600, to: now };
}

/** The width of the window, which is updated when the window is resized. */
function useWindowWidth(): number {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  useEffect(() => {
    const look = (): void => setWidth(document.documentElement.clientWidth);
    window.addEventListener("resize", look);
    look(); // it may have been resized before anybody listened
    return () => window.removeEventListener("resize", look);
  }, []);
  return width;
}

/** The page as of now, which is updated after each `refreshSeconds`; with `null` it stays as it was first. */
function LivePage({
  first,
  contextNow,
  refreshSeconds,
  ...page
}: {
  dashboard: Dashboard;
  rows: "as-they-are" | "open";
  first: PageContext;
  contextNow: () => Promise<PageContext>;
  refreshSeconds: number | null;
}) {
  const [context, setContext] = useState(first);
  useEffect(() => {
    if (refreshSeconds === null) return;
    let timer = 0;
    const goOn = (): void => {
      timer = window.setTimeout(() => {
        // A server that does not answer now may answer the next time; until then the last answers are shown.
        contextNow()
          .then(setContext, () => undefined)
          .finally(goOn);
      }, refreshSeconds * 1000);
    };
    goOn();
    return () => window.clearTimeout(timer);
  }, [contextNow, refreshSeconds]);
  return <Page {...page} context={context} />;
}

function Page({
  dashboard,
  context,
  rows,
}: {
  dashboard: Dashboard;
  context: PageContext;
  rows: "as-they-are" | "open";
}) {
  const { theme, span, variables } = context;
  const placed = placePanels(dashboard.panels, useWindowWidth() - 2 * padding, rows);
  const when = (at: number): string => dateTimeFormat(at * 1000, { format: "YYYY-MM-DD HH:mm", timeZone: "utc" });
  const pill = {
    border: `1px solid ${theme.colors.border.medium}`,
    borderRadius: 2,
    padding: "0 8px",
    lineHeight: "28px",
    background: theme.colors.background.primary,
  } as const;
  return (
    <div
      style={{
        padding: `0 ${padding}px ${padding}px`,
        background: theme.colors.background.canvas,
        color: theme.colors.text.primary,
        minHeight: "100vh",
      }}
    >
      <div style={{ minHeight: headHeight, overflow: "hidden" }}>
        <div style={{ display: "flex", flexWrap: "wrap", justifyContent: "space-between", lineHeight: "40px" }}>
          <span style={{ fontSize: 16, fontWeight: 500 }}>{dashboard.title}</span>
          <span data-until={span.to} style={{ color: theme.colors.text.secondary }}>
            {`${when(span.from)} to ${when(span.to)} UTC`}
          </span>
        </div>
        <div style={{ display: "flex", flexWrap: "wrap", gap: 8, paddingBottom: 8 }}>
          {variables
            .filter(({ isHidden }) => !isHidden)
            .map(({ name, label, text }) => (
              <span key={name} style={pill}>
                <b style={{ fontWeight: 500, color: theme.colors.text.secondary }}>{label}</b> {text}
              </span>
            ))}
        </div>
      </div>
      <div style={{ position: "relative", height: heightOf(placed) }}>
        {placed.map((one) =>
          one.panel.type === "row" ? (
            <RowHeader
              key={one.panel.id}
              placed={one}
              theme={theme}
              inside={dashboard.panels.find(({ id }) => id === one.panel.id)?.panels.length ?? 0}
            />
          ) : (
            <PanelFrame key={one.panel.id} placed={one} context={context} theme={theme} />
          ),
        )}
      </div>
      <PortalContainer />
    </div>
  );
}

/** The line of a row: open, or closed with the number of its panels. */
function RowHeader({ placed, inside, theme }: { placed: PlacedPanel; inside: number; theme: GrafanaTheme2 }) {
  const { panel, left, top, width, height } = placed;
  return (
    <div style={{ position: "absolute", left, top, width, height, display: "flex", alignItems: "center", gap: 8 }}>
      <Icon name={panel.collapsed ? "angle-right" : "angle-down"} />
      <span style={{ fontWeight: 500 }}>{panel.title}</span>
      {panel.collapsed ? <span style={{ color: theme.colors.text.secondary }}>{`(${inside} panels)`}</span> : null}
    </div>
  );
}

/**
 * Draws the dashboard. The address contains `theme`, `now` (seconds since the epoch), `from` (such as `now-15m`), `refresh` and
 * `scrape` (seconds), `rows` and the variables (`var-NAME`). Without `theme` the browser's preference decides, and without
 * `now` the page follows the time.
 */
async function start(): Promise<void> {
  setTimeZoneResolver(() => "utc");
  const asked = new URLSearchParams(window.location.search);
  const wanted = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const theme = createTheme({ colors: { mode: (asked.get("theme") ?? wanted) === "dark" ? "dark" : "light" } });
  const response = await fetch(`dashboards/${encodeURIComponent(asked.get("dashboard") ?? "")}`);
  const dashboard = dashboardSchema.parse(await response.json());
  const scrapeSeconds = Number(asked.get("scrape") ?? 60);
  const contextNow = async (): Promise<PageContext> => {
    const span = spanOf(dashboard, asked, Number(asked.get("now") ?? Date.now() / 1000));
    const builtIn = builtInOf(span, scrapeSeconds, scrapeSeconds);
    const variables = await setVariables(dashboard.templating.list, asked, builtIn, span);
    return { span, scrapeSeconds, variables, theme };
  };
  const root = document.getElementById("root");
  if (root === null) throw new Error("the page has no root");
  const refresh = asked.get("refresh");
  const page = {
    dashboard,
    rows: asked.get("rows") === "open" ? "open" : "as-they-are",
    first: await contextNow(),
    contextNow,
    refreshSeconds: refresh === null ? null : Number(refresh),
  } as const;
  createRoot(root).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <LivePage {...page} />
    </ThemeContext.Provider>,
  );
}

Object.assign(window, { inspectPanels });
await document.fonts.ready;
start().catch((error: unknown) => {
  (document.getElementById("root") ?? document.body).textContent = String(error);
  document.documentElement.dataset.failed = String(error);
});
