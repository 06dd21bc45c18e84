import type { DomainHour } from "../build/domainHours.ts";

/** Ended waits of one size of work: how many, and their sum. */
export interface SizedWaits {
  /** The size of the work, as the ledger names it: `1`, `2-7`, `unknown`. */
  readonly sizeClass: string;
  readonly count: number;
  readonly seconds: number;
}

/** A window of one quota domain, as the ledger keeps it. */
export interface PlayedWindow {
  /** Its covered hours, in order. */
  readonly hours: readonly DomainHour[];
  /** Hours of the whole window, whether covered or not. */
  readonly windowHours: number;
  readonly waits: readonly SizedWaits[];
  readonly p95Seconds: number | null;
  /** GPUs of one node more. */
  readonly nodeGpus: number;
}

/** What p95 waits would have been with one node more, seconds, or why nobody knows. */
export type WithNode =
  | { readonly known: true; readonly lowSeconds: number; readonly highSeconds: number }
  | { readonly known: false; readonly reason: string };

/** The smallest part of a window that must be covered: with less, there may have been a queue that nobody saw. */
const leastCovered = 0.9;
const leastHours = 100;
/** With shorter waits nobody buys a node, and means of an hour show no queue. */
const shortWaitSeconds = 3600;
const fewestWaits = 100;
/** The largest part of waits of unknown size. */
const mostUnknown = 0.05;
/**
 * The most free GPUs while work waits, as a part of capacity: if more are free, something other than the number of GPUs holds
 * the work back.
 */
const mostFree = 0.1;
/** How far the waits that ended may be from what was waiting according to the hours, as a part of it. */
const tolerance = 0.15;
/** There is a queue if, as a mean of an hour, work for more GPUs than this waits. */
const someGpus = 0.5;
/**
 * How far the part of the p95 that remains was below and above the part of the queue that remains in nine of ten simulated
 * weeks (docs/decisions/0023). The p95 shrinks less than the queue, because large work is at the long end of the waits.
 */
const below = 0.1;
const above = 0.4;

/** The fewest and the most GPUs of one piece of work, by size class. */
const gpusOfClass: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["<1", [0.1, 1]],
  ["1", [1, 1]],
  ["2-7", [2, 7]],
  ["8", [8, 8]],
  ["9-63", [9, 63]],
  ["64+", [64, 512]],
]);

/**
 * Plays the hours of a window once more with more GPUs. The ledger keeps how many GPUs were allocated and waited for in each
 * hour, and how long work of each size waited. With more GPUs, more of what waits starts, and what has started also ends
 * earlier, at the rate at which GPUs changed hands in this window. By Little ("A Proof for the Queuing Formula L = lambda W",
 * 1961), the GPUs that are allocated are those that start per second, multiplied by the mean time for which one is held. The
 * queue that remains, as a part of the queue that there was, gives the p95. There is no answer where the two records of the
 * window disagree.
 */
export function replayWithNode(window: PlayedWindow): WithNode {
  const { hours, windowHours, waits, p95Seconds, nodeGpus } = window;
  const covered = hours.reduce((sum, { seconds }) => sum + seconds, 0) / 3600;
  if (covered < leastHours || covered < leastCovered * windowHours)
    return unknown("it takes four days or more of which nine tenths are covered");
  const count = waits.reduce((sum, one) => sum + one.count, 0);
  if (p95Seconds === null || count < fewestWaits) return unknown(`fewer than ${fewestWaits} waits ended`);
  if (p95Seconds < shortWaitSeconds) return unknown("95 of 100 waits are below an hour as it is");
  const sized = waits.filter(({ sizeClass }) => gpusOfClass.has(sizeClass));
  if (sized.reduce((sum, one) => sum + one.count, 0) < (1 - mostUnknown) * count)
    return unknown("how large waiting work was is not known");
  const queued = sumOf(hours, ({ pending }) => pending);
  const freeWhileQueued = sumOf(hours, ({ capacity, allocated, pending }) => (capacity - allocated) * pending);
  const capacity = sumOf(hours, (hour) => hour.capacity) / (covered * 3600);
  if (queued === 0 || freeWhileQueued / queued > mostFree * capacity)
    return unknown("work waited while GPUs were free, so more of them need not help it");
  const started = startedGpus(sized, queued);
  if (started === null)
    return unknown("the waits that ended do not add up to the GPUs that waited (much still waits, or waited before)");
  const part = queueLeft(hours, nodeGpus, started / sumOf(hours, ({ allocated }) => allocated)) / queued;
  return {
    known: true,
    lowSeconds: p95Seconds * Math.max(0, part - below),
    highSeconds: p95Seconds * Math.min(1, part + above),
  };
}

const unknown = (reason: string): WithNode => ({ known: false, reason });

const sumOf = (hours: readonly DomainHour[], of: (hour: DomainHour) => number): number =>
  hours.reduce((sum, hour) => sum + of(hour) * hour.seconds, 0);

/**
 * GPUs that started in the window. Sizes are known only as classes; within their classes, they are chosen so that waits
 * multiplied by sizes are the GPU-seconds that waited; `null` where no sizes achieve this.
 */
function startedGpus(waits: readonly SizedWaits[], queuedGpuSeconds: number): number | null {
  const at = (part: number, of: "count" | "seconds"): number =>
    waits.reduce((sum, one) => {
      const [low, high] = gpusOfClass.get(one.sizeClass) ?? [0, 0];
      return sum + low * (high / low) ** part * one[of];
    }, 0);
  if (at(1, "seconds") < (1 - tolerance) * queuedGpuSeconds) return null;
  if (at(0, "seconds") > (1 + tolerance) * queuedGpuSeconds) return null;
  let [from, to] = [0, 1];
  for (let i = 0; i < 30; i++) {
    const middle = (from + to) / 2;
    if (at(middle, "seconds") < queuedGpuSeconds) from = middle;
    else to = middle;
  }
  return at(from, "count");
}

/**
 * GPU-seconds that still wait with `more` GPUs more. `rate` is the part of the allocated GPUs that changes hands in a second.
 */
function queueLeft(hours: readonly DomainHour[], more: number, rate: number): number {
  let left = 0;
  let relieved = 0;
  for (const { seconds, capacity, allocated, pending } of hours) {
    // While work waits, GPUs that are free are of no use to it: only the additional ones can take it.
    const usable = pending > someGpus ? allocated + more : capacity + more;
    const demand = Math.max(0, allocated + pending - relieved);
    const running = Math.min(demand, usable);
    left += Math.max(0, demand - running) * seconds;
    relieved = Math.max(0, relieved + rate * (running - allocated) * seconds);
  }
  return left;
}
