import type { ExportRow } from "../../accounts/ledger/exportQuery.ts";
import { csvLine, csvNumberCell, csvTextCell } from "../../kernel/csvLine.ts";
import { isoTime } from "../../kernel/isoTime.ts";

/** Columns of an export in Fairlead's own names. */
export const exportColumns = [
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
export type ExportRecord = Readonly<Record<(typeof exportColumns)[number], string | number | boolean | null>>;

/** A row as JSON and CSV have it. */
export function exportRecord(row: ExportRow, cluster: string): ExportRecord {
  return {
    cluster,
    from: isoTime(row.from),
    to: isoTime(row.to),
    team: row.team,
    queue: row.queue,
    namespace: row.namespace,
    workloadKind: row.workload?.kind ?? null,
    workload: row.workload?.name ?? null,
    priorityClass: row.priorityClass,
    pool: row.pool,
    nodePool: row.nodePool,
    capacityType: row.capacityType,
    state: row.state,
    isCharged: row.isCharged,
    gpuSeconds: row.gpuSeconds,
    activeGpuSeconds: row.activeGpuSeconds,
    estimatedGpuSeconds: row.estimatedGpuSeconds,
    energyJoules: row.energyJoules,
    cost: row.cost,
    currency: row.currency,
    priceBasis: row.priceBasis,
    priceSource: row.priceSource,
    progressUnits: row.progressUnits,
    costPerProgressUnit: row.costPerProgressUnit,
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
