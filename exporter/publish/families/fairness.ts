import { absentSum } from "../../accounts/posting.ts";
import type { QueueTotals } from "../../accounts/queueCounters.ts";
import type { DomainFairness, QueueFairness } from "../../analysis/fairness/fairness.ts";
import { absentCapacity, allocatedPastQueues } from "../../analysis/sums/domainSums.ts";
import type { fairnessMetrics } from "../../catalogue/fairness.ts";
import { noQueueing } from "../../join/queues/queueing.ts";
import { labelValue } from "../../kernel/labelValue.ts";
import { absentOwners } from "../../model/shortfall.ts";
import { domainsOf, halfLifeText, schedulerValues, teamFairness } from "../fairnessSamples.ts";
import type { FamilyInput, Producers } from "../family.ts";
import { type PairSeries, type QueueMember, together } from "../queueSeries.ts";

/** What queues and teams are entitled to, hold and miss. */
export const fairnessProducers: Producers<keyof typeof fairnessMetrics> = {
  fairlead_domain_capacity_gpus: ({ health: { cluster }, moment }) =>
    (moment?.analysis.snapshot.queueing.domains ?? []).map(({ name, capacity }) => ({
      labels: { cluster, domain: labelValue(name) },
      value: capacity,
    })),
  fairlead_domain_info: ({ health: { cluster }, moment }) =>
    (moment?.analysis.snapshot.queueing.domains ?? []).flatMap(({ name, pools }) =>
      pools.map((pool) => ({ labels: { cluster, domain: labelValue(name), pool }, value: 1 })),
    ),
  fairlead_domain_past_queues_gpus: ({ health: { cluster }, moment }) => {
    const queueing = moment?.analysis.snapshot.queueing ?? noQueueing;
    const past = allocatedPastQueues(queueing);
    return queueing.domains.map(({ name }, index) => ({
      labels: { cluster, domain: labelValue(name) },
      value: past[index] ?? 0,
    }));
  },
  fairlead_fairness_misallocated_ratio: (input) => ofDomains(input, ({ misallocatedRatio }) => misallocatedRatio),
  fairlead_fairness_jain_index: (input) => ofDomains(input, ({ jainIndex }) => jainIndex),
  fairlead_fairness_idle_gap_gpus: (input) => ofDomains(input, ({ idleGap }) => idleGap),
  fairlead_fairness_absent_capacity_gpus: ({ health: { cluster }, moment }) => {
    if (moment === null) return [];
    const { snapshot, fairness } = moment.analysis;
    const missing = absentCapacity(snapshot.queueing, fairness);
    return snapshot.queueing.domains.flatMap(({ name }, index) => {
      const labels = { cluster, domain: labelValue(name) };
      return fairness.domains[index] == null
        ? []
        : absentOwners.map((owner) => ({ labels: { ...labels, owner }, value: missing[index]?.[owner] ?? 0 }));
    });
  },
  fairlead_team_entitled_gpus: ({ health: { cluster }, moment }) =>
    teamFairness(moment).map(({ team, domain, entitled }) => ({ labels: { cluster, team, domain }, value: entitled })),
  fairlead_team_fairness_deviation_gpus: ({ health: { cluster }, moment }) =>
    teamFairness(moment).map(({ team, domain, deviation }) => ({
      labels: { cluster, team, domain },
      value: deviation,
    })),
  fairlead_queue_entitled_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.entitled),
  fairlead_queue_allocated_gpus: (input) => ofQueues(input, ({ queue }) => queue.allocated),
  fairlead_queue_pending_gpus: (input) => ofQueues(input, ({ queue }) => queue.pending),
  fairlead_fairness_deviation_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.deviation),
  fairlead_queue_shortfall_gpus: ({ health: { cluster }, moment }) =>
    (moment?.queues.queues ?? []).flatMap((series) =>
      shortfallCauses.flatMap(({ cause, of }) => {
        const value = together(series, ({ fairness }) => fairness && of(fairness));
        return value === null ? [] : [{ labels: { cluster, ...series.labels, cause }, value }];
      }),
    ),
  fairlead_queue_actionable_shortfall_gpus: (input) => ofQueues(input, ({ fairness }) => fairness?.actionableShortfall),
  fairlead_queue_reclaimable_gpus: (input) => ofQueues(input, ({ fairness, reclaimable }) => fairness && reclaimable),
  fairlead_queue_guaranteed_gpus: (input) => ofQueues(input, ({ queue }) => queue.guaranteed),
  fairlead_queue_limit_gpus: (input) =>
    ofQueues(input, ({ queue }) => (Number.isFinite(queue.limit) ? queue.limit : null)),
  fairlead_queue_reserved_gpus: (input) => ofQueues(input, ({ queue }) => queue.reserved),
  // Weights of queues that share a name are not added up.
  fairlead_queue_weight: ({ health: { cluster }, moment }) =>
    (moment?.queues.queues ?? []).flatMap(({ labels, members: [member, ...others] }) =>
      member === undefined || others.length > 0 ? [] : [{ labels: { cluster, ...labels }, value: member.queue.weight }],
    ),
  fairlead_fairness_pair_gpus: (input) => ofPairs(input, input.moment?.queues.pairs ?? []),
  fairlead_fairness_held_back_gpus: (input) => ofPairs(input, input.moment?.queues.heldBack ?? []),
  fairlead_queue_allocated_gpu_seconds_total: (input) => ofTotals(input, ({ allocated }) => allocated),
  fairlead_queue_judged_allocated_gpu_seconds_total: (input) =>
    ofTotals(input, ({ judgedAllocated }) => judgedAllocated),
  fairlead_queue_entitled_gpu_seconds_total: (input) => ofTotals(input, ({ entitled }) => entitled),
  fairlead_queue_excess_gpu_seconds_total: (input) => ofTotals(input, ({ excess }) => excess),
  fairlead_queue_shortfall_gpu_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.queues.totals ?? []).flatMap((totals) => {
      const { scheduler, kind, queue, domain, team } = totals;
      const labels = { cluster, scheduler, kind, queue, domain, team };
      return [
        { labels: { ...labels, cause: "by_others" }, value: totals.shortfallByBorrowers },
        { labels: { ...labels, cause: "idle_gap" }, value: totals.shortfallByIdleGap },
        { labels: { ...labels, cause: "absent_capacity" }, value: absentSum(totals) },
        { labels: { ...labels, cause: "indivisible" }, value: totals.shortfallByIndivisible },
      ];
    }),
  fairlead_queue_absent_capacity_gpu_seconds_total: ({ health: { cluster }, accounts }) =>
    (accounts?.queues.absent ?? []).map(({ gpuSeconds, ...labels }) => ({
      labels: { cluster, ...labels },
      value: gpuSeconds,
    })),
  fairlead_queue_pending_gpu_seconds_total: (input) => ofTotals(input, ({ pending }) => pending),
  fairlead_queue_judged_seconds_total: (input) => ofTotals(input, ({ judgedSeconds }) => judgedSeconds),
  fairlead_fairness_debt_gpu_seconds: ({ health: { cluster }, accounts }) =>
    (accounts?.queues.debts ?? []).map(({ scheduler, kind, queue, domain, team, halfLifeSeconds, gpuSeconds }) => ({
      labels: { cluster, scheduler, kind, queue, domain, team, half_life: halfLifeText(halfLifeSeconds) },
      value: gpuSeconds,
    })),
  fairlead_fairness_deviation_ratio: ({ health: { cluster }, accounts }) =>
    (accounts?.queues.debts ?? []).flatMap(({ scheduler, kind, queue, domain, team, halfLifeSeconds, ratio }) =>
      ratio === null
        ? []
        : [
            {
              labels: { cluster, scheduler, kind, queue, domain, team, half_life: halfLifeText(halfLifeSeconds) },
              value: ratio,
            },
          ],
    ),
  fairlead_queue_scheduler_value: ({ health: { cluster }, moment }) =>
    schedulerValues(moment).map(({ labels, value }) => ({ labels: { cluster, ...labels }, value })),
  fairlead_configuration_findings: ({ health: { cluster }, moment }) => {
    const counts = new Map<string, { labels: { cluster: string; scheduler: string; code: string }; value: number }>();
    for (const { scheduler, code } of moment?.analysis.findings ?? []) {
      const key = `${scheduler} ${code}`;
      const count = counts.get(key) ?? { labels: { cluster, scheduler, code }, value: 0 };
      count.value += 1;
      counts.set(key, count);
    }
    return [...counts.values()];
  },
};

