import type { TotalsRow } from "../../exporter/history/history.ts";
import { waterfallOf } from "../../exporter/history/waterfall.ts";
import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { GpuState } from "../../exporter/model/gpuStates.ts";
import { coverageRecord } from "../../exporter/publish/history/records.ts";
import type { Coverage } from "../document/head.ts";
import { type Review, reviewVersion } from "../document/review.ts";
import type { Note } from "../document/tiles.ts";
import type { WaterfallStageRow } from "../document/use.ts";
import { shownWindow, windowsBefore } from "../window.ts";
import { hoursOf } from "./hours.ts";
import { nothingKnown } from "./nothingKnown.ts";
import { askPeriod, type PeriodTotals } from "./periods.ts";
import { askPoolTime, type PoolTime } from "./poolTime.ts";
import { askSections, type Sections } from "./sections.ts";
import { type Part, part, type ReviewFailure, type ReviewQuestion } from "./source.ts";
import { askTeams } from "./teams.ts";
import { termsOf, tilesOf } from "./tiles.ts";

const shownGaps = 20;

/**
 * Writes the review of one cluster and one window. A ledger answers everything. A server with Prometheus' HTTP API knows only
 * GPU time, cost and what queues had, and then the other sections are `null`.
 */
export async function buildReview(
  question: ReviewQuestion,
): Promise<{ readonly ok: true; readonly review: Review } | ReviewFailure> {
  const { cluster, days, compare, team, now, history, accounts, onProgress = () => {} } = question;
  const periods = await askPeriods(question);
  if (!periods.ok) return periods;
  const last = periods.value.at(-1);
  if (last === undefined || last.period.coverage === null) {
    const knownBefore = periods.value.some(({ period }) => period.coverage !== null);
    return await nothingKnown(question, knownBefore);
  }
  onProgress("coverage and prices");
  const time = await askPoolTime(question);
  if (!time.ok) return time;
  const unpriced = await askUnpriced(question, last);
  if (!unpriced.ok) return unpriced;
  const sections = await askSections(question, time.value);
  if (!sections.ok) return sections;
  onProgress("teams");
  const teams = await askTeams(question, last, sections.value.jobsAnswer);
  if (!teams.ok) return teams;
  const { jobsAnswer: _, prices, ...shown } = sections.value;
  const shownPeriods = periods.value.map(({ period }) => period);
  const facts = {
    coverage: coverageOf(question, last, time.value),
    prices,
    ...doubtfulTime(last, time.value, unpriced.value),
    periods: shownPeriods,
  };
  const review: Review = {
    schemaVersion: reviewVersion,
    clusters: [cluster],
    team,
    writtenAt: isoTime(now),
    source: accounts === null ? history.kind : "ledger",
    window: shownWindow(days, now),
    ...facts,
    tiles: [...tilesOf(shownPeriods, team)],
    terms: termsOf(last.period, team),
    waterfall: [...waterfallRows(last.rows, strandedHours(shown))],
    teams: teams.value,
    ...shown,
    notes: [...notesOf(facts, cluster), ...shown.notes],
  };
  onProgress(`done: compared with ${compare} windows before`);
  return { ok: true, review };
}

const lowCoverage = 0.95;
const largeShare = 0.1;
const smallShare = 0.01;

/** The notes about what a reader should know before trusting the numbers of one cluster's review. */
function notesOf(
  review: Pick<
    Review,
    "coverage" | "unpricedGpuHours" | "estimatedGpuHours" | "unobservedGpuHours" | "periods" | "prices"
  >,
  cluster: string,
): Note[] {
  const { coverage, unpricedGpuHours, estimatedGpuHours, unobservedGpuHours, periods, prices } = review;
  const last = periods.at(-1);
  const [capacity, allocated] = [last?.capacity ?? 0, last?.allocated ?? 0];
  const unknownBefore = periods.slice(0, -1).filter((period) => period.coverage === null).length;
  const currencies = new Set(prices.map(({ currency }) => currency));
  const texts = [
    coverage.ratio < lowCoverage && coverage.ratio > 0
      ? `Only ${percent(coverage.ratio)} of the window is covered: amounts are of that part, and too small for the whole.`
      : null,
    unknownBefore > 0 ? `${unknownBefore} of the ${periods.length - 1} windows before are not known.` : null,
    (unpricedGpuHours ?? 0) > smallShare * capacity
      ? `${percent((unpricedGpuHours ?? 0) / capacity)} of the GPU time has no price and is in no cost.`
      : null,
    unpricedGpuHours === null ? "How much of the GPU time has no price is not known." : null,
    unobservedGpuHours > largeShare * allocated
      ? `${percent(unobservedGpuHours / allocated)} of the allocated GPU time was not observed: whether it was used is not known.`
      : null,
    (estimatedGpuHours ?? 0) > largeShare * allocated
      ? `Of ${percent((estimatedGpuHours ?? 0) / allocated)} of the allocated GPU time, the device or the split of a shared GPU is estimated.`
      : null,
    currencies.size > 1 ? `Prices are in ${[...currencies].sort().join(", ")}: these are never added up.` : null,
  ];
  return texts.filter((text) => text !== null).map((text) => ({ cluster, text }));
}

