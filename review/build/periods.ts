import type { TotalsAnswer, TotalsRow } from "../../exporter/history/history.ts";
import { createLedgerQueueHistory } from "../../exporter/history/ledgerHistory.ts";
import type { QueueTotalsRow } from "../../exporter/history/queueHistory.ts";
import { type WaterfallLevel, waterfallDimensions, waterfallOf } from "../../exporter/history/waterfall.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import { observedStates } from "../../exporter/model/gpuStates.ts";
import { coverageRecord } from "../../exporter/publish/history/records.ts";
import type { Period } from "../document/head.ts";
import type { Days } from "../window.ts";
import { hoursOf } from "./hours.ts";
import { type Part, part, type ReviewQuestion } from "./source.ts";
import { sumCosts } from "./sumCosts.ts";

/** GPU time of one window by state and team, and what follows from it. */
export interface PeriodTotals {
  readonly period: Period;
  /** The totals, grouped by `waterfallDimensions`. */
  readonly rows: readonly TotalsRow[];
  /** What queues had, by team; `null` where nothing is known of queues. */
  readonly queues: readonly QueueTotalsRow[] | null;
}

/** Asks for the totals of one window. A window about which nothing is known has no coverage. */
export async function askPeriod(question: ReviewQuestion, days: Days): Promise<Part<PeriodTotals>> {
  const { history, team, now } = question;
  const where = team === null ? {} : { team: [team] };
  const asked = await history.totals({ from: days.from, to: days.to, by: waterfallDimensions, where });
  if (!asked.ok && asked.isEmpty !== true) return asked;
  const answer = asked.ok && asked.answer.coveredSeconds > 0 ? asked.answer : null;
  const inQueues = answer === null ? part(null) : await askQueues(question, days);
  if (!inQueues.ok) return inQueues;
  const queues = inQueues.value;
  const pending = queues === null ? null : hoursOf(queues.reduce((sum, row) => sum + row.pending, 0));
  return part({ period: periodOf(days, answer, pending, now), rows: answer?.rows ?? [], queues });
}

function periodOf({ label, from, to }: Days, answer: TotalsAnswer | null, pending: number | null, now: number): Period {
  const rows = answer?.rows ?? [];
  const { stages } = waterfallOf(rows);
  const hours = (level: WaterfallLevel): number =>
    hoursOf(stages.find((stage) => stage.level === level)?.gpuSeconds ?? 0);
  const seen = rows.filter(({ values }) => observedStates.some((state) => state === values[0]));
  const coveredSeconds = answer?.coveredSeconds ?? 0;
  return {
    label,
    from: isoTime(from),
    to: isoTime(to),
    coverage: answer === null ? null : coverageRecord({ from, to, coveredSeconds }, now).ratio,
    coveredSeconds,
    capacity: hours("capacity"),
    allocated: hours("allocated"),
    active: hours("active"),
    judged: hoursOf(seen.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)),
    pending,
    usable: hours("ready"),
    costs: sumCosts(rows.map(({ costs }) => costs)),
    notAllocatedCosts: sumCosts(rows.filter(({ values }) => values[1] === "").map(({ costs }) => costs)),
  };
}

/** Asks what queues had, by team; `null` where no queue is known, because then nobody knows what waited. */
async function askQueues(
  { accounts, history, team }: ReviewQuestion,
  { from, to }: Days,
): Promise<Part<readonly QueueTotalsRow[] | null>> {
  const known = accounts === null ? history.queues : createLedgerQueueHistory(accounts.queryLedgerTable);
  if (known === undefined) return part(null);
  const asked = await known.queueTotals({ from, to, team });
  if (!asked.ok) return asked;
  return part(asked.rows.length === 0 ? null : asked.rows);
}
