import type { Queueing, QueueView, WaitingGang } from "../../join/queues/queueing.ts";
import { gpuTolerance } from "./waterFill.ts";

/**
 * Of a shortfall: whole gangs that fit into it, taken in the order of the queue; a gang that does not fit is passed over, or
 * stops those behind it where the queue is strict. Physical GPUs. Without it, five GPUs would seem to be owed to a queue
 * in which every gang needs eight.
 */
export function actionableShortfall(queueing: Queueing, index: number, queue: QueueView, shortfall: number): number {
  let left = shortfall;
  for (const gangIndex of queue.gangs) {
    if (left <= gpuTolerance) break;
    const gang = queueing.gangs[gangIndex];
    if (gang === undefined || isAside(gang)) continue;
    const size = sizeIn(gang, index);
    if (size !== null && size <= left + gpuTolerance) left -= size;
    else if (queue.isStrictOrder) break;
  }
  return Math.min(shortfall, shortfall - left);
}

/** Not in the line at all: somebody holds it back, or the queue does not take it. */
function isAside({ never }: WaitingGang): boolean {
  return never === "paused" || never === "no-queue";
}

/** What a gang waits for in one queue; `null` where it is not known, or can never be had. */
function sizeIn({ parts, never }: WaitingGang, queue: number): number | null {
  if (never !== null) return null;
  let gpus = 0;
  for (const part of parts) {
    if (part.queue !== queue) continue;
    if (part.gpusPerPod === null) return null;
    gpus += part.pods * part.gpusPerPod;
  }
  return gpus;
}
