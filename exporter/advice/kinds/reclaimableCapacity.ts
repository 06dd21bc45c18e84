import type { Analysis } from "../../analysis/analysis.ts";
import { classIn, isInDomain } from "../../join/queues/domainOfNode.ts";
import type { WaitingPart } from "../../join/queues/queueing.ts";
import { classesOf } from "../../join/queues/waitingPlaces.ts";
import { oncePer } from "../../kernel/once.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import type { Victim } from "./reclaimVictims.ts";
import type { WaitingFor } from "./waitingFor.ts";

/** Whether waiting gangs could fit if these victims left. It is never `false` if they could. */
export type FreeCapacityCheck = (victims: readonly Victim[]) => boolean;

/** Pods of one size that must all find a place. */
interface Wanted {
  readonly size: number;
  /** The number of wanted pods of at least this size. */
  readonly pods: number;
  /** How many pods of this size fit now. */
  readonly fitNow: number;
}

/**
 * Makes a quick check before a trial: enough GPUs must be free in all, and on single nodes enough for the pods of each size. It
 * considers only numbers of GPUs, so a trial may still fail.
 */
export function createFreeCapacityCheck(
  { analysis }: AdviceMoment,
  { queue, standing, view }: WaitingFor,
): FreeCapacityCheck {
  const { snapshot } = analysis;
  const parts = partsIn(standing, queue);
  const { free, total, fitNow } = freeIn(analysis, view.domain, classesOfAll(parts));
  const needed = parts.reduce((sum, { pods, gpusPerPod }) => sum + pods * (gpusPerPod ?? 0), 0);
  const sizes = [...new Set(parts.map(({ gpusPerPod }) => gpusPerPod ?? 0))];
  const wanted = sizes.map((size): Wanted => {
    const atLeast = parts.filter(({ gpusPerPod }) => (gpusPerPod ?? 0) >= size);
    const pods = atLeast.reduce((sum, part) => sum + part.pods, 0);
    return { size, pods, fitNow: fitNow(size) };
  });
  const freedBy = oncePer((victim: Victim): Freed => {
    const byNode = new Map<string, number>();
    let sum = 0;
    for (const index of victim.pods) {
      const pod = snapshot.pods[index];
      if (pod === undefined || pod.node === null || !free.has(pod.node)) continue;
      byNode.set(pod.node, (byNode.get(pod.node) ?? 0) + (pod.gpus ?? 0));
      sum += pod.gpus ?? 0;
    }
    return { byNode, sum };
  });
  return (victims) => {
    let more = 0;
    for (const victim of victims) more += freedBy(victim).sum;
    if (total + more < needed - gpuTolerance) return false;
    const freed = new Map<string, number>();
    for (const victim of victims)
      for (const [node, gpus] of freedBy(victim).byNode) freed.set(node, (freed.get(node) ?? 0) + gpus);
    return wanted.every(({ size, pods, fitNow }) => {
      let fit = fitNow;
      for (const [node, gpus] of freed) {
        const before = free.get(node) ?? 0;
        fit += podsIn(before + gpus, size) - podsIn(before, size);
      }
      return fit >= pods;
    });
  };
}

/** Physical GPUs that are free where the gangs may go. */
export function freeFor({ analysis }: AdviceMoment, { queue, standing, view }: WaitingFor): number {
  return freeIn(analysis, view.domain, classesOfAll(partsIn(standing, queue))).total;
}

const partsIn = (standing: WaitingFor["standing"], queue: number): readonly WaitingPart[] =>
  standing.flatMap(({ parts }) => parts.filter((part) => part.queue === queue && (part.gpusPerPod ?? 0) > 0));

/** The node classes to which any of the parts may go; `null`: all. */
function classesOfAll(parts: readonly WaitingPart[]): readonly number[] | null {
  const found = new Set<number>();
  for (const part of parts) {
    const classes = classesOf(part);
    if (classes === null) return null;
    for (const one of classes) found.add(one);
  }
  return [...found].sort((a, b) => a - b);
}

/** What a victim frees: physical GPUs, by node and in all. */
interface Freed {
  readonly byNode: ReadonlyMap<string, number>;
  readonly sum: number;
}

/** What is free now in some classes of a domain. */
interface FreeNow {
  /** Free physical GPUs of each node that takes pods. */
  readonly free: ReadonlyMap<string, number>;
  readonly total: number;
  /** How many pods of a size (physical GPUs) fit. */
  readonly fitNow: (size: number) => number;
}

/** What is free, by domain and classes, for each moment. */
const freeByPlace = oncePer((_: Analysis): Map<string, FreeNow> => new Map());

function freeIn(analysis: Analysis, domain: number, classes: readonly number[] | null): FreeNow {
  const known = freeByPlace(analysis);
  const key = `${domain} ${classes?.join() ?? "all"}`;
  const found = known.get(key) ?? lookForFree(analysis, domain, classes);
  known.set(key, found);
  return found;
}

function lookForFree(
  { snapshot, freeCapacities }: Analysis,
  domain: number,
  classes: readonly number[] | null,
): FreeNow {
  const view = snapshot.queueing.domains[domain];
  const isMeant = (pool: string, node: string): boolean =>
    view !== undefined &&
    isInDomain(view, pool, node) &&
    (classes === null || classes.includes(classIn(view, pool, node)));
  const free = new Map<string, number>();
  let total = 0;
  for (const [index, node] of snapshot.nodes.entries()) {
    if (node.ready === false || node.schedulable === false) continue;
    const own = (freeCapacities.byNode[index] ?? []).filter(({ pool }) => isMeant(pool, node.name));
    if (own.length === 0) continue;
    const gpus = own.reduce((sum, { now }) => sum + (now?.gpus ?? 0), 0);
    free.set(node.name, gpus);
    total += gpus;
  }
  const known = new Map<number, number>();
  const fitNow = (size: number): number => {
    let pods = known.get(size);
    if (pods !== undefined) return pods;
    pods = 0;
    for (const gpus of free.values()) pods += podsIn(gpus, size);
    known.set(size, pods);
    return pods;
  };
  return { free, total, fitNow };
}

const podsIn = (gpus: number, size: number): number => Math.floor(gpus / size + gpuTolerance);
