import type { DatabaseSync } from "node:sqlite";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { WorkloadKey } from "../posting.ts";
import { type Progress, progressIn, progressKind } from "../rememberedProgress.ts";
import { textIn } from "./sqliteRow.ts";

/** The progress that a workload itself has reported since Fairlead saw it first, and the cost of each unit. */
export interface WorkloadProgress {
  /** Units of progress, above 0. */
  readonly madeUnits: number;
  /** Cost of one unit by currency. */
  readonly costPerUnit: Readonly<Record<string, number>>;
}

/**
 * Finds the progress of a workload that a ledger remembers; `null` for workloads that report none, made none, or have been gone
 * for a day.
 */
export function readWorkloadProgress(db: DatabaseSync): (workload: WorkloadKey) => WorkloadProgress | null {
  const rows = db
    .prepare("SELECT key, value FROM remembered WHERE kind = ?")
    .all(progressKind)
    .map((row) => ({ kind: progressKind, key: textIn(row, "key"), value: textIn(row, "value") }));
  const byName = new Map<string, Progress>();
  for (const progress of progressIn(rows).known) {
    const name = nameOf(progress.key);
    // If several workloads had the same name one after the other, the last one is meant.
    if ((byName.get(name)?.seenAt ?? Number.NEGATIVE_INFINITY) < progress.seenAt) byName.set(name, progress);
  }
  return (workload) => {
    const progress = byName.get(nameOf(workload));
    if (progress === undefined || !(progress.madeUnits > 0)) return null;
    const costPerUnit = bareRecord<number>();
    for (const [currency, cost] of progress.costs) costPerUnit[currency] = cost / progress.madeUnits;
    return { madeUnits: progress.madeUnits, costPerUnit };
  };
}

const nameOf = ({ kind, namespace, name }: WorkloadKey): string => JSON.stringify([kind, namespace, name]);
