import type { Queueing, QueueView, WaitingGang, WaitingPart } from "../../join/queues/queueing.ts";
import { standsInLine } from "../../join/queues/servingOrder.ts";
import { firstPlaceOf, type PlaceAmount } from "../../join/queues/waitingPlaces.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";

/** A gang that would start with what the records of its queue could have. */
export interface ActionableGang {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  /** Its parts, each as counted in the record that serves it. */
  readonly parts: readonly WaitingPart[];
}

/**
 * The gangs that start with what each record of a queue could have (physical GPUs, by index into `Queueing.queues`). Only whole
 * gangs count, in the order of the queue; a gang that does not fit is passed over, or stops those behind it where the queue is
 * strict. Gangs that are `served` (indices) are left out.
 */
export function actionableGangs(
  queueing: Queueing,
  offers: ReadonlyMap<number, number>,
  served: ReadonlySet<number>,
): readonly ActionableGang[] {
  const gangs: ActionableGang[] = [];
  const queues = [...offers.keys()];
  takeGangs(queueing, { queues, served }, offers, (gang, left) => {
    const parts = standingParts(queueing.gangs[gang]?.parts ?? [], queues, left);
    gangs.push({ gang, parts });
  });
  return gangs;
}

/** The parts of a gang, each as counted in the first place that still has room for it beside the parts before. */
function standingParts(
  parts: readonly WaitingPart[],
  queues: readonly number[],
  offers: Float64Array,
): readonly WaitingPart[] {
  const left = offers.slice();
  return parts.map((part) => {
    const found = firstPlaceOf(part, (place) => takenAt(part.pods, place, queues, left) !== null);
    const taken = found === null ? null : takenAt(part.pods, found, queues, left);
    if (taken !== null) left[taken.at] = (left[taken.at] ?? 0) - taken.gpus;
    return found ?? part;
  });
}

/**
 * How much whole gangs can use of what each record of a queue could have, by index into `Queueing.queues`. Without this, five
 * GPUs would seem to be owed to a queue in which every gang needs eight.
 */
export type GangSteps = (queues: readonly number[], offers: ReadonlyMap<number, number>) => ReadonlyMap<number, number>;

/** Creates the `GangSteps` of one moment, which can be used for many queues. */
export function createGangSteps(queueing: Queueing): GangSteps {
  let least: Float64Array | null = null;
  return (queues, offers) => {
    least ??= leastGpus(queueing.gangs);
    const left = takeGangs(queueing, { queues, served: nobody, least }, offers, () => {});
    return new Map(
      [...offers].map(([queue, gpus]) => [queue, Math.min(gpus, gpus - (left[queues.indexOf(queue)] ?? 0))] as const),
    );
  };
}

/**
 * The number of GPUs without which each gang does not start, wherever it goes; `Infinity`: it starts with no number. There may
 * be tens of thousands of gangs that mostly do not fit, and need not be examined for each queue.
 */
function leastGpus(gangs: readonly WaitingGang[]): Float64Array {
  const least = new Float64Array(gangs.length);
  for (let i = 0; i < gangs.length; i++) {
    const gang = gangs[i];
    // A gang of several parts may have the largest of them elsewhere; a gang that is not in the line stops no other.
    if (gang === undefined || gang.parts.length !== 1 || !standsInLine(gang)) continue;
    const [part] = gang.parts;
    const each = part === undefined || gang.never !== null ? null : part.gpusPerPod;
    least[i] = part === undefined || each === null ? Number.POSITIVE_INFINITY : part.pods * fewestOf(part, each);
  }
  return least;
}

function fewestOf({ places = [] }: WaitingPart, each: number): number {
  let fewest = each;
  for (const { gpusPerPod } of places) if (gpusPerPod !== null) fewest = Math.min(fewest, gpusPerPod);
  return fewest;
}

const nobody: ReadonlySet<number> = new Set();

