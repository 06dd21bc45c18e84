import type { GrafanaTheme2 } from "@grafana/data";
import { Icon } from "@grafana/ui";
import type { PlacedPanel } from "./layout.ts";

/** The line of a row: open, or closed with the number of panels in it. */
export function RowHeader({ placed, inside, theme }: { placed: PlacedPanel; inside: number; theme: GrafanaTheme2 }) {
  const { panel, left, top, width, height } = placed;
  return (
    <div style={{ position: "absolute", left, top, width, height, display: "flex", alignItems: "center", gap: 8 }}>
      <Icon name={panel.collapsed ? "angle-right" : "angle-down"} />
      <span style={{ fontWeight: 500 }}>{panel.title}</span>
      {panel.collapsed ? <span style={{ color: theme.colors.text.secondary }}>{`(${inside} panels)`}</span> : null}
    </div>
  );
}