/** What a shortfall is made of, by the label `cause`. */
const shortfallCauses: readonly { readonly cause: string; readonly of: (fairness: QueueFairness) => number }[] = [
  { cause: "by_others", of: ({ shortfallByBorrowers }) => shortfallByBorrowers },
  { cause: "idle_gap", of: ({ shortfallByIdleGap }) => shortfallByIdleGap },
  {
    cause: "absent_capacity",
    of: ({ shortfallByAbsentCapacity }) => shortfallByAbsentCapacity.reduce((sum, { gpus }) => sum + gpus, 0),
  },
  { cause: "indivisible", of: ({ shortfallByIndivisible }) => shortfallByIndivisible },
];

/** One number of each queue, where it is known. */
function ofQueues(
  { health: { cluster }, moment }: FamilyInput,
  of: (member: QueueMember) => number | null | undefined,
) {
  return (moment?.queues.queues ?? []).flatMap((series) => {
    const value = together(series, of);
    return value === null ? [] : [{ labels: { cluster, ...series.labels }, value }];
  });
}

function ofPairs({ health: { cluster } }: FamilyInput, pairs: readonly PairSeries[]) {
  return pairs.map(({ domain, starved, borrower, gpus }) => ({
    labels: { cluster, domain, starved_queue: starved, borrower_queue: borrower },
    value: gpus,
  }));
}

function ofTotals({ health: { cluster }, accounts }: FamilyInput, of: (totals: QueueTotals) => number) {
  return (accounts?.queues.totals ?? []).map((totals) => {
    const { scheduler, kind, queue, domain, team } = totals;
    return { labels: { cluster, scheduler, kind, queue, domain, team }, value: of(totals) };
  });
}

/** One number of each domain whose entitlements are known. */
function ofDomains({ health: { cluster }, moment }: FamilyInput, of: (domain: DomainFairness) => number | null) {
  return domainsOf(moment).flatMap(({ name, fairness }) => {
    const value = fairness === null ? null : of(fairness);
    return value === null ? [] : [{ labels: { cluster, domain: name }, value }];
  });
}
