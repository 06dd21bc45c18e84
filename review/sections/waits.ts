import type { Review } from "../document/review.ts";
import type { WaitRow } from "../document/use.ts";
import { nameText, sizeText } from "../words/names.ts";
import { figure, numberColumn, type Table, tableOf } from "./section.ts";

/** The table of waits by the size and priority of the work. */
export const waitsBySize = ({ waits }: Review): Table | null =>
  waitTable(waits?.bySize, "waits_by_size", "By size and priority", "size", ({ sizeClass, priorityClass: name }) => {
    const priority = name === "" ? ", no priority class" : `, priority ${nameText(name ?? "")}`;
    return `${sizeText(sizeClass)}${name === null ? "" : priority}`;
  });

/** The table of waits by queue. */
export const waitsByQueue = ({ waits }: Review): Table | null =>
  waitTable(waits?.byQueue, "waits_by_queue", "By queue", "queue", ({ queue }) =>
    queue === null ? "all queues" : queue === "" ? "no queue" : nameText(queue),
  );

function waitTable(
  waits: readonly WaitRow[] | undefined,
  section: string,
  caption: string,
  rowHeading: string,
  nameOf: (row: WaitRow) => string,
): Table | null {
  return tableOf(waits, [], {
    section,
    caption,
    rowHeading,
    row: (row) => ({ item: nameOf(row), cluster: "", head: nameOf(row) }),
    columns: [
      [numberColumn("waits"), ({ count }) => figure("waits", "count", count)],
      [numberColumn("half within"), ({ p50Seconds }) => figure("wait_p50", "s", p50Seconds)],
      [numberColumn("95 % within"), ({ p95Seconds }) => figure("wait_p95", "s", p95Seconds)],
    ],
  });
}
