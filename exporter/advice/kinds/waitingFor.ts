import { gpusIn } from "../../analysis/fairness/actionable.ts";
import type { QueueView, QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import type { AdviceMoment } from "../moment.ts";
import { placementRules } from "../whatIf/plan.ts";
import type { Outcome, Trial } from "../whatIf/trial.ts";
import { gpuWords } from "./words.ts";

/** Gangs that wait in one leaf queue, and what they ask it for. */
export interface WaitingFor {
  /** Index into `Queueing.queues`. */
  readonly queue: number;
  readonly view: QueueView;
  readonly domain: QuotaDomain;
  /** Indices into `Queueing.gangs`, in the order in which the queue serves them. */
  readonly gangs: readonly number[];
  /** Physical GPUs that they ask of the queue together. */
  readonly gpus: number;
  /** The lowest of theirs: what serves them all. */
  readonly priority: number;
}

/** What some gangs of a leaf queue wait for; `null` where there is nothing. */
export function waitingFor({ analysis }: AdviceMoment, queue: number, gangs: readonly number[]): WaitingFor | null {
  const { queueing } = analysis.snapshot;
  const view = queueing.queues[queue];
  const domain = view === undefined ? undefined : queueing.domains[view.domain];
  if (view === undefined || domain === undefined || gangs.length === 0) return null;
  let [gpus, priority] = [0, Infinity];
  for (const index of gangs) {
    const gang = queueing.gangs[index];
    if (gang === undefined) return null;
    gpus += gpusWaiting(gang, queue);
    priority = Math.min(priority, gang.priority);
  }
  return { queue, view, domain, gangs, gpus, priority };
}

/** What a gang asks of a queue, whatever keeps it from it; 0 where it is not known. */
export function gpusWaiting(gang: WaitingGang, queue: number): number {
  return gpusIn({ ...gang, never: null }, queue) ?? 0;
}

/**
 * What the queue gains: GPUs of its gangs that start, without those that would start without the change, whichever the
 * placement rule.
 */
export function createGain(
  { analysis }: AdviceMoment,
  trial: Trial,
  { queue, gangs }: WaitingFor,
): (outcome: Outcome) => number {
  const anyway = startingAnyway(trial, gangs);
  const counted = new Set(gangs.filter((gang) => !anyway.has(gang)));
  const { gangs: before } = analysis.snapshot.queueing;
  const gpusOf = (index: number, outcome: Outcome): number => {
    const gang = before[index];
    if (gang === undefined) return 0;
    const gpus = gpusWaiting(gang, queue);
    if (gang.min - gang.bound >= gang.pods) return gpus;
    // Of members that it can do without, some may still wait.
    const left = outcome.snapshot.queueing.gangs[index];
    return left === undefined ? 0 : gpus - gpusWaiting(left, queue);
  };
  return (outcome) =>
    outcome.started.filter((gang) => counted.has(gang)).reduce((sum, gang) => sum + gpusOf(gang, outcome), 0);
}

/** Gangs that start as things are, under one of the placement rules at least. */
export function startingAnyway(trial: Trial, gangs: readonly number[]): ReadonlySet<number> {
  const plan = { changes: [], starts: gangs };
  return new Set(placementRules.flatMap((rule) => trial.started(plan, rule)));
}

/** `kind/namespace/name` of gangs, as they are found again once they run. */
export function workNames({ analysis }: AdviceMoment, gangs: readonly number[]): readonly string[] {
  const names = gangs.flatMap((index) => {
    const gang = analysis.snapshot.queueing.gangs[index];
    return gang === undefined ? [] : [`${gang.kind}/${gang.namespace}/${gang.name}`];
  });
  return [...new Set(names)];
}

/** `namespace/name` of gangs, for sentences. */
export function gangNames({ analysis }: AdviceMoment, gangs: readonly number[]): readonly string[] {
  return gangs.flatMap((index) => {
    const gang = analysis.snapshot.queueing.gangs[index];
    return gang === undefined ? [] : [`${gang.namespace}/${gang.name}`];
  });
}

/** `16 H100`; `16 GPUs` where a domain has several pools. */
export function domainGpus({ pools }: QuotaDomain, gpus: number): string {
  const [only] = pools;
  return `${gpuWords(gpus)} ${pools.length === 1 && only !== undefined ? only : gpus === 1 ? "GPU" : "GPUs"}`;
}

/** For the label: empty where a domain has several pools. */
export const poolLabel = ({ pools }: QuotaDomain): string => (pools.length === 1 ? (pools[0] ?? "") : "");

/** The one thing that all of them are; empty where they differ. */
export function onlyOne(values: readonly string[]): string {
  const [first = "", ...others] = new Set(values);
  return others.length === 0 ? first : "";
}

/** The one team whose gangs wait; empty where there are several. */
export function teamOf({ analysis }: AdviceMoment, gangs: readonly number[]): string {
  return onlyOne(gangs.map((index) => analysis.snapshot.queueing.gangs[index]?.team ?? ""));
}
