import { absentSum } from "../../accounts/posting.ts";
import type { FairnessDebt, QueueTotals } from "../../accounts/queueCounters.ts";
import type { DomainFairness, QueueFairness } from "../../analysis/fairness/fairness.ts";
import { absentCapacity, allocatedPastQueues } from "../../analysis/sums/domainSums.ts";
import type { fairnessMetrics } from "../../catalogue/fairness.ts";
import { labelValue } from "../../kernel/labelValue.ts";
import { absentOwners, shortfallCauses } from "../../model/shortfall.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { type PairSeries, type QueueLabels, type QueueMember, together } from "../queueSeries.ts";
import { otherTeams } from "../teamSeries.ts";
import { combined } from "./combined.ts";

/** What queues and teams are entitled to, hold and miss. */
export const fairnessProducers: Producers<keyof typeof fairnessMetrics> = {
  fairlead_domain_capacity_gpus: ({ moment }) =>
    moment?.analysis.snapshot.queueing.domains.map(({ name, capacity }) => ({
      labels: { domain: name },
      value: capacity,
    })),
  fairlead_domain_info: ({ moment }) =>
    moment?.analysis.snapshot.queueing.domains.flatMap(({ name, pools }) =>
      pools.map((pool) => ({ labels: { domain: name, pool }, value: 1 })),
    ),
  fairlead_domain_past_queues_gpus: ({ moment }) => {
    if (moment === null) return [];
    const { queueing } = moment.analysis.snapshot;
    const past = allocatedPastQueues(queueing);
    return queueing.domains.map(({ name }, index) => ({ labels: { domain: name }, value: past[index] ?? 0 }));
  },
  fairlead_fairness_misallocated_ratio: (input) => ofDomains(input, ({ misallocatedRatio }) => misallocatedRatio),
  fairlead_fairness_jain_index: (input) => ofDomains(input, ({ jainIndex }) => jainIndex),
  fairlead_fairness_idle_gap_gpus: (input) => ofDomains(input, ({ idleGap }) => idleGap),
  fairlead_fairness_absent_capacity_gpus: ({ moment }) => {
    if (moment === null) return [];
    const { snapshot, fairness } = moment.analysis;
    const missing = absentCapacity(snapshot.queueing, fairness);
    return snapshot.queueing.domains.flatMap(({ name }, index) =>
      fairness.domains[index] == null
        ? []
        : absentOwners.map((owner) => ({ labels: { domain: name, owner }, value: missing[index]?.[owner] ?? 0 })),
    );
  },
  fairlead_team_entitled_gpus: (input) => ofTeams(input, "entitled"),
  fairlead_team_fairness_deviation_gpus: (input) => ofTeams(input, "deviation"),
  fairlead_queue_entitled_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.entitled),
  fairlead_queue_allocated_gpus: (input) => ofQueues(input, ({ queue }) => queue.allocated),
  fairlead_queue_pending_gpus: (input) => ofQueues(input, ({ queue }) => queue.pending),
  fairlead_fairness_deviation_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.deviation),
  fairlead_queue_shortfall_gpus: ({ moment }) =>
    moment?.queues.queues.flatMap((series) =>
      shortfallCauses.map((cause) => ({
        labels: { ...series.labels, cause },
        value: together(series, ({ fairness }) => fairness && shortfallBy[cause](fairness)),
      })),
    ),
  fairlead_queue_actionable_shortfall_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.actionableShortfall),
  fairlead_queue_reclaimable_gpus: (input) => ofQueues(input, ({ fairness, reclaimable }) => fairness && reclaimable),
  fairlead_queue_guaranteed_gpus: (input) => ofQueues(input, ({ queue }) => queue.guaranteed),
  fairlead_queue_limit_gpus: (input) =>
    ofQueues(input, ({ queue }) => (Number.isFinite(queue.limit) ? queue.limit : null)),
  fairlead_queue_reserved_gpus: (input) => ofQueues(input, ({ queue }) => queue.reserved),
  // Weights of queues that share a name are not added up.
  fairlead_queue_weight: ({ moment }) =>
    moment?.queues.queues.map(({ labels, members: [member, ...others] }) => ({
      labels,
      value: others.length > 0 ? null : member?.queue.weight,
    })),
  fairlead_fairness_pair_gpus: ({ moment }) => moment?.queues.pairs.map(pairSample),
  fairlead_fairness_held_back_gpus: ({ moment }) => moment?.queues.heldBack.map(pairSample),
  fairlead_queue_allocated_gpu_seconds_total: (input) => ofTotals(input, ({ allocated }) => allocated),
  fairlead_queue_judged_allocated_gpu_seconds_total: (input) =>
    ofTotals(input, ({ judgedAllocated }) => judgedAllocated),
  fairlead_queue_entitled_gpu_seconds_total: (input) => ofTotals(input, ({ entitled }) => entitled),
  fairlead_queue_excess_gpu_seconds_total: (input) => ofTotals(input, ({ excess }) => excess),
  fairlead_queue_shortfall_gpu_seconds_total: ({ accounts }) =>
    accounts?.queues.totals.flatMap((totals) =>
      shortfallCauses.map((cause) => ({
        labels: { ...queueLabelsOf(totals), cause },
        value: countedShortfallBy[cause](totals),
      })),
    ),
  fairlead_queue_absent_capacity_gpu_seconds_total: ({ accounts }) =>
    accounts?.queues.absent.map(({ gpuSeconds, ...labels }) => ({ labels, value: gpuSeconds })),
  fairlead_queue_pending_gpu_seconds_total: (input) => ofTotals(input, ({ pending }) => pending),
  fairlead_queue_judged_seconds_total: (input) => ofTotals(input, ({ judgedSeconds }) => judgedSeconds),
  fairlead_fairness_debt_gpu_seconds: (input) => ofDebts(input, ({ gpuSeconds }) => gpuSeconds),
  fairlead_fairness_deviation_ratio: (input) => ofDebts(input, ({ ratio }) => ratio),
  fairlead_queue_scheduler_value: schedulerValues,
  fairlead_configuration_findings: ({ moment }) =>
    moment &&
    combined(moment.analysis.findings.map(({ scheduler, code }) => ({ labels: { scheduler, code }, value: 1 }))),
};

