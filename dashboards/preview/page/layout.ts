import type { Panel, TopPanel } from "./dashboardJson.ts";

/** Grafana's grid: 24 columns, cells of 30 px, 8 px between them. */
export const grid = { columns: 24, cell: 30, gap: 8 } as const;

/** A panel and its place, in pixels. */
export interface PlacedPanel {
  readonly panel: Panel;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The panels with all collapsed rows opened: what follows an opened row moves down by the height of the row's panels. */
function openRows(panels: readonly TopPanel[]): readonly Panel[] {
  const inOrder = panels.toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x);
  let moved = 0;
  return inOrder.flatMap((panel): readonly Panel[] => {
    const down = (one: Panel, by: number): Panel => ({ ...one, gridPos: { ...one.gridPos, y: one.gridPos.y + by } });
    const row = down(panel, moved);
    if (panel.type !== "row" || panel.panels.length === 0) return [row];
    const begin = panel.gridPos.y + 1;
    // Some dashboards have the panels of a closed row at places relative to it, and some at their places after it is opened.
    const first = Math.min(...panel.panels.map(({ gridPos }) => gridPos.y));
    const inside = panel.panels.map((one) => down(one, begin - first + moved));
    moved += Math.max(...panel.panels.map(({ gridPos }) => gridPos.y + gridPos.h)) - first;
    return [{ ...row, collapsed: false }, ...inside];
  });
}

/** Width below which Grafana places all panels below one another, in pixels. */
const leastForColumns = 769;

/** All panels below one another, each as wide as the page. */
function stacked(panels: readonly Panel[], width: number): readonly PlacedPanel[] {
  let top = 0;
  return panels
    .toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)
    .map((panel) => {
      const { h } = panel.gridPos;
      const placed = { panel, left: 0, top, width, height: h * grid.cell + (h - 1) * grid.gap };
      top += h * (grid.cell + grid.gap);
      return placed;
    });
}

/** The place of each panel on a page of this width; `rows` says whether closed rows are opened. */
export function placePanels(
  panels: readonly TopPanel[],
  width: number,
  rows: "as-they-are" | "open",
): readonly PlacedPanel[] {
  const shown = rows === "open" ? openRows(panels) : panels;
  if (width < leastForColumns) return stacked(shown, width);
  const column = (width - (grid.columns - 1) * grid.gap) / grid.columns;
  return shown.map((panel) => {
    const { x, y, w, h } = panel.gridPos;
    return {
      panel,
      left: x * (column + grid.gap),
      top: y * (grid.cell + grid.gap),
      width: w * column + (w - 1) * grid.gap,
      height: h * grid.cell + (h - 1) * grid.gap,
    };
  });
}

/** The height in pixels of all panels together. */
export function heightOf(placed: readonly PlacedPanel[]): number {
  return Math.max(0, ...placed.map(({ top, height }) => top + height));
}
