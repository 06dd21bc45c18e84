import type { Snapshot } from "../join/snapshot.ts";
import { compareText } from "../kernel/compareText.ts";
import { nameWords } from "../kernel/nameWords.ts";
import { gpuTolerance } from "../model/gpuTolerance.ts";
import { adviceKinds, type WithheldAdvice } from "../model/recommendation.ts";
import type { Candidate } from "./candidate.ts";
import { askGuards } from "./guards/guards.ts";
import type { AdviceMoment } from "./moment.ts";
import { type InOrder, type MomentOrder, momentOrder } from "./momentOrder.ts";
import { byWorth, type Offer } from "./offer.ts";
import { pathOf } from "./steps/resourceRef.ts";
import { type Change, type Plan, placementRules } from "./whatIf/plan.ts";
import type { Trial } from "./whatIf/trial.ts";

/** An offer with the candidate that it was made from. */
export interface AssessedOffer {
  readonly candidate: Candidate;
  readonly offer: Offer;
}

/** Offers that can all be taken, the most valuable first, and those that gave way to one of them. */
export interface Excluded {
  readonly kept: readonly Offer[];
  readonly excluded: readonly WithheldAdvice[];
}

/**
 * Of plans for the same need, and of plans that act on the same workload, node, queue or waiting gang, only the one that is
 * worth most stays, because the simulation of one plan knows nothing of the other. The same holds for plans that would take the
 * same free GPUs, where a plan gives way if it would keep any plan of higher worth from its promise, and for plans that
 * together evict more pods than a PodDisruptionBudget or a Job allows. Of plans of equal worth, the one that loses less comes
 * first; then the order of the moment decides. Open advice gives way only to a plan that is worth a quarter more: otherwise the
 * two would take turns.
 */
export function excludeRivals(moment: AdviceMoment, trial: Trial, offers: readonly AssessedOffer[]): Excluded {
  const { snapshot } = moment.analysis;
  const ranked = inOrder(moment, offers);
  const worth = new Map(offers.map(({ offer: { draft } }) => [draft.id, draft.worthGpuHours] as const));
  const taken = new Map<string, string>();
  const kept: Offer[] = [];
  const excluded: WithheldAdvice[] = [];
  const placing: AssessedOffer[] = [];
  const evicted: number[] = [];
  for (const one of ranked) {
    const { candidate, offer } = one;
    const keys = keysOf(snapshot, one);
    const rival = keys.map((key) => taken.get(key)).find((id) => id !== undefined);
    const { id, kind, title } = offer.draft;
    const giveWay = (because: string, rival?: string) =>
      excluded.push({
        kind,
        subject: candidate.beneficiary.name,
        why: "excluded",
        reason: `${title}: ${because}`,
        id,
        ...(rival === undefined ? {} : { rival }),
      });
    if (rival !== undefined) {
      giveWay(givesWayTo(rival, worth.get(rival) ?? 0, offer), rival);
      continue;
    }
    const evicts = evictedBy(snapshot, candidate);
    const objection = evicts.length === 0 ? null : objectionTo(moment, [...evicted, ...evicts]);
    if (objection !== null) {
      giveWay(`it may not be done beside what comes first: ${objection}`);
      continue;
    }
    if (needsFreeCapacity(candidate)) {
      if (!haveFreeCapacityTogether(trial, [...placing, one])) {
        const others = placing.map((other) => other.offer.draft.id);
        giveWay(`there is no room for it beside ${nameWords(others)}`, others.length === 1 ? others[0] : undefined);
        continue;
      }
      placing.push(one);
    }
    evicted.push(...evicts);
    for (const key of keys) taken.set(key, offer.draft.id);
    kept.push(offer);
  }
  return { kept: kept.sort(byWorth), excluded };
}

const givesWayTo = (rival: string, worth: number, { draft }: Offer): string =>
  `${rival} acts on the same, and ${worth >= draft.worthGpuHours ? "gains more" : "is open already and gains nearly as much"}`;

/** What people see already counts this many times its worth. */
const openCounts = 1.25;

/**
 * Sorts offers: those that are worth most come first, then those that lose least. Names decide only where nothing else differs.
 */
function inOrder({ open, analysis }: AdviceMoment, offers: readonly AssessedOffer[]): readonly AssessedOffer[] {
  const worth = ({ draft: { id, worthGpuHours } }: Offer): number =>
    worthGpuHours * (open?.has(id) === true ? openCounts : 1);
  const byThings = inOrderOfThings(momentOrder(analysis));
  const lost = ({ draft }: Offer): number => draft.cost.lostGpuHours;
  return [...offers].sort(
    (a, b) =>
      worth(b.offer) - worth(a.offer) ||
      lost(a.offer) - lost(b.offer) ||
      byThings(a.candidate, b.candidate) ||
      compareText(a.offer.draft.id, b.offer.draft.id),
  );
}

