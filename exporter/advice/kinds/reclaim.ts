import type { Analysis } from "../../analysis/analysis.ts";
import type { ActionableGang } from "../../analysis/fairness/actionable.ts";
import type { StarvedBorrower } from "../../analysis/fairness/fairness.ts";
import { compareText } from "../../kernel/compareText.ts";
import { oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { WithheldAdvice } from "../../model/recommendation.ts";
import { candidatesPerKind, type FindInPieces, foundOf, type MadeCandidate, withhold } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Trial } from "../whatIf/trial.ts";
import { type Choice, chooseVictims } from "./chooseVictims.ts";
import { freeFor } from "./reclaimableCapacity.ts";
import { reclaimCandidate } from "./reclaimCandidate.ts";
import { findVictims, searchVictims, type VictimSearch, type Victims } from "./reclaimVictims.ts";
import { domainGpus, owedGangs, startingAnyway, type WaitingFor, waitingFor } from "./waitingFor.ts";
import { countWords } from "./words.ts";

/** A queue that is short because others hold more than their share. */
export interface Starved {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  /** The queues from which its scheduler would take. */
  readonly pairs: readonly StarvedBorrower[];
  /**
   * The queues from which its scheduler would take without a certain setting, and that setting in words; `null`: no setting
   * holds it back.
   */
  readonly heldBack: { readonly pairs: readonly StarvedBorrower[]; readonly because: string } | null;
  /** Physical GPUs of whole gangs that fit into its shortfall. */
  readonly actionable: number;
  readonly shortfall: number;
}

/**
 * Advice to give a starved queue back what others borrow: whole workloads of the queues with which it is paired leave, as many
 * as are needed for its own gangs to start.
 */
export const findReclaim: FindInPieces = function* (moment, trial) {
  const found: MadeCandidate[] = [];
  const all = starvedQueues(moment.analysis);
  for (const { queue, pairs, heldBack } of all) {
    if (pairs.length > 0 || heldBack === null) continue;
    const subject = moment.analysis.snapshot.queueing.queues[queue]?.name ?? "";
    found.push(refuse(subject, "guard", `Its scheduler takes nothing back: ${heldBack.because}.`));
  }
  const starved = all.filter(({ pairs }) => pairs.length > 0);
  if (starved.length === 0) return foundOf(found);
  const search = searchVictims(moment);
  const served = new Set<number>();
  for (const one of starved.slice(0, candidatesPerKind)) {
    yield;
    found.push(giveBack(moment, trial, one, { victimSearch: search, served }));
  }
  return foundOf(found);
};

/**
 * Leaf queues to which GPUs for whole gangs are owed, or would be owed without a certain setting; those with the most GPUs
 * first.
 */
export const starvedQueues = oncePer((analysis: Analysis): readonly Starved[] => {
  const { fairness, snapshot } = analysis;
  const nameOf = ({ queue }: Starved): string => snapshot.queueing.queues[queue]?.name ?? "";
  const found: Starved[] = [];
  for (const domain of fairness.domains) {
    if (domain === null) continue;
    const pairs = Map.groupBy(domain.pairs, (pair) => pair.starved);
    const heldBack = Map.groupBy(domain.heldBack, (pair) => pair.starved);
    for (const queue of new Set([...pairs.keys(), ...heldBack.keys()])) {
      const judged = fairness.queues[queue] ?? null;
      const [allocated] = heldBack.get(queue) ?? [];
      if (judged === null) continue;
      found.push({
        queue,
        pairs: pairs.get(queue) ?? [],
        heldBack: allocated === undefined ? null : { pairs: heldBack.get(queue) ?? [], because: allocated.because },
        actionable: judged.actionableShortfall,
        // Nobody can give back guarantees for which there are no nodes.
        shortfall: judged.shortfallByIdleGap + judged.shortfallByBorrowers,
      });
    }
  }
  return found.sort((a, b) => b.actionable - a.actionable || compareText(nameOf(a), nameOf(b)) || a.queue - b.queue);
});

