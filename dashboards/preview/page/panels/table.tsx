import { TableCellHeight } from "@grafana/schema";
import { TableNG } from "@grafana/ui/unstable";
import { z } from "zod";
import { fieldConfigOf } from "../fieldConfig.ts";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, oneOf } from "./option.ts";

const sorting = z.array(z.object({ displayName: z.string(), desc: z.boolean().default(false) })).catch([]);

/** A table, by Grafana's `TableNG`. It shows the first frame, as Grafana does. */
export function TablePanel({ panel, frames, width, height, timeRange }: DrawnPanel) {
  const [frame] = frames;
  if (frame === undefined) return null;
  return (
    <TableNG
      data={frame}
      width={width}
      height={height}
      noHeader={!flag(panel.options, "showHeader", true)}
      resizable={false}
      sortBy={sorting.parse(panel.options.sortBy)}
      cellHeight={oneOf(panel.options, "cellHeight", [TableCellHeight.Sm, TableCellHeight.Md, TableCellHeight.Lg])}
      enablePagination={flag(panel.options, "enablePagination", false)}
      timeRange={timeRange}
      structureRev={1}
      fieldConfig={fieldConfigOf(panel)}
    />
  );
}
