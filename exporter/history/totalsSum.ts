import { bareRecord } from "../kernel/bareRecord.ts";
import type { TotalsRow } from "./history.ts";

/** The amounts that are added to one group. */
export interface TotalsPart {
  readonly values: readonly string[];
  readonly gpuSeconds?: number;
  /** Amounts by currency. */
  readonly costs?: Iterable<readonly [currency: string, amount: number]>;
  readonly unpricedGpuSeconds?: number;
}

/** Adds up groups by their values. */
export interface TotalsSum {
  add(part: TotalsPart): void;
  /** The groups in the order of their values; `isUnpricedKnown` is whether the time without a price is known at all. */
  rows(isUnpricedKnown: boolean): readonly TotalsRow[];
}

interface Draft {
  readonly values: readonly string[];
  gpuSeconds: number;
  readonly costs: Map<string, number>;
  unpricedGpuSeconds: number;
}

/** Creates a sum that is empty. */
export function createTotalsSum(): TotalsSum {
  const drafts = new Map<string, Draft>();
  return {
    add({ values, gpuSeconds = 0, costs = [], unpricedGpuSeconds = 0 }) {
      const key = JSON.stringify(values);
      const draft = drafts.get(key) ?? { values, gpuSeconds: 0, costs: new Map(), unpricedGpuSeconds: 0 };
      drafts.set(key, draft);
      draft.gpuSeconds += gpuSeconds;
      draft.unpricedGpuSeconds += unpricedGpuSeconds;
      for (const [currency, amount] of costs) draft.costs.set(currency, (draft.costs.get(currency) ?? 0) + amount);
    },
    rows(isUnpricedKnown) {
      return [...drafts]
        .filter(([, { gpuSeconds, costs }]) => gpuSeconds > 0 || costs.size > 0)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, { values, gpuSeconds, costs, unpricedGpuSeconds }]) => ({
          values,
          gpuSeconds,
          costs: sortedRecord(costs),
          unpricedGpuSeconds: isUnpricedKnown ? Math.min(gpuSeconds, unpricedGpuSeconds) : null,
        }));
    },
  };
}

/** Amounts by currency, sorted. Currencies may be words of a server, so no name has a special meaning. */
export function sortedRecord(amounts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  const record = bareRecord<number>();
  for (const [name, amount] of [...amounts].sort(([one], [other]) => (one < other ? -1 : 1))) record[name] = amount;
  return record;
}
