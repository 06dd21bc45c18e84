import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isoTime } from "../kernel/isoTime.ts";
import type { QueueHistory } from "./queueHistory.ts";

/** By what totals can be distinguished. `day`: UTC days, written `2026-11-21`. */
export const totalsDimensions = ["day", "state", "team", "queue", "pool", "capacityType", "priorityClass"] as const;

export type TotalsDimension = (typeof totalsDimensions)[number];

/** By what totals can be chosen. */
export const totalsFilters = totalsDimensions.filter((name) => name !== "day");

/** What GPU time a window had. */
export interface TotalsQuestion {
  /** Seconds since the epoch; the window is [from, to). */
  readonly from: number;
  readonly to: number;
  readonly by: readonly TotalsDimension[];
  /** Only what has one of these values; empty text means "none" (no team, no queue). */
  readonly where: Readonly<Partial<Record<(typeof totalsFilters)[number], readonly string[]>>>;
}

/** One group of a window. */
export interface TotalsRow {
  /** In the order of `TotalsQuestion.by`; empty text: none. */
  readonly values: readonly string[];
  readonly gpuSeconds: number;
  /** Cost by currency, at the prices of the time at which it was counted. */
  readonly costs: Readonly<Record<string, number>>;
  /** Part of `gpuSeconds` that had no price; `null` where the server cannot say. */
  readonly unpricedGpuSeconds: number | null;
}

/** All totals of a window, and how much of it they cover. */
export interface TotalsAnswer {
  readonly rows: readonly TotalsRow[];
  /** Seconds of the window that are counted. */
  readonly coveredSeconds: number;
  /** Begin and end of what the history can know of the window (a ledger may know whole hours or days only). */
  readonly from: number;
  readonly to: number;
}

/** An answer, or why there is none. */
export type TotalsResult =
  | { readonly ok: true; readonly answer: TotalsAnswer }
  | {
      readonly ok: false;
      readonly error: string;
      readonly nextStep: string;
      /** It answered, and has nothing at all of the window. */
      readonly isEmpty?: true;
      /** The question itself cannot be answered by any history. */
      readonly isRefused?: true;
    };

/**
 * A source of the past: the ledger, or any server with Prometheus' HTTP API that scrapes Fairlead. Both give the same answer,
 * except for what a scrape at each end of the window cannot see.
 */
export interface History {
  /** Where the answers come from, to be shown: a file or the address of a server. */
  readonly name: string;
  readonly kind: "ledger" | "prometheus";
  totals(question: TotalsQuestion): Promise<TotalsResult>;
  /** What queues had, if that is known besides GPU time: for a ledger, its table of queues is asked. */
  readonly queues?: QueueHistory;
}

type Failure = Extract<TotalsResult, { readonly ok: false }>;

const maxDays = 400;

/** Why a window is none, or too long for one question. */
export function wrongWindow({ from, to }: Pick<TotalsQuestion, "from" | "to">): Failure | null {
  if (!Number.isFinite(from) || !Number.isFinite(to) || !(from < to)) {
    const shown = [from, to].map((at) => (Number.isFinite(at) ? isoTime(at) : "no time"));
    return {
      ok: false,
      isRefused: true,
      error: `the window ends (${shown[1]}) before it begins (${shown[0]})`,
      nextStep: "Give a later end.",
    };
  }
  if (to - from > maxDays * secondsPerDay) {
    return {
      ok: false,
      isRefused: true,
      error: `the window is longer than ${maxDays} days`,
      nextStep: "Ask for shorter windows.",
    };
  }
  return null;
}

/** A question whose answer has more groups than one may have. */
export function tooManyGroups(most: number): Failure {
  return {
    ok: false,
    isRefused: true,
    error: `the answer has more than ${most} groups`,
    nextStep: "Ask by fewer dimensions, or for a shorter window.",
  };
}
