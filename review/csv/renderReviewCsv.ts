import { csvLine, csvTextCell } from "../../exporter/kernel/csvLine.ts";
import { plainDecimal } from "../../exporter/kernel/plainDecimal.ts";
import type { Review } from "../document/review.ts";
import { everyNumber } from "../sections/everyNumber.ts";
import type { Piece } from "../sections/section.ts";
import { unitName } from "../words/figure.ts";

const header = ["section", "cluster", "item", "measure", "unit", "value"] as const;

/**
 * A review as RFC 4180, with one number on each line, which is not rounded. It has all numbers that the pages show, and the
 * steps of their charts.
 */
export function renderReviewCsv(review: Review): string {
  const lines = [csvLine(header)];
  for (const part of everyNumber(review)) {
    if ("pieces" in part) lines.push(...figureLines(part.section, part.cluster, part.item, part.pieces));
    else
      for (const { cluster, item, cells } of part.rows)
        lines.push(...figureLines(part.section, cluster, item, cells.flat()));
  }
  return lines.join("");
}

function figureLines(section: string, cluster: string, item: string, pieces: readonly Piece[]): readonly string[] {
  return pieces.flatMap((piece) => {
    if (typeof piece === "string") return [];
    const { measure, unit, value } = piece;
    const shown = value === null ? "" : typeof value === "string" ? csvTextCell(value) : plainDecimal(value);
    return [csvLine([...[section, cluster, item, measure, unitName(unit)].map(csvTextCell), shown])];
  });
}