type Cause = (typeof shortfallCauses)[number];

/** The parts of a shortfall now, by cause. */
const shortfallBy: Readonly<Record<Cause, (fairness: QueueFairness) => number>> = {
  by_others: ({ shortfallByBorrowers }) => shortfallByBorrowers,
  idle_gap: ({ shortfallByIdleGap }) => shortfallByIdleGap,
  absent_capacity: ({ shortfallByAbsentCapacity }) =>
    shortfallByAbsentCapacity.reduce((sum, { gpus }) => sum + gpus, 0),
  indivisible: ({ shortfallByIndivisible }) => shortfallByIndivisible,
};

/** The parts of the shortfall over the time that was counted, by cause. */
const countedShortfallBy: Readonly<Record<Cause, (totals: QueueTotals) => number>> = {
  by_others: ({ shortfallByBorrowers }) => shortfallByBorrowers,
  idle_gap: ({ shortfallByIdleGap }) => shortfallByIdleGap,
  absent_capacity: absentSum,
  indivisible: ({ shortfallByIndivisible }) => shortfallByIndivisible,
};

/** One number of each queue. */
function ofQueues({ moment }: FamilyInput, of: (member: QueueMember) => number | null | undefined) {
  return moment?.queues.queues.map((series) => ({ labels: series.labels, value: together(series, of) }));
}

function pairSample({ domain, starved, borrower, gpus }: PairSeries) {
  return { labels: { domain, starved_queue: starved, borrower_queue: borrower }, value: gpus };
}

function ofTotals({ accounts }: FamilyInput, of: (totals: QueueTotals) => number) {
  return accounts?.queues.totals.map((totals) => ({ labels: queueLabelsOf(totals), value: of(totals) }));
}

function ofDebts({ accounts }: FamilyInput, of: (debt: FairnessDebt) => number | null) {
  return accounts?.queues.debts.map((debt) => ({
    labels: { ...queueLabelsOf(debt), half_life: halfLifeText(debt.halfLifeSeconds) },
    value: of(debt),
  }));
}

const queueLabelsOf = ({ scheduler, kind, queue, domain, team }: QueueLabels): QueueLabels => ({
  scheduler,
  kind,
  queue,
  domain,
  team,
});

/** One number of each domain; `null` where entitlement is not known. */
function ofDomains({ moment }: FamilyInput, of: (domain: DomainFairness) => number | null) {
  return moment?.analysis.snapshot.queueing.domains.map(({ name }, index) => {
    const fairness = moment.analysis.fairness.domains[index] ?? null;
    return { labels: { domain: name }, value: fairness && of(fairness) };
  });
}

/** One number of each team in each domain, under the names that the teams have in their other series. */
function ofTeams({ moment }: FamilyInput, of: "entitled" | "deviation") {
  if (moment === null) return [];
  const { snapshot, fairness } = moment.analysis;
  const named = new Set(moment.teams.map(({ team }) => team));
  return combined(
    fairness.teams.map((one) => {
      const team = labelValue(one.team);
      const domain = labelValue(snapshot.queueing.domains[one.domain]?.name ?? "");
      return { labels: { team: named.has(team) ? team : otherTeams, domain }, value: one[of] };
    }),
  );
}

/**
 * The schedulers' own numbers of queues that have series of their own, and of as many others (cohorts, LocalQueues) as the
 * page may have names: these numbers cannot be added up.
 */
function schedulerValues({ moment }: FamilyInput) {
  if (moment === null) return [];
  const { analysis, queues } = moment;
  let left = queues.limit;
  return analysis.schedulerViews.flatMap(({ scheduler, kind, name, shard, number, computed, reported }) => {
    const isNamed = queues.isNamed(scheduler, name);
    if (!isNamed && left <= 0) return [];
    if (!isNamed) left -= 1;
    const labels = { scheduler, kind, queue: name, shard, number };
    return [
      { labels: { ...labels, source: "computed" }, value: computed },
      { labels: { ...labels, source: "reported" }, value: reported },
    ];
  });
}

/** A half-life as people write it: `30m`, `1h`, `24h`, `7d`. */
function halfLifeText(seconds: number): string {
  if (seconds % 86_400 === 0 && seconds > 86_400) return `${seconds / 86_400}d`;
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
