import { isoTime } from "../../exporter/kernel/isoTime.ts";
import type { Demand, DemandStep, OneMoreNode } from "../document/use.ts";
import { type DomainHour, meanGuarantee, meanOf } from "./domainHours.ts";
import { weightedQuantile } from "./hours.ts";
import type { PoolTime } from "./poolTime.ts";
import type { ReviewQuestion } from "./source.ts";

/** The names of the pools of each quota domain, by the name of the domain. */
export type DomainPools = ReadonlyMap<string, readonly string[]>;

/** Demand of every quota domain over the window, by hour or by day, whichever `time` has. */
export function demandRows(
  question: ReviewQuestion,
  domains: ReadonlyMap<string, readonly DomainHour[]>,
  pools: DomainPools,
  time: PoolTime,
  nodes: ReadonlyMap<string, OneMoreNode>,
): Demand[] {
  return [...domains]
    .map(([domain, hours]) => ({
      ...demandOf(question, domain, hours, pools.get(domain) ?? [], time),
      oneMoreNode: nodes.get(domain) ?? null,
    }))
    .sort(
      (one, other) =>
        (other.meanCapacityGpus ?? 0) - (one.meanCapacityGpus ?? 0) || (one.domain < other.domain ? -1 : 1),
    );
}

/** The demand (allocated and pending GPUs) that 95 of 100 covered hours did not exceed; `null` without any. */
export function p95Demand(hours: readonly DomainHour[]): number | null {
  return weightedQuantile(
    hours.map(({ allocated, pending, seconds }) => ({ value: allocated + pending, weight: seconds })),
    0.95,
  );
}

function demandOf(
  { cluster, days, now }: ReviewQuestion,
  domain: string,
  all: readonly DomainHour[],
  pools: readonly string[],
  { stepSeconds, active }: PoolTime,
): Omit<Demand, "oneMoreNode"> {
  const hours = all.filter(({ at }) => at >= days.from && at < days.to);
  const bySteps = Map.groupBy(hours, ({ at }) => Math.floor(at / stepSeconds) * stepSeconds);
  const steps: DemandStep[] = [];
  for (let at = days.from; at < Math.min(days.to, now); at += stepSeconds) {
    const inStep = bySteps.get(at) ?? [];
    const seconds = inStep.reduce((sum, hour) => sum + hour.seconds, 0);
    const used = pools.reduce((sum, pool) => sum + (active.get(pool)?.get(at) ?? 0), 0);
    steps.push({
      at: isoTime(at),
      capacity: meanOf(inStep, ({ capacity }) => capacity),
      guaranteed: meanGuarantee(inStep),
      allocated: meanOf(inStep, ({ allocated }) => allocated),
      active: seconds > 0 && pools.length > 0 ? used / seconds : null,
      pending: meanOf(inStep, ({ pending }) => pending),
    });
  }
  return {
    cluster,
    domain,
    pools: [...pools],
    stepSeconds,
    steps,
    p95DemandGpus: p95Demand(hours),
    meanCapacityGpus: meanOf(hours, ({ capacity }) => capacity),
  };
}
