import type { Queueing, QueueView, WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { firstPlaceOf } from "../../join/queues/waitingPlaces.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import { sumOf } from "./waterFill.ts";

/** A gang that starts with what a record of its queue could have. */
export interface ActionableGang {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  /** Its parts, each as it stands in the record that serves it. */
  readonly parts: readonly WaitingPart[];
}

/**
 * The gangs that start with what each record of a queue could have (physical GPUs, by index into `Queueing.queues`): whole ones,
 * taken in the order of the queue; a gang that does not fit is passed over, or stops those behind it where the queue is strict.
 * Those that are `served` (indices) are out of the line.
 */
export function actionableGangs(
  queueing: Queueing,
  offers: ReadonlyMap<number, number>,
  served: ReadonlySet<number>,
): readonly ActionableGang[] {
  const gangs: ActionableGang[] = [];
  const line = { queues: [...offers.keys()], served };
  takeGangs(queueing, line, offers, (gang, parts) => gangs.push({ gang, parts }));
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
  const left = takeGangs(queueing, { queues, served: nobody }, offers, () => {});
  return new Map([...offers].map(([queue, gpus]) => [queue, Math.min(gpus, gpus - (left.get(queue) ?? 0))] as const));
}

const nobody: ReadonlySet<number> = new Set();

/** Names the gangs that fit, in order; what is left of each offer. */
function takeGangs(
  queueing: Queueing,
  { queues, served }: { readonly queues: readonly number[]; readonly served: ReadonlySet<number> },
  offers: ReadonlyMap<number, number>,
  take: (gang: number, parts: readonly WaitingPart[]) => void,
): ReadonlyMap<number, number> {
  let left = new Map(offers);
  let open = sumOf([...left.values()]);
  const views = queues.flatMap((index) => queueing.queues[index] ?? []);
  for (const gangIndex of inOrder(views)) {
    if (open <= gpuTolerance) break;
    const gang = queueing.gangs[gangIndex];
    if (gang === undefined || isAside(gang) || served.has(gangIndex)) continue;
    const after = withGang(gang, queues, left);
    if (after !== null) {
      left = after.left;
      open = sumOf([...left.values()]);
      take(gangIndex, after.parts);
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
function withGang({ parts, never }: WaitingGang, queues: readonly number[], offers: ReadonlyMap<number, number>) {
  if (never !== null) return null;
  const left = new Map(offers);
  const standing: WaitingPart[] = [];
  for (const part of parts) {
    if (part.queue === null || !queues.includes(part.queue)) {
      standing.push(part);
      continue;
    }
    if (part.gpusPerPod === null) return null;
    // Members without GPUs start beside the others, whatever is owed where they are counted.
    const found = firstPlaceOf(part, ({ queue, gpusPerPod }) => {
      const size = part.pods * (gpusPerPod ?? Number.POSITIVE_INFINITY);
      return size <= Math.max(0, left.get(queue ?? -1) ?? 0) + gpuTolerance;
    });
    if (found === null) return null;
    standing.push(found);
    if (found.queue !== null)
      left.set(found.queue, (left.get(found.queue) ?? 0) - found.pods * (found.gpusPerPod ?? 0));
  }
  return { left, parts: standing };
}

/** Not in the line at all: somebody holds it back, or the queue does not take it. */
function isAside({ never }: WaitingGang): boolean {
  return never === "paused" || never === "no-queue";
}
