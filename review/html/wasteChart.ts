import { type Html, html } from "../../exporter/publish/http/html.ts";
import type { Review } from "../document/review.ts";
import { shownStages, wasteTable } from "../sections/waste.ts";
import { place } from "./geometry.ts";
import { table } from "./table.ts";

const width = 400;

/** The waterfall: a table whose rows have bars. A loss begins where the next level ends. */
export function wasteChart(review: Review): Html {
  const stages = shownStages(review);
  const all = stages[0]?.gpuHours ?? 0;
  const scale = (amount: number): number => (all > 0 ? (width * amount) / all : 0);
  const bars: readonly Html[] = stages.flatMap(({ level, gpuHours, drops }) => {
    let left = gpuHours;
    return [
      bar(level === "active" ? "bar-good" : "bar-level", 0, scale(gpuHours)),
      ...drops.map((drop) => {
        left -= drop.gpuHours;
        return bar(
          drop.state === "unobserved" ? "bar-unknown" : "bar-lost",
          scale(Math.max(0, left)),
          scale(drop.gpuHours),
        );
      }),
    ];
  });
  return html`${table(wasteTable(review), { most: 40, picture: { heading: "", of: (_row, i) => bars[i] ?? html`` } })}`;
}

/** The table says the same in numbers, so that nobody needs to hear of a bar. */
function bar(look: string, from: number, length: number): Html {
  if (length <= 0) return html``;
  return html`<svg viewBox="0 0 ${width} 14" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="${look}" x="${place(from)}" y="0" width="${place(Math.max(1, length))}" height="14"/></svg>`;
}
