import { secondsPerDay } from "../accounts/ledger/schema.ts";
import { isoTime } from "../kernel/isoTime.ts";
import type { TotalsQuestion, TotalsResult } from "./history.ts";

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
