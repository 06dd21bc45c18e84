import type { Analysis } from "../../analysis/analysis.ts";
import { deviationsIn } from "../../analysis/fairness/deviations.ts";
import { once } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { EffectMeasures, Money } from "../../model/recommendation.ts";
import { type ClusterCopy, tidy } from "./clusterCopy.ts";
import { type Deviations, mostChanged } from "./mostChanged.ts";
import type { PlacementRule, Plan } from "./plan.ts";
import { changeOfNodes, type NodeMeasures, nodeScales, nodesOfPools, touchedPools } from "./touchedMeasures.ts";
import { blockedIn, changeOfBlocked, findWaitingKinds } from "./waitingMeasures.ts";

/** The measures before and after a plan, all of them for the same pools and queues. */
export type PlanMeasures = Readonly<Record<"before" | PlacementRule, EffectMeasures>>;

/** What a plan changes under one rule. */
export interface PlanChange {
  readonly pools: ReadonlySet<string>;
  /** Domains (indices) of these pools, and those in which only queues are touched. */
  readonly domains: ReadonlySet<number>;
  readonly nodes: NodeMeasures;
  readonly blockedGpus: number;
  readonly pendingGpus: number;
  readonly deviations: Deviations;
}

/** Measures plans of one moment: what they touch, before and after the plan. */
export interface Measuring {
  /** By how much a copy on which the plan was made differs from the moment. */
  changeOf(copy: ClusterCopy, plan: Plan): PlanChange;
  ofPlan(changes: Readonly<Record<PlacementRule, PlanChange>>): PlanMeasures;
}

/** Makes the measuring of a moment. Sums over pools are those of the moment, with the changes of the touched nodes added. */
export function createMeasuring(analysis: Analysis): Measuring {
  const scales = once(() => nodeScales(analysis));
  const waiting = once(() => findWaitingKinds(analysis));
  const deviations = new Map<string, Deviations>();
  const { queues } = analysis.snapshot.queueing;
  return {
    changeOf(copy, plan) {
      const pools = new Set([...touchedPools(copy), ...poolsOfPlan(analysis, plan)]);
      const domains = new Set([...domainsOf(copy, pools), ...copy.touchedDomains]);
      return {
        pools,
        domains,
        nodes: changeOfNodes(copy, scales()),
        blockedGpus: changeOfBlocked(copy, waiting(), poolsOf(analysis, domains)),
        pendingGpus: pendingIn(copy, domains) - pendingIn({ queues }, domains),
        deviations: changedDeviations(copy, domains, deviations),
      };
    },
    ofPlan({ mostAllocated, leastAllocated }) {
      const pools = new Set([...mostAllocated.pools, ...leastAllocated.pools]);
      const changed = mostChanged(
        (queue) => deviationBefore(analysis, queue),
        [mostAllocated.deviations, leastAllocated.deviations],
      );
      const nodes = nodesOfPools(analysis, pools);
      const domains = new Set([...mostAllocated.domains, ...leastAllocated.domains]);
      const blocked = blockedIn(analysis, waiting(), poolsOf(analysis, domains));
      const pending = pendingIn({ queues }, domains);
      const side = (change: PlanChange | null): EffectMeasures => ({
        blockedGpus: atLeastNothing(blocked + (change?.blockedGpus ?? 0)),
        pendingGpus: atLeastNothing(pending + (change?.pendingGpus ?? 0)),
        ...ofNodes(nodes, change?.nodes ?? null),
        deviations: deviationsOf(analysis, changed, change?.deviations ?? new Map()),
      });
      return { before: side(null), mostAllocated: side(mostAllocated), leastAllocated: side(leastAllocated) };
    },
  };
}

/** The deviation of a queue (index) in the moment itself, from which changes are counted; 0 where it has none. */
const deviationBefore = ({ fairness }: Analysis, queue: number): number => fairness.queues[queue]?.deviation ?? 0;

/** The domains (indices) that have some of these pools. */
function domainsOf({ domains }: Pick<ClusterCopy, "domains">, pools: ReadonlySet<string>): ReadonlySet<number> {
  return new Set(domains.flatMap((domain, index) => (domain.pools.some((pool) => pools.has(pool)) ? [index] : [])));
}

/**
 * The present deviations of the leaf queues whose deviation has changed. `known` has those that were found in this moment, by
 * what had changed: both placement rules mostly leave queues, work and domains with the same amounts, wherever the pods are.
 */
