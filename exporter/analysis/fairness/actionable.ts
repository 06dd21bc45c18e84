import type { Queueing, QueueView, WaitingGang } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "./waterFill.ts";

/**
 * Of a shortfall: whole gangs that fit into it, taken in the order of the queue; a gang that does not fit is passed over, or
 * stops those behind it where the queue is strict. Physical GPUs. Without it, five GPUs would seem to be owed to a queue
 * in which every gang needs eight.
 */
export function actionableShortfall(queueing: Queueing, index: number, queue: QueueView, shortfall: number): number {
  return Math.min(shortfall, shortfall - takeGangs(queueing, index, queue, shortfall, () => {}));
}

/** The gangs that `actionableShortfall` counts, as indices into `Queueing.gangs`. */
export function actionableGangs(queueing: Queueing, index: number, shortfall: number): readonly number[] {
  const queue = queueing.queues[index];
  const gangs: number[] = [];
  if (queue !== undefined) takeGangs(queueing, index, queue, shortfall, (gang) => gangs.push(gang));
  return gangs;
}

/** Names the gangs that fit into an amount, in order; what is left of it. */
function takeGangs(
  queueing: Queueing,
  index: number,
  queue: QueueView,
  amount: number,
  take: (gang: number) => void,
): number {
  let left = amount;
  for (const gangIndex of queue.gangs) {
    if (left <= gpuTolerance) break;
    const gang = queueing.gangs[gangIndex];
    if (gang === undefined || isAside(gang)) continue;
    const size = gpusIn(gang, index);
    if (size !== null && size <= left + gpuTolerance) {
      left -= size;
      take(gangIndex);
    } else if (queue.isStrictOrder) break;
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
