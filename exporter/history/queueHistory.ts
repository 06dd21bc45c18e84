import type { absentAmounts, countedQueueAmounts } from "../accounts/posting.ts";
import type { AbsentOwner } from "../model/shortfall.ts";
import type { TotalsResult } from "./history.ts";

/** A question about the amounts of queues within a window. */
export interface QueueTotalsQuestion {
  /** Start of the window [from, to), seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Only queues of this team are counted; `null` for all teams. */
  readonly team: string | null;
}

/** The amounts of a team's queues: seconds and GPU-seconds. All but `allocated` and `pending` are those of the judged time. */
export type QueueAmount = (typeof countedQueueAmounts)[number];

/** Amounts that older versions of Fairlead did not distinguish. */
type LaterAmount = (typeof absentAmounts)[AbsentOwner] | "shortfallByIndivisible";

/**
 * The amounts of all queues of one team. `judgedSeconds` adds up over the queues, and is 0 where entitlement was never known.
 * An amount that no part of the window contains is `null`.
 */
export interface QueueTotalsRow
  extends Readonly<Record<Exclude<QueueAmount, LaterAmount>, number>>,
    Readonly<Record<LaterAmount, number | null>> {
  /** Name of the team; empty for queues of no team. */
  readonly team: string;
}

/** The amounts by team; there are no rows at all if nothing is known about queues. */
export type QueueTotalsResult =
  | { readonly ok: true; readonly rows: readonly QueueTotalsRow[] }
  | Extract<TotalsResult, { readonly ok: false }>;

/**
 * A source of the amounts of queues: the ledger's table of queues, or a server that scrapes their counters. Both give the same
 * answer.
 */
export interface QueueHistory {
  queueTotals(question: QueueTotalsQuestion): Promise<QueueTotalsResult>;
}

/** Adds up amounts by team. */
export function sumQueueTotals(
  parts: Iterable<{ readonly team: string; readonly of: QueueAmount; readonly amount: number }>,
): readonly QueueTotalsRow[] {
  const sums = new Map<string, Sums>();
  for (const { team, of, amount } of parts) {
    const sum = sums.get(team) ?? nothing();
    sums.set(team, sum);
    sum[of] = (sum[of] ?? 0) + amount;
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1)).map(([team, amounts]) => ({ team, ...amounts }));
}

type Sums = { -readonly [Name in QueueAmount]: QueueTotalsRow[Name] };

const nothing = (): Sums => ({
  judgedSeconds: 0,
  allocated: 0,
  entitled: 0,
  excess: 0,
  shortfallByBorrowers: 0,
  shortfallByIdleGap: 0,
  shortfallByLostNode: null,
  shortfallByNodeToCome: null,
  shortfallByPastQueues: null,
  shortfallByPromisedTwice: null,
  shortfallByIndivisible: null,
  pending: 0,
  judgedAllocated: 0,
});
