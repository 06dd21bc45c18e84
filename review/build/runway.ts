import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { RunOut, Runway } from "../document/waste.ts";
import { estimateRunOut, type RunOutEstimate, type RunwayWeek } from "../runway/estimateRunOut.ts";
import { weekOf } from "../window.ts";
import type { DomainPools } from "./demand.ts";
import { p95Demand } from "./demand.ts";
import { type DomainHour, meanOf } from "./domainHours.ts";
import type { PoolTime } from "./poolTime.ts";
import type { ReviewQuestion } from "./source.ts";

const secondsPerHour = 3600;
const secondsPerWeek = 7 * 86_400;
/** How many weeks a trend is made of. */
export const runwayWeeks = 26;
/** A week of which less than this part is covered says too little. */
const leastCovered = 0.8;

/**
 * How long each quota domain's GPUs last, as of the end of the window, or of now if that is earlier; `hours` reach back
 * `runwayWeeks`.
 */
export function runwayRows(
  { cluster, now, days }: ReviewQuestion,
  hours: ReadonlyMap<string, readonly DomainHour[]>,
  pools: DomainPools,
  { idle, coverage }: PoolTime,
): Runway[] {
  const seconds = Math.max(secondsPerHour, coverage.coveredSeconds);
  const idleGpus = new Map([...idle].map(([pool, gpuSeconds]) => [pool, gpuSeconds / seconds]));
  const at = Math.min(now, days.to);
  return [...hours]
    .map(([domain, all]) => runwayOf(cluster, domain, all, pools.get(domain) ?? [], idleGpus, at))
    .sort((one, other) => (other.capacityGpus ?? 0) - (one.capacityGpus ?? 0) || (one.domain < other.domain ? -1 : 1));
}

function runwayOf(
  cluster: string,
  domain: string,
  hours: readonly DomainHour[],
  pools: readonly string[],
  idle: ReadonlyMap<string, number>,
  at: number,
): Runway {
  const weeks = weeksOf(hours, at);
  const last = weeks.findLast(({ p95DemandGpus }) => p95DemandGpus !== null);
  // Before the first whole week, all hours that there are show the capacity.
  const lastHours = last === undefined ? hours : hours.filter(({ at: hour }) => weekOf(hour).from === last.from);
  const capacity = meanOf(lastHours, (hour) => hour.capacity);
  const recoverable = pools.length === 0 ? null : pools.reduce((sum, pool) => sum + (idle.get(pool) ?? 0), 0);
  const asIs = estimateRunOut(weeks, capacity, at);
  const less = weeks.map((week) => ({
    ...week,
    p95DemandGpus: week.p95DemandGpus === null ? null : Math.max(0, week.p95DemandGpus - (recoverable ?? 0)),
  }));
  return {
    cluster,
    domain,
    weeks: weeks.map(({ from, p95DemandGpus }) => ({ from: isoTime(from), p95DemandGpus })),
    p95DemandGpus: last?.p95DemandGpus ?? null,
    capacityGpus: capacity,
    trendGpusPerWeek: asIs.trendGpusPerWeek,
    runsOut: shown(asIs),
    recoverableGpus: recoverable,
    runsOutWithoutWaste: shown(recoverable === null ? unknownWaste : estimateRunOut(less, capacity, at)),
  };
}

/** The whole weeks before a moment, from the first with data on; the demand is `null` where too little of a week is covered. */
function weeksOf(hours: readonly DomainHour[], at: number): readonly RunwayWeek[] {
  const byWeek = Map.groupBy(hours, (hour) => weekOf(hour.at).from);
  const end = weekOf(at).from;
  const first = hours[0] === undefined ? end : weekOf(hours[0].at).from;
  const weeks: RunwayWeek[] = [];
  for (let from = Math.max(first, end - runwayWeeks * secondsPerWeek); from < end; from += secondsPerWeek) {
    const inWeek = byWeek.get(from) ?? [];
    const covered = inWeek.reduce((sum, { seconds }) => sum + seconds, 0);
    weeks.push({ from, p95DemandGpus: covered >= leastCovered * secondsPerWeek ? p95Demand(inWeek) : null });
  }
  return weeks;
}

const unknownWaste: RunOutEstimate = {
  state: "unknown",
  earliest: null,
  likely: null,
  latest: null,
  trendGpusPerWeek: null,
  reason: "Which pools belong to it is not known.",
};

function shown({ state, earliest, likely, latest, reason }: RunOutEstimate): RunOut {
  const time = (at: number | null): string | null => (at === null ? null : isoTime(at));
  return { state, earliest: time(earliest), likely: time(likely), latest: time(latest), reason };
}
