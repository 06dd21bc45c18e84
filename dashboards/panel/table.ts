import type { Options } from "@grafana/grafana-foundation-sdk/table";
import type { Plain } from "../grafana/plain.ts";
import type { OverrideJson } from "../grafana/types.ts";
import type { PanelDraft, Size, ValueLink } from "./draft.ts";
import { type Rows, rowOverrides, rowsText, rowTargets, rowTransformations } from "./rows.ts";

export interface TablePanel<Labels extends string> extends Rows<Labels> {
  readonly title: string;
  readonly meaning: string;
  readonly size: Size;
  /** Title of the column by which rows are sorted, the largest first. */
  readonly sortBy: string;
  /** Titles of columns: rows in which all of them are 0, or not known, are left out. */
  readonly nonZero?: readonly string[];
  /** The most rows that are shown. */
  readonly first?: number;
  /** The links from the cells of a label. */
  readonly links?: Readonly<Partial<Record<Labels, ValueLink>>>;
  /** The width of columns in pixels, by their title; the others share the rest. */
  readonly widths?: Readonly<Record<string, number>>;
  /** What it means if there is no row. */
  readonly empty: string;
}

/** A table with one row for each of many things, as of the end of the time range. */
export function table<Labels extends string>(panel: TablePanel<Labels>): PanelDraft {
  const { title, meaning, size, sortBy, links, empty, widths = {}, first, nonZero } = panel;
  return {
    type: "table",
    title,
    description: `${meaning}${rowsText(panel)}`,
    size,
    targets: rowTargets(panel),
    options: {
      frameIndex: 0,
      showHeader: true,
      cellHeight: "sm",
      sortBy: [{ displayName: sortBy, desc: true }],
      footer: { show: false, reducer: [], countRows: false, fields: "" },
    } satisfies TableOptions,
    fieldConfig: {
      defaults: {
        unit: "string",
        noValue: empty,
        thresholds: { mode: "absolute", steps: [{ value: null, color: "blue" }] },
        mappings: [],
        custom: { align: "auto", cellOptions: { type: "auto" }, filterable: false, inspect: false },
      },
      overrides: [...rowOverrides(panel, links), ...Object.entries(widths).map(widthOverride)],
    },
    transformations: rowTransformations(panel, "kept", {
      first: first === undefined ? undefined : { count: first, by: sortBy },
      nonZero,
    }),
  };
}

function widthOverride([title, width]: readonly [string, number]): OverrideJson {
  return { matcher: { id: "byName", options: title }, properties: [{ id: "custom.width", value: width }] };
}

// The SDK types the fields of the footer as a list; Grafana writes no field as an empty text.
type TableOptions = Omit<Plain<Options>, "footer"> & {
  readonly footer: {
    readonly show: boolean;
    readonly reducer: readonly string[];
    readonly countRows: boolean;
    readonly fields: string;
  };
};
