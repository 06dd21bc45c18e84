import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isoTime } from "../kernel/isoTime.ts";
import type { QueueHistory } from "./queueHistory.ts";

/** The dimensions that totals can be grouped by. `day` means UTC days, written `2026-11-21`. */
export const totalsDimensions = ["day", "state", "team", "queue", "pool", "capacityType", "priorityClass"] as const;

export type TotalsDimension = (typeof totalsDimensions)[number];

/** The dimensions that totals can be selected by. */
export const totalsFilters = totalsDimensions.filter((name) => name !== "day");

/** A question about the GPU time of a window. */
export interface TotalsQuestion {
  /** Start of the window [from, to), seconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly by: readonly TotalsDimension[];
  /** Only GPU time that has one of these values is counted; empty text means "none" (no team, no queue). */
  readonly where: Readonly<Partial<Record<(typeof totalsFilters)[number], readonly string[]>>>;
}

/** One group of a window. */
export interface TotalsRow {
  /** The values of the group in the order of `TotalsQuestion.by`; empty text means none. */
  readonly values: readonly string[];
  readonly gpuSeconds: number;
  /** Cost by currency, at the prices of the time at which it was counted. */
  readonly costs: Readonly<Record<string, number>>;
  /** The part of `gpuSeconds` that had no price; `null` where the server does not know it. */
  readonly unpricedGpuSeconds: number | null;
}

/** All totals of a window, and how much of it they cover. */
export interface TotalsAnswer {
  readonly rows: readonly TotalsRow[];
  /** Seconds of the window that are counted. */
  readonly coveredSeconds: number;
  /** Start and end of the part of the window that the answer is about (a ledger may know whole hours or days only). */
  readonly from: number;
  readonly to: number;
}

/** An answer, or the reason why there is none. */
export type TotalsResult =
  | { readonly ok: true; readonly answer: TotalsAnswer }
  | {
      readonly ok: false;
      readonly error: string;
      readonly nextStep: string;
      /** Whether the history answered, but contains nothing at all of the window. */
      readonly isEmpty?: true;
      /** Whether no history can answer this question. */
      readonly isRefused?: true;
    };

/**
 * A source of the past: the ledger, or any server with Prometheus' HTTP API that scrapes Fairlead. Both give the same answer,
 * except for what a scrape at each end of the window cannot see.
 */
export interface History {
  /** The file, or the address of a server, that the answers come from, in the form to be shown. */
  readonly name: string;
  readonly kind: "ledger" | "prometheus";
  totals(question: TotalsQuestion): Promise<TotalsResult>;
  /** Totals of queues, if they are known besides GPU time; for a ledger, they come from its table of queues. */
  readonly queues?: QueueHistory;
}

type Failure = Extract<TotalsResult, { readonly ok: false }>;

const maxDays = 400;

/** The reason why a window is invalid, or too long for one question; `null` if it is good. */
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

/** The failure that the answer to a question has more groups than are allowed. */
export function tooManyGroups(most: number): Failure {
  return {
    ok: false,
    isRefused: true,
    error: `the answer has more than ${most} groups`,
    nextStep: "Ask by fewer dimensions, or for a shorter window.",
  };
}
