import { z } from "zod";
import type { WorkloadView } from "../join/snapshot.ts";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import { amount, readText } from "./rememberedText.ts";

/** The kind of these rows in the ledger's table `remembered`. */
export const progressKind = "progress";

/** The longest key of a row, so that rows stay small; no real workload has a longer name. */
const longestKey = 1200;
/** The most currencies in which one workload may have a cost; no more are read from a row. */
export const mostCurrencies = 8;

/** A workload that reports its progress; a later one of the same name has another uid. */
export interface ProgressKey extends Pick<WorkloadView, "kind" | "namespace" | "name"> {
  /** The uid of its top owner, or of the pod that has none; empty if unknown. */
  readonly uid: string;
}

/** The cost of a workload in the counted time, and how much it made for that. */
export interface Progress {
  readonly key: ProgressKey;
  /** Costs by currency. */
  readonly costs: Map<string, number>;
  /** Units that were made, minus lost ones. */
  madeUnits: number;
  /** When it was last seen, seconds since the epoch. */
  seenAt: number;
}

/** Key of the row of a workload; `null` if it is too long to be remembered. */
export function progressRowKey({ kind, namespace, name, uid }: ProgressKey): string | null {
  if (kind.length + namespace.length + name.length + uid.length > longestKey) return null;
  return JSON.stringify([kind, namespace, name, uid]);
}

/** The row of a workload. */
export function progressRow(key: string, { costs, madeUnits, seenAt }: Progress): RememberedChange {
  return { kind: progressKind, key, value: JSON.stringify({ seenAt, madeUnits, costs: [...costs] }) };
}

/** All workloads that can be read from the rows, and the keys of the other rows of this kind. */
export function progressIn(rows: readonly Remembered[]): {
  readonly known: readonly Progress[];
  readonly unreadable: readonly string[];
} {
  const known: Progress[] = [];
  const unreadable: string[] = [];
  for (const { kind, key, value } of rows) {
    if (kind !== progressKind) continue;
    const progress = progressOf(key, value);
    if (progress === null) unreadable.push(key);
    else known.push(progress);
  }
  return { known, unreadable };
}

const rowKey = z.tuple([z.string(), z.string(), z.string(), z.string()]);
const rowValue = z.object({
  seenAt: amount,
  madeUnits: amount,
  costs: z.array(z.tuple([z.string(), amount])).max(mostCurrencies),
});

function progressOf(key: string, value: string): Progress | null {
  const names = readText(rowKey, key);
  const read = readText(rowValue, value);
  if (names === null || read === null) return null;
  const [kind, namespace, name, uid] = names;
  return { ...read, key: { kind, namespace, name, uid }, costs: new Map(read.costs) };
}
