import type { Analysis } from "../../analysis/analysis.ts";
import { type ActionableGang, actionableGangs } from "../../analysis/fairness/actionable.ts";
import { queueName } from "../../analysis/fairness/shortSince.ts";
import type { PlacedPods } from "../../analysis/freeCapacity/gangFit.ts";
import type { QueueView, QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import { partIn } from "../../join/queues/waitingPlaces.ts";
import { oncePer } from "../../kernel/once.ts";
import type { Candidate } from "../candidate.ts";
import type { AdviceMoment } from "../moment.ts";
import { fullName, momentIndex, workloadName } from "../momentIndex.ts";
import { placementRules } from "../whatIf/plan.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import { gpuWords } from "./words.ts";

/** Gangs that wait in one leaf queue, and what they ask for there. */
export interface WaitingFor {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  readonly view: QueueView;
  readonly domain: QuotaDomain;
  /** Indices into `Queueing.gangs`, in the order in which the queue serves them. */
  readonly gangs: readonly number[];
  /** The same gangs, each with its parts as they would wait where they would start. */
  readonly standing: readonly ActionableGang[];
  /**
   * Indices of the gangs that a plan starts, in order: the same gangs, and those before them that would start in another record
   * of the queue.
   */
  readonly starts: readonly number[];
  /** Physical GPUs that the gangs ask for in this queue together. */
  readonly gpus: number;
  /** The lowest priority of the gangs: a plan for it serves them all. */
  readonly priority: number;
}

/**
 * What some gangs wait for in a leaf queue; `null` if there are none. `inLine`: the gangs in the order in which the queue
 * serves them.
 */
export function waitingFor(
  { analysis }: AdviceMoment,
  queue: number,
  inLine: readonly ActionableGang[],
): WaitingFor | null {
  const { queueing } = analysis.snapshot;
  const view = queueing.queues[queue];
  const domain = view === undefined ? undefined : queueing.domains[view.domain];
  const standing = inLine.filter((one) => gpusOf(one, queue) > 0);
  if (view === undefined || domain === undefined || standing.length === 0) return null;
  let [gpus, priority] = [0, Infinity];
  for (const one of standing) {
    const gang = queueing.gangs[one.gang];
    if (gang === undefined) return null;
    gpus += gpusOf(one, queue);
    priority = Math.min(priority, gang.priority);
  }
  const indicesOf = (list: readonly ActionableGang[]): readonly number[] => list.map(({ gang }) => gang);
  return { queue, view, domain, gangs: indicesOf(standing), standing, starts: indicesOf(inLine), gpus, priority };
}

/** Physical GPUs that a gang asks for in a queue; 0 if this is not known. */
export function gpusOf({ parts }: Pick<ActionableGang, "parts">, queue: number): number {
  let gpus = 0;
  for (const part of parts) {
    if (part.queue !== queue) continue;
    if (part.gpusPerPod === null) return 0;
    gpus += part.pods * part.gpusPerPod;
  }
  return gpus;
}

/** Physical GPUs that pods ask for together. */
export const gpusAsked = (pods: readonly Pick<PlacedPods, "pods" | "gpusPerPod">[]): number =>
  pods.reduce((sum, { pods: count, gpusPerPod }) => sum + count * gpusPerPod, 0);

/**
 * The parts of a candidate that are the same for every plan for a queue. Its gain is the work that starts only because of the
 * plan.
 */
export function forQueue(
  moment: AdviceMoment,
  trial: Trial,
  wanted: WaitingFor,
): Pick<Candidate, "beneficiary" | "forTeam" | "queue" | "pool" | "gainedGpus" | "measuredBy"> {
  const { view, domain, gangs, starts } = wanted;
  const anyway = startingAnyway(trial, starts);
  const work = workNames(
    moment,
    gangs.filter((gang) => !anyway.has(gang)),
  );
  return {
    beneficiary: { kind: "queue", name: view.name },
    forTeam: view.team ?? teamOf(moment, gangs),
    queue: view.name,
    pool: poolLabel(domain),
    gainedGpus: createGain(moment, trial, wanted),
    measuredBy: { kind: "work-started", work },
  };
}

/** Makes the gain of the queue: GPUs of its gangs that start only because of the change, under both placement rules. */
function createGain(
  { analysis }: AdviceMoment,
  trial: Trial,
  { queue, starts, standing }: WaitingFor,
): (outcome: Outcome) => number {
  const anyway = startingAnyway(trial, starts);
  const counted = new Map(standing.filter(({ gang }) => !anyway.has(gang)).map((one) => [one.gang, one] as const));
  const { gangs: before } = analysis.snapshot.queueing;
  const gainOf = (index: number, outcome: Outcome): number => {
    const [gang, one] = [before[index], counted.get(index)];
    if (gang === undefined || one === undefined) return 0;
    const gpus = gpusOf(one, queue);
    if (gang.min - gang.bound >= gang.pods) return gpus;
    // Some members that the gang does not need may still wait.
    const left = outcome.snapshot.queueing.gangs[index];
    return left === undefined ? 0 : Math.max(0, gpus - gpusOf({ parts: partsFor(left, queue) }, queue));
  };
  return (outcome) => outcome.started.reduce((sum, gang) => sum + gainOf(gang, outcome), 0);
}

/** The parts of a gang that may go to a record of its queue, as they would wait there. */
function partsFor({ parts }: WaitingGang, queue: number): ActionableGang["parts"] {
  return parts.flatMap((part) => partIn(part, queue) ?? []);
}

/** Gangs that start without a plan under at least one of the placement rules. */
export function startingAnyway(trial: Trial, gangs: readonly number[]): ReadonlySet<number> {
  const known = knownStarting(trial);
  const key = gangs.join();
  const before = known.get(key);
  if (before !== undefined) return before;
  const plan = { changes: [], starts: gangs };
  const found = new Set(placementRules.flatMap((rule) => trial.started(plan, rule)));
  known.set(key, found);
  return found;
}

/** The answers of `startingAnyway` in each trial, by the gangs: the same ones are asked about for a plan, its words and its gain. */
const knownStarting = oncePer((_: Trial) => new Map<string, ReadonlySet<number>>());

/** The names by which gangs are found again once they run: `kind/namespace/name`. */
function workNames({ analysis }: AdviceMoment, gangs: readonly number[]): readonly string[] {
  const found = gangs.flatMap((index) => analysis.snapshot.queueing.gangs[index] ?? []);
  return [...new Set(found.map(workloadName))];
}

/** The names of gangs for sentences: `namespace/name`. */
export function gangNames({ analysis }: AdviceMoment, gangs: readonly number[]): readonly string[] {
  return gangs.flatMap((index) => analysis.snapshot.queueing.gangs[index] ?? []).map(fullName);
}

/** An amount of GPUs with the pool of a domain: `16 H100`, or `16 GPUs` if the domain has several pools. */
export function domainGpus({ pools }: QuotaDomain, gpus: number): string {
  const [only] = pools;
  return `${gpuWords(gpus)} ${pools.length === 1 && only !== undefined ? only : gpus === 1 ? "GPU" : "GPUs"}`;
}

/** The pool of a domain for the label; empty if the domain has several pools. */
export const poolLabel = ({ pools }: QuotaDomain): string => (pools.length === 1 ? (pools[0] ?? "") : "");

/** The value that all elements share; empty if they differ. */
export function onlyOne(values: readonly string[]): string {
  const [first = "", ...others] = new Set(values);
  return others.length === 0 ? first : "";
}

/** The team whose gangs wait; empty if there are several. */
function teamOf({ analysis }: AdviceMoment, gangs: readonly number[]): string {
  return onlyOne(gangs.map((index) => analysis.snapshot.queueing.gangs[index]?.team ?? ""));
}

/**
 * The waiting gangs that start with what the records of a queue are owed, in its order. This includes those that are counted
 * in an earlier flavor and find nothing there. `owedTo`: physical GPUs that each record (by index) could have. `served`: gangs
 * that start without them.
 */
export function owedGangs(
  { analysis }: AdviceMoment,
  queue: number,
  owedTo: (record: number) => number,
  served: ReadonlySet<number> = nobody,
): readonly ActionableGang[] {
  const { queueing } = analysis.snapshot;
  const offers = new Map(recordsWith(analysis, queue).map((record) => [record, owedTo(record)] as const));
  return actionableGangs(queueing, offers, served);
}

const nobody: ReadonlySet<number> = new Set();

/** The records of a queue among which its waiting work may choose, including the given one. */
function recordsWith(analysis: Analysis, queue: number): readonly number[] {
  const { queues, gangs } = analysis.snapshot.queueing;
  const view = queues[queue];
  if (view === undefined) return [];
  const sameName = momentIndex(analysis).leavesCalled(queueName(view));
  if (sameName.length <= 1) return sameName;
  const choices = new Map<unknown, readonly number[]>();
  for (const index of sameName.flatMap((record) => queues[record]?.gangs ?? []))
    for (const { queue: own, places = [] } of gangs[index]?.parts ?? [])
      if (own !== null && places.length > 1 && !choices.has(places))
        choices.set(places, [own, ...places.map((place) => place.queue)]);
  const found = new Set([queue]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const records of choices.values())
      if (records.some((record) => found.has(record))) for (const record of records) found.add(record);
  }
  return [...found].sort((a, b) => a - b);
}