/** Records of one queue, which of its gangs are settled, and the fewest GPUs with which each gang starts, if known. */
interface Line {
  readonly queues: readonly number[];
  readonly served: ReadonlySet<number>;
  readonly least?: Float64Array;
}

/**
 * Calls `take` for the gangs that fit, in order, with what was left before each. Returns what is left of each offer, parallel
 * to the queues; -1 where nothing is offered.
 */
function takeGangs(
  queueing: Queueing,
  { queues, served, least }: Line,
  offers: ReadonlyMap<number, number>,
  take: (gang: number, left: Float64Array) => void,
): Float64Array {
  let left: Float64Array = Float64Array.from(queues, (queue) => offers.get(queue) ?? -1);
  let open = openOf(left);
  let largest = Math.max(0, ...left);
  const views = queues.flatMap((index) => queueing.queues[index] ?? []);
  const isStrict = views.some(({ isStrictOrder }) => isStrictOrder);
  const order = inOrder(views);
  for (let n = 0; n < order.length && open > gpuTolerance; n++) {
    const gangIndex = order[n] ?? -1;
    if (gangIndex === order[n - 1]) continue;
    if (least !== undefined && (least[gangIndex] ?? 0) > largest + gpuTolerance) {
      if (isStrict && !served.has(gangIndex)) break;
      continue;
    }
    const gang = queueing.gangs[gangIndex];
    if (gang === undefined || !standsInLine(gang) || served.has(gangIndex)) continue;
    const after = withGang(gang, queues, left);
    if (after !== null) {
      take(gangIndex, left);
      left = after;
      open = openOf(left);
      largest = Math.max(0, ...left);
    } else if (isStrict) break;
  }
  return left;
}

function openOf(left: Float64Array): number {
  let sum = 0;
  for (const gpus of left) if (gpus > 0) sum += gpus;
  return sum;
}

/** The gangs of all records of a queue, in one order. Where several have any, one gang may be listed several times. */
function inOrder(views: readonly QueueView[]): ArrayLike<number> {
  const [first, ...others] = views.filter(({ gangs }) => gangs.length > 0);
  if (first === undefined || others.length === 0) return first?.gangs ?? [];
  return Int32Array.from([first, ...others].flatMap(({ gangs }) => gangs)).sort();
}

/** What is left when a gang has taken its GPUs, each part in one place; `null`: the gang does not fit. */
function withGang({ parts, never }: WaitingGang, queues: readonly number[], offers: Float64Array): Float64Array | null {
  if (never !== null) return null;
  let left = offers;
  for (const part of parts) {
    if (part.queue === null || !queues.includes(part.queue)) continue;
    const found = part.gpusPerPod === null ? null : takenFrom(part, queues, left);
    if (found === null) return null;
    // Most gangs do not fit, so the offers are copied only for those that do.
    if (left === offers) left = offers.slice();
    left[found.at] = (left[found.at] ?? 0) - found.gpus;
  }
  return left;
}

/** The first place that has room for all of a part, by its index among the queues. */
function takenFrom(part: WaitingPart, queues: readonly number[], left: Float64Array): TakenPlace | null {
  const { pods, places = [] } = part;
  for (let n = -1; n < places.length; n++) {
    const taken = takenAt(pods, places[n] ?? part, queues, left);
    if (taken !== null) return taken;
  }
  return null;
}

/** What pods take of what is left in one of the queues (by its index among them). */
interface TakenPlace {
  readonly at: number;
  /** Physical GPUs. */
  readonly gpus: number;
}

function takenAt(
  pods: number,
  { queue, gpusPerPod }: PlaceAmount,
  queues: readonly number[],
  left: Float64Array,
): TakenPlace | null {
  const at = queue === null || gpusPerPod === null ? -1 : queues.indexOf(queue);
  const gpus = pods * (gpusPerPod ?? 0);
  // Members without GPUs start with the others, whatever is owed to the queue in which they are counted.
  return at !== -1 && gpus <= Math.max(0, left[at] ?? 0) + gpuTolerance ? { at, gpus } : null;
}