/** Compares candidates by kind, then by the first of the pods, of the waiting work and of the nodes that each acts on. */
function inOrderOfThings({ pods, gangs, nodes }: MomentOrder): (a: Candidate, b: Candidate) => number {
  const first = (of: readonly number[], order: InOrder): number => of.toSorted(order)[0] ?? -1;
  const nodesOf = ({ plan: { changes } }: Candidate): readonly number[] =>
    changes.flatMap((change) => (change.kind === "removeNode" || change.kind === "observe" ? [change.node] : []));
  return (a, b) =>
    adviceKinds.indexOf(a.kind) - adviceKinds.indexOf(b.kind) ||
    pods(first(a.disrupted, pods), first(b.disrupted, pods)) ||
    gangs(first(a.plan.starts, gangs), first(b.plan.starts, gangs)) ||
    nodes(first(nodesOf(a), nodes), first(nodesOf(b), nodes));
}

/** Keys that no two plans may share. */
function keysOf(snapshot: Snapshot, { candidate, offer }: AssessedOffer): readonly string[] {
  const { plan, targets } = candidate;
  return [
    `need ${offer.need}`,
    ...touched(snapshot, plan.changes),
    // A plan that releases GPUs gains by the release, whatever starts on them.
    ...(gainsByStarts(candidate) ? plan.starts.map((gang) => `gang ${gang}`) : []),
    // The changes of a plan do not contain a node that is to be partitioned; the targets do.
    ...targets.map((target) => `target ${target}`),
  ];
}

/** Pods (indices) that leave through the Eviction API. */
function evictedBy({ pods }: Snapshot, { disrupted, steps }: Candidate): readonly number[] {
  const paths = new Set(steps.map(({ request }) => request.path).filter((path) => path.endsWith("/eviction")));
  if (paths.size === 0) return [];
  return disrupted.filter((index) => {
    const { namespace = "", name = "" } = pods[index] ?? {};
    const path = pathOf({ group: "", version: "v1", resource: "pods", namespace, name }, "eviction");
    return path !== null && paths.has(path);
  });
}

/** The objection to evicting all of these pods; `null`: there is none. */
function objectionTo(moment: AdviceMoment, pods: readonly number[]): string | null {
  const { vetoes } = askGuards(moment, { pods, how: "release", by: "eviction", beneficiary: null });
  return vetoes.find(({ guard }) => guard === "disruption-budget" || guard === "job-backoff")?.reason ?? null;
}

/**
 * Whether the promise of a plan depends on free GPUs that another could take, or removes free GPUs. A plan that releases GPUs
 * keeps its promise, whatever starts on them.
 */
const needsFreeCapacity = (candidate: Candidate): boolean =>
  gainsByStarts(candidate) || candidate.plan.changes.some(({ kind }) => kind === "move" || kind === "removeNode");

/** Whether the gain of a plan is that work starts. */
const gainsByStarts = ({
  plan,
  beneficiary,
}: { readonly plan: Pick<Plan, "starts"> } & Pick<Candidate, "beneficiary">): boolean =>
  plan.starts.length > 0 && (beneficiary.kind === "workload" || beneficiary.kind === "queue");

/** Whether these offers, carried out together, gain what each of them promises. */
function haveFreeCapacityTogether(trial: Trial, offers: readonly AssessedOffer[]): boolean {
  if (offers.length < 2) return true;
  const changes = offers.flatMap(({ candidate }) => candidate.plan.changes);
  const avoided = new Set(changes.flatMap((change) => (change.kind === "move" ? change.avoid : [])));
  const place = (change: Change): number => (change.kind !== "removeNode" ? 1 : avoided.has(change.node) ? 2 : 0);
  const plan: Plan = {
    // A removed node must not take pods that move; a node whose pods are moved is removed when they have left it.
    changes: changes.sort((a, b) => place(a) - place(b)),
    starts: offers.flatMap(({ candidate }) => candidate.plan.starts),
  };
  for (const rule of placementRules) {
    const outcome = trial.outcome(plan, rule);
    const isShort = ({ candidate, offer }: AssessedOffer): boolean =>
      candidate.gainedGpus(outcome) < offer.draft.effect.gainedGpus.worst - gpuTolerance;
    if (outcome.moved.some(({ to }) => to === null) || offers.some(isShort)) return false;
  }
  return true;
}

const touched = (snapshot: Snapshot, changes: readonly Change[]): readonly string[] =>
  changes.flatMap((change) => touchedBy(snapshot, change));

function touchedBy({ pods }: Snapshot, change: Change): readonly string[] {
  switch (change.kind) {
    case "stop":
    case "shrink":
      return [`workload ${change.workload}`];
    case "move":
      return [
        ...new Set(change.pods.map((pod) => `workload ${pods[pod]?.workload}`)),
        ...change.avoid.map((node) => `node ${node}`),
      ];
    case "removeNode":
    case "observe":
      return [`node ${change.node}`];
    case "setQueue":
    case "letReclaim":
      return [`queue ${change.queue}`];
  }
}