const refuse = withhold("reclaim");

/** What all plans of a moment share. `served`: gangs (indices) that an earlier plan starts. */
interface Given {
  readonly victimSearch: VictimSearch;
  readonly served: Set<number>;
}

function giveBack(
  moment: AdviceMoment,
  trial: Trial,
  starved: Starved,
  { victimSearch, served }: Given,
): MadeCandidate {
  const { snapshot, fairness } = moment.analysis;
  const owedTo = (record: number): number => {
    const { actionableShortfall = 0, shortfallByIdleGap = 0 } = fairness.queues[record] ?? {};
    // GPUs that others would give to the queue in another domain belong to another plan.
    return record === starved.queue ? actionableShortfall : Math.min(actionableShortfall, shortfallByIdleGap);
  };
  const owed = owedGangs(moment, starved.queue, owedTo, served);
  const all = waitingFor(moment, starved.queue, owed);
  const name = snapshot.queueing.queues[starved.queue]?.name ?? "";
  if (all === null) return refuse(name, "no-plan", "None of its waiting gangs would start with what is owed to it.");
  const anyway = startingAnyway(trial, all.starts);
  if (all.gangs.every((gang) => anyway.has(gang)))
    return refuse(name, "no-plan", "All that is owed to it fits onto GPUs that are free: nobody has to give any back.");
  if (fitsAsThingsAre(moment, all))
    return refuse(
      name,
      "no-plan",
      `All that is owed to it fits onto GPUs that are free; quota alone keeps it waiting, and taking running work would free GPUs that are not missing.`,
    );
  let victims: Victims | null = null;
  const own = starved.pairs;
  // The queues that are paired with it are tried first; if they cannot free enough, all queues that hold more than their share.
  for (const pairs of [own, everyBorrower(moment, starved)]) {
    const search: Search = { queue: starved.queue, owed, anyway, pairs, victimSearch, known: new Map() };
    const found: Attempt = largestPlan(moment, trial, search);
    if (found.ok) {
      // The same GPUs are not given to two gangs, and no gang is started twice.
      for (const gang of found.wanted.gangs) served.add(gang);
      for (const { workload } of found.choice.victims) victimSearch.taken.add(workload);
      return reclaimCandidate(moment, trial, { starved, ...found });
    }
    victims = found.victims;
  }
  return nothingFor(all, victims, starved, moment.settings.maxMoves);
}

/** Where GPUs are searched for, and for which gangs. */
interface Search {
  readonly queue: number;
  readonly owed: readonly ActionableGang[];
  /** Gangs (indices) that start without the plan. */
  readonly anyway: ReadonlySet<number>;
  readonly pairs: readonly StarvedBorrower[];
  readonly victimSearch: VictimSearch;
  /** Victims that were found before, by the question that their guards were asked. */
  readonly known: Map<string, Victims>;
}

type Attempt =
  | { readonly ok: true; readonly wanted: WaitingFor; readonly choice: Choice; readonly victims: Victims }
  | { readonly ok: false; readonly victims: Victims | null };

/**
 * A plan for as many gangs from the front of the queue as possible, which is found by halving the number and then closing in.
 */
function largestPlan(moment: AdviceMoment, trial: Trial, search: Search): Attempt {
  const { owed, anyway } = search;
  const first = owed.findIndex(({ gang }) => !anyway.has(gang)) + 1;
  let best: Attempt = { ok: false, victims: null };
  let [works, fails] = [0, owed.length + 1];
  for (let size = owed.length; size >= first && fails - works > 1; ) {
    const found: Attempt = planFor(moment, trial, search, size);
    if (found.ok) [best, works] = [found, size];
    else {
      fails = size;
      if (!best.ok) best = found;
    }
    const next = works > 0 ? Math.floor((works + fails) / 2) : Math.max(first, Math.floor(size / 2));
    if (next === size || next === works) break;
    size = next;
  }
  return best;
}

