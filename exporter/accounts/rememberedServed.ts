import { z } from "zod";
import type { Remembered, RememberedChange } from "./ledger/ledger.ts";
import type { WorkloadKey } from "./posting.ts";
import { mostCurrencies } from "./rememberedProgress.ts";
import { amount, readText } from "./rememberedText.ts";

/** The kind of these rows in the ledger's table `remembered`. */
export const servedKind = "served";

/** The longest key of a row, so that rows stay small; no real workload has a longer one. */
export const longestKey = 1200;

/** What a workload has served, while it is added up (`ServedWork`). */
export interface ServedSums extends WorkloadKey {
  readonly team: string;
  readonly since: number;
  /** When one of its servers last had a page, seconds since the epoch. */
  seenAt: number;
  requests: number;
  promptTokens: number | null;
  generatedTokens: number | null;
  gpuSeconds: number;
  costs: Map<string, number> | null;
}

/** The key of a workload, which is also the key of its row. */
export const servedKey = ({ kind, namespace, name }: WorkloadKey): string => JSON.stringify([kind, namespace, name]);

/** The row of a workload. */
export function servedRow(key: string, sums: ServedSums): RememberedChange {
  const { team, since, seenAt, requests, promptTokens, generatedTokens, gpuSeconds, costs } = sums;
  const kept = costs === null || costs.size > mostCurrencies ? null : [...costs];
  const value = { team, since, seenAt, requests, promptTokens, generatedTokens, gpuSeconds, costs: kept };
  return { kind: servedKind, key, value: JSON.stringify(value) };
}

/** All workloads that can be read from the rows, the last seen first, and the keys of the other rows of this kind. */
export function servedIn(rows: readonly Remembered[]): {
  readonly known: readonly ServedSums[];
  readonly unreadable: readonly string[];
} {
  const known: ServedSums[] = [];
  const unreadable: string[] = [];
  for (const { kind, key, value } of rows) {
    if (kind !== servedKind) continue;
    const names = readText(rowKey, key);
    const read = readText(rowValue, value);
    if (names === null || read === null) unreadable.push(key);
    else {
      const costs = read.costs === null ? null : new Map(read.costs);
      known.push({ ...read, kind: names[0], namespace: names[1], name: names[2], costs });
    }
  }
  return { known: known.sort((a, b) => b.seenAt - a.seenAt), unreadable };
}

const rowKey = z.tuple([z.string(), z.string(), z.string()]);
const rowValue = z.object({
  team: z.string(),
  since: amount,
  seenAt: amount,
  requests: amount,
  promptTokens: amount.nullable(),
  generatedTokens: amount.nullable(),
  gpuSeconds: amount,
  costs: z
    .array(z.tuple([z.string(), amount]))
    .max(mostCurrencies)
    .nullable(),
});
