import type { Review } from "../document/review.ts";
import { nameText, sizeText } from "../words/names.ts";
import { figure, numberColumn, type Table, tableOf, textColumn } from "./section.ts";

/** Fewer intervals than this say nothing about how many hold. */
const leastIntervals = 20;

/** The table of how often the times that were given for waiting work have held; `null` where no start is remembered. */
export function startTimesTable({ startTimes, clusters }: Review): Table | null {
  return tableOf(startTimes, clusters, {
    section: "start_times",
    caption:
      "Starts in the time that was foreseen (p10 to p90; 80 % should be), from docs/backtest.md, When will it start",
    rowHeading: "queue",
    row: ({ queue, sizeClass, cluster }) => ({
      item: `${nameText(queue)} / ${sizeText(sizeClass)}`,
      cluster,
      head: nameText(queue),
    }),
    columns: [
      [textColumn("size"), ({ sizeClass }) => [sizeText(sizeClass)]],
      [numberColumn("starts"), ({ starts }) => figure("starts", "count", starts)],
      [numberColumn("with a time"), ({ intervals }) => figure("with_a_time", "count", intervals)],
      [numberColumn("in it"), ({ hits }) => figure("in_time", "count", hits)],
      [
        numberColumn("part"),
        ({ intervals, hits }) => figure("part_in_time", "ratio", intervals < leastIntervals ? null : hits / intervals),
      ],
    ],
  });
}
