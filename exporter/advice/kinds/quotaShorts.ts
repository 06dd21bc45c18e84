import type { ActionableGang } from "../../analysis/fairness/actionable.ts";
import type { QueueView } from "../../join/queues/queueing.ts";
import { standsInLine } from "../../join/queues/servingOrder.ts";
import { compareText } from "../../kernel/compareText.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { AdviceMoment } from "../moment.ts";
import { gpusOf, type WaitingFor, waitingFor } from "./waitingFor.ts";

/** Gangs of one queue that wait only for quota: there is free capacity for each of them. */
export interface QuotaShort {
  readonly wanted: WaitingFor;
  /** Physical GPUs of the domain that are free and owed to no other queue. */
  readonly spare: number;
}

/**
 * Leaf queues with work that fits onto free GPUs and waits for quota, those with the most GPUs first. Each has as many gangs,
 * in the order of the queue, as can be served with GPUs that are owed to nobody else. Work that is short of GPUs is not helped
 * by quota.
 */
export function quotaShorts(moment: AdviceMoment): readonly QuotaShort[] {
  const { analysis } = moment;
  const { queues } = analysis.snapshot.queueing;
  const waiting = new Set(analysis.waiting.work.filter(({ cause }) => cause === "quota").map(({ gang }) => gang));
  if (waiting.size === 0) return [];
  const spares = spareByDomain(moment);
  const found: QuotaShort[] = [];
  for (const [index, queue] of queues.entries()) {
    if (!queue.isLeaf || queue.gangs.length === 0) continue;
    const free = spares[queue.domain] ?? null;
    if (free === null) continue;
    const spare = free + (analysis.fairness.queues[index]?.shortfall ?? 0);
    const wanted = waitingFor(moment, index, gangsWithin(moment, index, queue, waiting, spare));
    if (wanted !== null) found.push({ wanted, spare });
  }
  return found.sort(
    (a, b) =>
      b.wanted.gpus - a.wanted.gpus ||
      compareText(a.wanted.view.name, b.wanted.view.name) ||
      a.wanted.queue - b.wanted.queue,
  );
}

/** The gangs of a queue, in its order, that wait for quota, fit, and together ask for no more than `spare` physical GPUs. */
function gangsWithin(
  moment: AdviceMoment,
  index: number,
  { gangs, isStrictOrder }: QueueView,
  waiting: ReadonlySet<number>,
  spare: number,
): readonly ActionableGang[] {
  const found: ActionableGang[] = [];
  let left = spare;
  for (const gang of gangs) {
    if (left <= gpuTolerance) break;
    const view = moment.analysis.snapshot.queueing.gangs[gang];
    if (view === undefined || !standsInLine(view)) continue;
    const one = { gang, parts: view.parts };
    const gpus = gpusOf(one, index);
    if (waiting.has(gang) && fitsIn(moment, gang, index) && gpus <= left + gpuTolerance) {
      left -= gpus;
      found.push(one);
      // In a queue that serves strictly in order, work starts only after the work ahead of it.
    } else if (isStrictOrder) break;
  }
  return found;
}

/** Whether a gang fits now and does not wait in another queue as well. */
function fitsIn({ analysis }: AdviceMoment, index: number, queue: number): boolean {
  const gang = analysis.snapshot.queueing.gangs[index];
  if (gang === undefined || gang.gpus === null || !gang.parts.every((part) => part.queue === queue)) return false;
  return analysis.gangFreeCapacities.askedOf(index)?.verdict === "fits";
}

/** Free physical GPUs of each domain that no queue could have now as its own share; `null`: unknown. */
function spareByDomain({ analysis }: AdviceMoment): readonly (number | null)[] {
  const { queues, domains } = analysis.snapshot.queueing;
  const owed = domains.map(() => 0);
  for (let index = 0; index < queues.length; index += 1) {
    const queue = queues[index];
    if (queue?.isLeaf === true)
      owed[queue.domain] = (owed[queue.domain] ?? 0) + (analysis.fairness.queues[index]?.shortfall ?? 0);
  }
  return domains.map(({ capacity, unknownBecause }, index) => {
    const judged = analysis.fairness.domains[index] ?? null;
    return judged === null || unknownBecause !== null ? null : capacity - judged.allocated - (owed[index] ?? 0);
  });
}