function changedDeviations(
  copy: ClusterCopy,
  domains: ReadonlySet<number>,
  known: Map<string, Deviations>,
): Deviations {
  const changed = new Map<number, number>();
  if (copy.touchedDomains.size === 0) return changed;
  const { history } = copy.analysis;
  const { queueing } = copy.live;
  const key = changesOfQueueing(copy, domains);
  const found = known.get(key);
  if (found !== undefined) return found;
  // Nothing has changed in other domains, so entitlements there need not be computed again.
  for (const [i, now] of deviationsIn(queueing, history, domains))
    if (Math.abs(now - deviationBefore(copy.analysis, i)) > gpuTolerance) changed.set(i, now);
  known.set(key, changed);
  return changed;
}

/** Everything in which the queueing of a copy differs from that of the moment, and the domains that are judged, as a text. */
function changesOfQueueing(
  { analysis, queues, domains, changedGangs }: ClusterCopy,
  judged: ReadonlySet<number>,
): string {
  const { queueing } = analysis.snapshot;
  const changed = [
    queues.flatMap((queue, i) => (queue === queueing.queues[i] ? [] : [[i, queue]])),
    domains.flatMap((domain, i) => (domain === queueing.domains[i] ? [] : [[i, domain]])),
    changedGangs(),
  ];
  return JSON.stringify([[...judged], changed], (_, value: unknown) => (value === Infinity ? "Infinity" : value));
}

/** The deviations of some queues: those in `now` where they are given, and those of the moment for the others. */
function deviationsOf(
  { snapshot, fairness }: Analysis,
  queues: readonly number[],
  now: Deviations,
): EffectMeasures["deviations"] {
  const { queueing } = snapshot;
  return queues.flatMap((index) => {
    const queue = queueing.queues[index];
    const gpus = now.get(index) ?? fairness.queues[index]?.deviation ?? null;
    if (queue === undefined || gpus === null) return [];
    return [{ queue: queue.name, domain: queueing.domains[queue.domain]?.name ?? "", gpus }];
  });
}

/** Pending physical GPUs of all leaf queues in some domains. */
function pendingIn({ queues }: Pick<ClusterCopy, "queues">, domains: ReadonlySet<number>): number {
  let pending = 0;
  for (const queue of queues) if (queue.isLeaf && domains.has(queue.domain)) pending += queue.pending;
  return pending;
}

/** The pools of the domains in which the plan changes a queue or starts work, even if this has no effect. */
function poolsOfPlan(analysis: Analysis, { changes, starts }: Plan): ReadonlySet<string> {
  const { queueing } = analysis.snapshot;
  const domains = new Set<number>();
  for (const change of changes) {
    const queue =
      change.kind === "setQueue" || change.kind === "letReclaim" ? queueing.queues[change.queue] : undefined;
    if (queue !== undefined) domains.add(queue.domain);
  }
  for (const gang of starts)
    for (const { domain } of queueing.gangs[gang]?.parts ?? []) if (domain !== null) domains.add(domain);
  return poolsOf(analysis, domains);
}

const poolsOf = ({ snapshot: { queueing } }: Analysis, domains: ReadonlySet<number>): ReadonlySet<string> =>
  new Set([...domains].flatMap((domain) => queueing.domains[domain]?.pools ?? []));

const hoursPerWeek = 168;

/** A sum of parts, where a sum that is 0 except for rounding counts as 0. */
const atLeastNothing = (gpus: number): number => (gpus < 1e-6 ? 0 : gpus);

type OfNodes = Omit<EffectMeasures, "blockedGpus" | "pendingGpus" | "deviations">;

function ofNodes(nodes: NodeMeasures, change: NodeMeasures | null): OfNodes {
  const placeable = (size: 1 | 2 | 4 | 8) => nodes.placeablePods[size] + (change?.placeablePods[size] ?? 0);
  const cost = new Map(nodes.cost);
  for (const [currency, amount] of change?.cost ?? []) cost.set(currency, (cost.get(currency) ?? 0) + amount);
  const costPerWeek = [...cost]
    .map(([currency, amount]): Money => ({ currency, amount: Math.max(0, tidy(amount * hoursPerWeek)) }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1));
  return {
    freeGpus: atLeastNothing(nodes.freeGpus + (change?.freeGpus ?? 0)),
    placeablePods: { "1": placeable(1), "2": placeable(2), "4": placeable(4), "8": placeable(8) },
    wholeFreeNodes: nodes.wholeFreeNodes + (change?.wholeFreeNodes ?? 0),
    expectedFragmentation: atLeastNothing(nodes.expectedFragmentation + (change?.expectedFragmentation ?? 0)),
    idleGpus: atLeastNothing(nodes.idleGpus + (change?.idleGpus ?? 0)),
    unobservedGpus: atLeastNothing(nodes.unobservedGpus + (change?.unobservedGpus ?? 0)),
    idleNodeHoursPerWeek: Math.max(0, tidy(nodes.idleNodeHours + (change?.idleNodeHours ?? 0))),
    costPerWeek,
  };
}
