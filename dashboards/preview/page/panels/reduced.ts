import { type FieldDisplay, getFieldDisplayValues } from "@grafana/data";
import { fieldConfigOf } from "../fieldConfig.ts";
import type { DrawnPanel } from "./drawnPanel.ts";
import { flag, numberOption, part, textOption, texts } from "./option.ts";

/** Values that a stat or a bar gauge shows: one for each series, or one for each row. */
export function reducedValues({ panel, frames, theme, replace }: DrawnPanel, sparkline: boolean): FieldDisplay[] {
  const reduce = part(panel.options, "reduceOptions");
  const limit = numberOption(reduce, "limit");
  const calcs = [...texts(reduce, "calcs")];
  return getFieldDisplayValues({
    fieldConfig: fieldConfigOf(panel),
    reduceOptions: {
      values: flag(reduce, "values", false),
      calcs: calcs.length > 0 ? calcs : ["lastNotNull"],
      fields: textOption(reduce, "fields") ?? "",
      ...(limit === undefined ? {} : { limit }),
    },
    replaceVariables: replace,
    theme,
    data: frames,
    sparkline,
    timeZone: "utc",
  });
}
