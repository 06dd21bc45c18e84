import type { ExportRow } from "../../accounts/ledger/exportQuery.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";

/** Columns of an export in Fairlead's own names. */
const exportColumns = [
  "cluster",
  "from",
  "to",
  "team",
  "queue",
  "namespace",
  "workloadKind",
  "workload",
  "priorityClass",
  "pool",
  "nodePool",
  "capacityType",
  "state",
  "isCharged",
  "gpuSeconds",
  "activeGpuSeconds",
  "estimatedGpuSeconds",
  "energyJoules",
  "cost",
  "currency",
  "priceBasis",
  "priceSource",
  "progressUnits",
  "costPerProgressUnit",
] as const;

/** A row of an export in Fairlead's own names; nothing is rounded, and what is unknown is `null`. */
type ExportRecord = Readonly<Record<(typeof exportColumns)[number], string | number | boolean | null>>;

/** Turns a row into the record of JSON and CSV, in the order of the columns. */
export function exportRecord(row: ExportRow, cluster: string): ExportRecord {
  const { from, to, team, queue, namespace, workload, priorityClass, ...amounts } = row;
  return {
    cluster,
    from: isoTime(from),
    to: isoTime(to),
    team,
    queue,
    namespace,
    workloadKind: workload?.kind ?? null,
    workload: workload?.name ?? null,
    priorityClass,
    ...amounts,
  };
}

/** The first line of an export as CSV. */
export const exportHeading = csvLine(exportColumns);

/** A row as a line of RFC 4180; what is unknown is empty. */
export function exportLine(record: ExportRecord): string {
  const cells = exportColumns.map((column) => {
    const value = record[column];
    if (typeof value === "number") return csvNumberCell(value);
    return csvTextCell(typeof value === "boolean" ? String(value) : value);
  });
  return csvLine(cells);
}