function planFor(
  moment: AdviceMoment,
  trial: Trial,
  { queue, owed, pairs, victimSearch, known }: Search,
  size: number,
): Attempt {
  const wanted = waitingFor(moment, queue, owed.slice(0, size));
  if (wanted === null) return { ok: false, victims: null };
  // Guards look only at the priority of the waiting work and at whether it is within the guarantee: both are the same for many
  // sizes.
  const key = `${wanted.priority} ${wanted.gpus + Math.max(wanted.view.allocated, wanted.view.reserved ?? 0) <= wanted.view.guaranteed}`;
  const victims: Victims = known.get(key) ?? findVictims(moment, wanted, pairs, victimSearch);
  known.set(key, victims);
  if (freeFor(moment, wanted) + mostFrom(moment, victims) < wanted.gpus - gpuTolerance) return { ok: false, victims };
  const choice = chooseVictims(moment, trial, wanted, victims.allowed, pairs, victimSearch.trials);
  return choice === null ? { ok: false, victims } : { ok: true, wanted, choice, victims };
}

/** All queues of the domain that hold more than their share, as if the starved queue were paired with each of them. */
function everyBorrower({ analysis }: AdviceMoment, { queue }: Starved): readonly StarvedBorrower[] {
  const domain = analysis.snapshot.queueing.queues[queue]?.domain ?? -1;
  const byBorrower = Map.groupBy(analysis.fairness.domains[domain]?.pairs ?? [], ({ borrower }) => borrower);
  return [...byBorrower].map(([borrower, pairs]) => ({
    starved: queue,
    borrower,
    gpus: pairs.reduce((sum, { gpus }) => sum + gpus, 0),
  }));
}

/** Whether enough GPUs are free where the waiting work can use them: then it only lacks quota. */
function fitsAsThingsAre(moment: AdviceMoment, wanted: WaitingFor): boolean {
  if (wanted.gpus > freeFor(moment, wanted) + gpuTolerance) return false;
  const { snapshot, gangFreeCapacities } = moment.analysis;
  return wanted.standing.every(({ gang, parts }) => {
    const view = snapshot.queueing.gangs[gang];
    return view !== undefined && gangFreeCapacities.ask({ ...view, parts })?.verdict === "fits";
  });
}

/** The most physical GPUs that one plan can take. */
function mostFrom({ settings }: AdviceMoment, { allowed }: Victims): number {
  const sizes = allowed.map(({ gpus }) => gpus).sort((a, b) => b - a);
  return sizes.slice(0, settings.maxMoves).reduce((sum, gpus) => sum + gpus, 0);
}

function nothingFor(
  wanted: WaitingFor,
  victims: Victims | null,
  { pairs }: Starved,
  mostMoves: number,
): WithheldAdvice {
  const { view, domain } = wanted;
  const owed = `${domainGpus(domain, wanted.gpus)} are owed to its waiting work`;
  const [refusal] = victims?.refused ?? [];
  const allowed = victims?.allowed ?? [];
  if (allowed.length === 0 && refusal !== undefined) {
    const others = (victims?.refused.length ?? 1) - 1;
    const more = others > 0 ? ` ${countWords(others, "other workload")} may not be taken either.` : "";
    return refuse(view.name, "guard", `${owed}, but ${refusal.name} may not be taken: ${refusal.reason}${more}`);
  }
  if (allowed.length === 0)
    return refuse(view.name, "no-plan", `${owed}, but no whole workload is known that holds what others borrow.`);
  const excess = pairs.reduce((sum, { gpus }) => sum + gpus, 0);
  return refuse(
    view.name,
    "no-plan",
    `${owed} and others hold ${domainGpus(domain, excess)} above their share, but no plan was found: of the ${countWords(allowed.length, "workload")} that may be taken, no ${mostMoves} or fewer together make room for the first of its gangs on nodes that take it.${allowed.length > allTried ? ` ${notAll}` : ""}`,
  );
}

/** For up to this many victims, every set is tried; for more, the most promising sets, within the trials of a cycle. */
const allTried = 5;
const notAll = "Not all sets of them were tried.";