const percent = (ratio: number): string => `${Math.round(100 * Math.min(1, ratio))} %`;

/** Who can act on GPU time in a state. */
const stateOwners: Readonly<Record<GpuState, string>> = {
  active: "",
  underutilized: "team",
  idle: "team",
  stalled: "team",
  starting: "platform",
  gang_wait: "scheduler",
  unobserved: "platform",
  unavailable: "platform",
  free: "platform",
  idle_node: "platform",
  unattributed: "platform",
  cordoned: "platform",
};

/**
 * Where the GPU time of a window went, in GPU-hours. `stranded` is the part of the free GPU-hours that is stranded; `null`
 * where it is not known.
 */
function waterfallRows(rows: readonly TotalsRow[], stranded: number | null): readonly WaterfallStageRow[] {
  return waterfallOf(rows).stages.map(({ level, gpuSeconds, costs, drops }) => ({
    level,
    gpuHours: hoursOf(gpuSeconds),
    costs: { ...costs },
    drops: drops.map((drop) => ({
      state: drop.state,
      isAllocated: drop.isAllocated,
      gpuHours: hoursOf(drop.gpuSeconds),
      costs: { ...drop.costs },
      strandedGpuHours: drop.state === "free" ? stranded : null,
      owner: stateOwners[drop.state],
    })),
  }));
}

async function askPeriods(question: ReviewQuestion): Promise<Part<readonly PeriodTotals[]>> {
  const { days, compare, onProgress = () => {} } = question;
  const periods: PeriodTotals[] = [];
  for (const window of [...windowsBefore(days, compare), days]) {
    onProgress(`GPU time of ${window.label}`);
    const asked = await askPeriod(question, window);
    if (!asked.ok) return asked;
    periods.push(asked.value);
  }
  return part(periods);
}

function coverageOf({ cluster, days, now }: ReviewQuestion, { period }: PeriodTotals, time: PoolTime | null): Coverage {
  const record = coverageRecord({ from: days.from, to: days.to, coveredSeconds: period.coveredSeconds }, now);
  const all = (time?.coverage.gaps ?? []).filter(({ from }) => from < now);
  const gaps = all
    .map((gap) => ({ ...gap, to: Math.min(gap.to, now) }))
    .sort((one, other) => other.to - other.from - (one.to - one.from));
  return {
    ...record,
    byCluster: [{ cluster, ...record }],
    gaps: gaps
      .slice(0, shownGaps)
      .map(({ from, to, reason }) => ({ cluster, from: isoTime(from), to: isoTime(to), reason })),
    gapsLeftOut: Math.max(0, gaps.length - shownGaps) + (time?.coverage.gapsLeftOut ?? 0),
  };
}

/**
 * GPU-seconds without a price; `null` where they are not known. A server counts them only for the whole, not by state and team.
 */
async function askUnpriced(
  { history, days, team }: ReviewQuestion,
  { rows }: PeriodTotals,
): Promise<Part<number | null>> {
  const known = rows.map(({ unpricedGpuSeconds }) => unpricedGpuSeconds).filter((seconds) => seconds !== null);
  if (known.length === rows.length) return part(known.reduce((sum, seconds) => sum + seconds, 0));
  const where = team === null ? {} : { team: [team] };
  const whole = await history.totals({ from: days.from, to: days.to, by: [], where });
  return whole.ok ? part(whole.answer.rows[0]?.unpricedGpuSeconds ?? null) : whole;
}

/** The GPU-hours about which something is not known. */
function doubtfulTime({ rows }: PeriodTotals, time: PoolTime | null, unpriced: number | null) {
  const unobserved = rows.filter(({ values }) => values[0] === "unobserved");
  return {
    unpricedGpuHours: unpriced === null ? null : hoursOf(unpriced),
    estimatedGpuHours: time === null ? null : hoursOf(time.estimatedGpuSeconds),
    unobservedGpuHours: hoursOf(unobserved.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0)),
  };
}

function strandedHours({ fragmentation }: Pick<Sections, "fragmentation">): number | null {
  if (fragmentation === null) return null;
  return fragmentation.reduce((sum, { strandedGpuHours }) => sum + strandedGpuHours, 0);
}
