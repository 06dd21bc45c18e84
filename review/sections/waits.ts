import type { Review } from "../document/review.ts";
import type { WaitRow } from "../document/use.ts";
import { nameText, sizeText } from "../words/names.ts";
import { numberColumn, type Row, type Table } from "./section.ts";

const columns = [numberColumn("waits"), numberColumn("half within"), numberColumn("95 % within")];

/** Waits by what the work asked for. */
export function waitsBySize({ waits }: Review): Table | null {
  if (waits === null) return null;
  const rows = waits.bySize.map((row): Row => {
    const priority =
      row.priorityClass === null
        ? ""
        : `, ${row.priorityClass === "" ? "no priority class" : `priority ${nameText(row.priorityClass)}`}`;
    return waitRow(row, `${sizeText(row.sizeClass)}${priority}`);
  });
  return { section: "waits_by_size", caption: "By size and priority", rowHeading: "size", columns, rows };
}

/** Waits by queue. */
export function waitsByQueue({ waits }: Review): Table | null {
  if (waits === null) return null;
  const rows = waits.byQueue.map((row) =>
    waitRow(row, row.queue === null ? "all queues" : row.queue === "" ? "no queue" : nameText(row.queue)),
  );
  return { section: "waits_by_queue", caption: "By queue", rowHeading: "queue", columns, rows };
}

function waitRow({ count, p50Seconds, p95Seconds }: WaitRow, head: string): Row {
  return {
    item: head,
    cluster: "",
    head,
    cells: [
      [{ measure: "waits", unit: "count", value: count }],
      [{ measure: "wait_p50", unit: "s", value: p50Seconds }],
      [{ measure: "wait_p95", unit: "s", value: p95Seconds }],
    ],
  };
}
