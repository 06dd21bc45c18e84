import type { StarvedBorrower } from "../../analysis/fairness/fairness.ts";
import { compareText } from "../../kernel/compareText.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { askGuards } from "../guards/guards.ts";
import type { AdviceMoment } from "../moment.ts";
import { momentOrder } from "../momentOrder.ts";
import type { Plan } from "../whatIf/plan.ts";
import type { Trial } from "../whatIf/trial.ts";
import { createFreeCapacityCheck } from "./reclaimableCapacity.ts";
import { nameOf, questionFor, type Victim } from "./reclaimVictims.ts";
import type { WaitingFor } from "./waitingFor.ts";

/**
 * Of up to this many of the cheapest victims, all sets are tried. If there are more victims, sets of those that share a node
 * and of the cheapest are tried, too.
 */
const combined = 14;
/** The most trials of one search, and the number that each search may always make. */
const mostTrials = 32;
const leastTrials = 4;

/** The workloads to be taken, and the plan that takes them and starts the gangs. */
export interface Choice {
  /** The victims, the cheapest first. */
  readonly victims: readonly Victim[];
  readonly plan: Plan;
}

/** The plan that takes these victims. */
function planFor(victims: readonly Victim[], starts: readonly number[]): Plan {
  return { changes: victims.map(({ workload }) => ({ kind: "stop", workload })), starts };
}

/**
 * The cheapest set of victims with which all gangs start under both placement rules: sets that take no more than is owed come
 * first, then the fewest GPU-hours lost, then the fewest GPUs. Each set is tried, because GPUs must become free where they can
 * be used. `null` if none was found within the trials.
 */
export function chooseVictims(
  moment: AdviceMoment,
  trial: Trial,
  wanted: WaitingFor,
  allowed: readonly Victim[],
  pairs: readonly StarvedBorrower[],
  budget: { left: number },
): Choice | null {
  const sets = known.get(allowed) ?? rankedSets(moment, allowed, pairs);
  known.set(allowed, sets);
  const hasFreeCapacity = createFreeCapacityCheck(moment, wanted);
  const most = Math.min(mostTrials, Math.max(leastTrials, Math.floor(budget.left / 2)));
  let trials = 0;
  for (const { victims } of sets) {
    if (trials >= most) break;
    if (!hasFreeCapacity(victims) || !isAllowed(moment, wanted, victims)) continue;
    trials += 1;
    budget.left = Math.max(0, budget.left - 1);
    if (!startsAll(trial, wanted, victims)) continue;
    const needed = withoutSpare(moment, trial, wanted, victims);
    return { victims: needed, plan: planFor(needed, wanted.starts) };
  }
  return null;
}

/** The ranked sets by their list of victims: the same victims are tried for more and for fewer gangs. */
const known = new WeakMap<readonly Victim[], readonly Ranked[]>();

function rankedSets(
  moment: AdviceMoment,
  allowed: readonly Victim[],
  pairs: readonly StarvedBorrower[],
): readonly Ranked[] {
  const byWorkload = momentOrder(moment.analysis).workloads;
  const inOrder = [...allowed].sort((a, b) => byWorkload(a.workload, b.workload));
  const places = new Map(inOrder.map((victim, place) => [victim, place] as const));
  const owed = new Map<number, number>();
  for (const { borrower, gpus } of pairs) owed.set(borrower, Math.min(gpus, owed.get(borrower) ?? Infinity));
  const sets: Ranked[] = [];
  const open = openPlans(moment);
  for (const victims of candidateSets(allowed, moment)) {
    if (victims.length > 0) sets.push(ranked(victims, owed, places, open));
  }
  return sets.sort(bestFirst);
}

const startsAll = (trial: Trial, { gangs, starts }: WaitingFor, victims: readonly Victim[]): boolean =>
  trial.startsAll(planFor(victims, starts), gangs);

/** Whether the guards allow it: they judge everything that is taken together. */
function isAllowed(moment: AdviceMoment, wanted: WaitingFor, victims: readonly Victim[]): boolean {
  return [...Map.groupBy(victims, ({ by }) => by).keys()].every((by) => {
    const pods = victims.flatMap((victim) => victim.pods);
    return askGuards(moment, questionFor(wanted, pods, by)).vetoes.length === 0;
  });
}

