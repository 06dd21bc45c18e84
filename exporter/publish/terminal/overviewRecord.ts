import type { Analysis } from "../../analysis/analysis.ts";
import type { Problem } from "../../model/problem.ts";
import type { Advice } from "../../model/recommendation.ts";
import { momentOf } from "../document/order.ts";
import { layOut, plainTerminal } from "./layout.ts";
import { overviewSections } from "./overview.ts";
import type { OverviewText } from "./overviewSchema.ts";

/** The overview of one moment as plain text, section by section. */
export function overviewRecord(
  analysis: Analysis,
  problems: readonly Problem[],
  advice: Advice,
  columns: number,
): OverviewText {
  return {
    at: momentOf(analysis.snapshot.at),
    sections: overviewSections(analysis, problems, advice, columns).map(({ name, lines }) => ({
      name,
      lines: layOut(lines, { ...plainTerminal, columns }).split("\n"),
    })),
  };
}
