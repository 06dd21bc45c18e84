import type { DomainFairness } from "../analysis/fairness/fairness.ts";
import { labelValue } from "../kernel/labelValue.ts";
import type { FamilyInput } from "./family.ts";
import { otherTeams } from "./teamSeries.ts";

type Moment = FamilyInput["moment"];

/** Quota domains with their fairness; `null` where entitlement is not known. */
export function domainsOf(
  moment: Moment,
): readonly { readonly name: string; readonly fairness: DomainFairness | null }[] {
  if (moment === null) return [];
  const { snapshot, fairness } = moment.analysis;
  return snapshot.queueing.domains.map(({ name }, index) => ({
    name: labelValue(name),
    fairness: fairness.domains[index] ?? null,
  }));
}

/** What a team, or all teams that share the name `other`, is entitled to in one domain. */
interface TeamSum {
  readonly team: string;
  readonly domain: string;
  readonly entitled: number;
  readonly deviation: number;
}

/** Teams by the names of their other series. */
export function teamFairness(moment: Moment): readonly TeamSum[] {
  if (moment === null) return [];
  const { snapshot, fairness } = moment.analysis;
  const named = new Set(moment.teams.map(({ team }) => team));
  const sums = new Map<string, TeamSum>();
  for (const { team: name, domain: index, entitled, deviation } of fairness.teams) {
    const own = labelValue(name);
    const team = named.has(own) ? own : otherTeams;
    const domain = labelValue(snapshot.queueing.domains[index]?.name ?? "");
    const key = `${team}\u0000${domain}`;
    const known = sums.get(key);
    sums.set(key, {
      team,
      domain,
      entitled: entitled + (known?.entitled ?? 0),
      deviation: deviation + (known?.deviation ?? 0),
    });
  }
  return [...sums.values()];
}

interface SchedulerSample {
  readonly labels: {
    readonly scheduler: string;
    readonly kind: string;
    readonly queue: string;
    readonly shard: string;
    readonly number: string;
    readonly source: string;
  };
  readonly value: number;
}

/**
 * The schedulers' own numbers of queues that have series of their own, and of as many others (cohorts, LocalQueues) as the
 * page may have names: these numbers cannot be added up.
 */
export function schedulerValues(moment: Moment): readonly SchedulerSample[] {
  if (moment === null) return [];
  const { analysis, queues } = moment;
  let left = queues.limit;
  return analysis.schedulerViews.flatMap(({ scheduler, kind, name, shard, number, computed, reported }) => {
    const isNamed = queues.isNamed(scheduler, name);
    if (!isNamed && left <= 0) return [];
    if (!isNamed) left -= 1;
    const labels = { scheduler, kind, queue: labelValue(name), shard: labelValue(shard), number };
    return [
      ...(computed === null ? [] : [{ labels: { ...labels, source: "computed" }, value: computed }]),
      ...(reported === null ? [] : [{ labels: { ...labels, source: "reported" }, value: reported }]),
    ];
  });
}

/** A half-life as people write it: `30m`, `1h`, `24h`, `7d`. */
export function halfLifeText(seconds: number): string {
  if (seconds % 86_400 === 0 && seconds > 86_400) return `${seconds / 86_400}d`;
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
