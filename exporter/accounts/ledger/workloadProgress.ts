import type { DatabaseSync } from "node:sqlite";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { WorkloadKey } from "../posting.ts";
import { type Progress, progressIn, progressKind } from "../rememberedProgress.ts";
import { textIn } from "./sqliteRow.ts";

/** What a workload has made by its own account since Fairlead saw it first, and what each unit of it cost. */
export interface WorkloadProgress {
  /** Above 0. */
  readonly madeUnits: number;
  /** By currency. */
  readonly costPerUnit: Readonly<Record<string, number>>;
}

/** Finds the progress that a ledger remembers of workloads; `null` for those that say none, made none, or have been gone for a day. */
export function readWorkloadProgress(db: DatabaseSync): (workload: WorkloadKey) => WorkloadProgress | null {
  const rows = db
    .prepare("SELECT key, value FROM remembered WHERE kind = ?")
    .all(progressKind)
    .map((row) => ({ kind: progressKind, key: textIn(row, "key"), value: textIn(row, "value") }));
  const byName = new Map<string, Progress>();
  for (const progress of progressIn(rows).known) {
    const name = nameOf(progress.key);
    // Of several that came one after the other, the last one is meant.
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
