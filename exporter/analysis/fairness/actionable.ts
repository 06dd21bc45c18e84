import type { Queueing, QueueView, WaitingGang } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { sumOf } from "./waterFill.ts";

/**
 * The gangs that start with an amount in one queue, as indices into `Queueing.gangs`: whole ones, taken in the order of the
 * queue; a gang that does not fit is passed over, or stops those behind it where the queue is strict. Physical GPUs.
 */
export function actionableGangs(queueing: Queueing, index: number, shortfall: number): readonly number[] {
  const gangs: number[] = [];
  takeGangs(queueing, [index], new Map([[index, shortfall]]), (gang) => gangs.push(gang));
  return gangs;
}

/**
 * Of what each record of a queue could have: what whole gangs can use of it, by index into `Queueing.queues`. Without it, five
 * GPUs would seem to be owed to a queue in which every gang needs eight.
 */
export function gangSteps(
  queueing: Queueing,
  queues: readonly number[],
  offers: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const left = takeGangs(queueing, queues, offers, () => {});
  return new Map([...offers].map(([queue, gpus]) => [queue, Math.min(gpus, gpus - (left.get(queue) ?? 0))] as const));
}

/** Names the gangs that fit, in order; what is left of each offer. */
function takeGangs(
  queueing: Queueing,
  queues: readonly number[],
  offers: ReadonlyMap<number, number>,
  take: (gang: number) => void,
): ReadonlyMap<number, number> {
  let left = new Map(offers);
  let open = sumOf([...left.values()]);
  const views = queues.flatMap((index) => queueing.queues[index] ?? []);
  for (const gangIndex of inOrder(views)) {
    if (open <= gpuTolerance) break;
    const gang = queueing.gangs[gangIndex];
    if (gang === undefined || isAside(gang)) continue;
    const after = withGang(gang, queues, left);
    if (after !== null) {
      left = after;
      open = sumOf([...left.values()]);
      take(gangIndex);
    } else if (views.some(({ isStrictOrder }) => isStrictOrder)) break;
  }
  return left;
}

/** Gangs stand in one order over all records of a queue. */
function inOrder(views: readonly QueueView[]): readonly number[] {
  const [only] = views;
  if (views.length <= 1) return only?.gangs ?? [];
  return [...new Set(views.flatMap(({ gangs }) => gangs))].sort((a, b) => a - b);
}

/** What is left when a gang has taken its GPUs, each part in one place; `null`: it does not fit. */
function withGang(
  { parts, never }: WaitingGang,
  queues: readonly number[],
  offers: ReadonlyMap<number, number>,
): Map<number, number> | null {
  if (never !== null) return null;
  const left = new Map(offers);
  for (const { queue, pods, gpusPerPod, places } of parts) {
    if (queue === null || !queues.includes(queue)) continue;
    if (gpusPerPod === null) return null;
    const options = [{ queue, gpusPerPod }, ...(places ?? [])];
    const found = options.find((one) => {
      const size = pods * (one.gpusPerPod ?? Number.POSITIVE_INFINITY);
      return size <= (left.get(one.queue) ?? -1) + gpuTolerance;
    });
    if (found === undefined) return null;
    left.set(found.queue, (left.get(found.queue) ?? 0) - pods * (found.gpusPerPod ?? 0));
  }
  return left;
}

/** Not in the line at all: somebody holds it back, or the queue does not take it. */
function isAside({ never }: WaitingGang): boolean {
  return never === "paused" || never === "no-queue";
}

/** What a gang waits for in one queue; `null` where it is not known, or can never be had. */
export function gpusIn({ parts, never }: WaitingGang, queue: number): number | null {
  if (never !== null) return null;
  let gpus = 0;
  for (const part of parts) {
    if (part.queue !== queue) continue;
    if (part.gpusPerPod === null) return null;
    gpus += part.pods * part.gpusPerPod;
  }
  return gpus;
}