/** Leaves out every victim that is not needed, from the last to the first. */
function withoutSpare(
  moment: AdviceMoment,
  trial: Trial,
  wanted: WaitingFor,
  victims: readonly Victim[],
): readonly Victim[] {
  let kept = victims;
  for (const victim of [...victims].reverse()) {
    const rest = kept.filter((one) => one !== victim);
    if (rest.length === 0) continue;
    if (startsAll(trial, wanted, rest) && isAllowed(moment, wanted, rest)) kept = rest;
  }
  return kept;
}

function* candidateSets(
  allowed: readonly Victim[],
  { analysis, settings }: AdviceMoment,
): Generator<readonly Victim[]> {
  const most = settings.maxMoves;
  yield* subsets(allowed.slice(0, combined), most);
  if (allowed.length <= combined) return;
  for (let size = combined + 1; size <= Math.min(allowed.length, most); size++) yield allowed.slice(0, size);
  const { pods } = analysis.snapshot;
  const byNode = new Map<string, Victim[]>();
  for (const victim of allowed) {
    for (const node of new Set(victim.pods.map((pod) => pods[pod]?.node ?? ""))) {
      const there = byNode.get(node) ?? [];
      if (there.length < combined) byNode.set(node, [...there, victim]);
    }
  }
  for (const there of byNode.values()) {
    for (let size = 1; size <= Math.min(there.length, most); size++) yield there.slice(0, size);
  }
}

/** All sets of at most `most` victims. */
function* subsets(victims: readonly Victim[], most: number): Generator<readonly Victim[]> {
  const [first, ...rest] = victims;
  if (first === undefined || most <= 0) {
    yield [];
    return;
  }
  yield* subsets(rest, most);
  for (const others of subsets(rest, most - 1)) yield [first, ...others];
}

/** The targets of each open plan to reclaim, each plan as one text. */
const openPlans = ({ open }: AdviceMoment): ReadonlySet<string> =>
  new Set(
    [...(open?.values() ?? [])].flatMap(({ kind, targets }) => (kind === "reclaim" ? [targetsText(targets)] : [])),
  );

const targetsText = (targets: readonly string[]): string => [...targets].sort(compareText).join("\n");

/**
 * The loss of a plan that people see already counts this many times, so that it is given up only for a plan that loses a
 * quarter less: as checkpoints age, different plans are cheapest in turn.
 */
const openPlanCounts = 0.75;

interface Ranked {
  readonly victims: readonly Victim[];
  readonly isTooMuch: boolean;
  /** GPU-hours; for an open plan, this is less than the real loss. */
  readonly lostGpuHours: number;
  readonly gpus: number;
  /** The place of each victim among all victims in the order of the moment. */
  readonly places: readonly number[];
}

function ranked(
  victims: readonly Victim[],
  owed: ReadonlyMap<number, number>,
  places: ReadonlyMap<Victim, number>,
  open: ReadonlySet<string>,
): Ranked {
  let [lostGpuHours, gpus, isTooMuch] = [0, 0, false];
  for (const victim of victims) {
    lostGpuHours += victim.lostGpuHours;
    gpus += victim.gpus;
    isTooMuch ||= isMoreThan(victims, victim.queue, owed.get(victim.queue) ?? Infinity);
  }
  if (open.size > 0 && open.has(targetsText(victims.map(({ view }) => nameOf(view))))) lostGpuHours *= openPlanCounts;
  return { victims, isTooMuch, lostGpuHours, gpus, places: victims.map((victim) => places.get(victim) ?? 0) };
}

/**
 * Whether a borrower would give back more than its excess, counted in whole workloads: even without the smallest of them
 * enough would be given back.
 */
function isMoreThan(victims: readonly Victim[], borrower: number, owed: number): boolean {
  let [sum, smallest] = [0, Infinity];
  for (const { queue, gpus } of victims) {
    if (queue !== borrower) continue;
    sum += gpus;
    smallest = Math.min(smallest, gpus);
  }
  return sum - smallest >= owed - gpuTolerance;
}

function bestFirst(a: Ranked, b: Ranked): number {
  return (
    Number(a.isTooMuch) - Number(b.isTooMuch) ||
    a.lostGpuHours - b.lostGpuHours ||
    a.gpus - b.gpus ||
    a.victims.length - b.victims.length ||
    firstInOrder(a.places, b.places)
  );
}

function firstInOrder(a: readonly number[], b: readonly number[]): number {
  for (const [i, place] of a.entries()) if (place !== b[i]) return place - (b[i] ?? -1);
  return 0;
}
