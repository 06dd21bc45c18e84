import type { Queueing, WaitingGang } from "../../join/queues/queueing.ts";
import type { Snapshot } from "../../join/snapshot.ts";
import type { UnknownStart } from "../../model/unknownStarts.ts";
import { replayWaits } from "./replayWaits.ts";
import type { LineWork, PastStart, StartTime } from "./startTimes.ts";

/**
 * When these waiting gangs (indices into `Queueing.gangs`) will start: what their queues and quota domains did so far is played
 * again, and takes a second where a hundred thousand wait. So it is asked when someone wants to know, and not in every cycle.
 * Pure.
 */
export function findStartTimes(
  { at, queueing }: Pick<Snapshot, "at" | "queueing">,
  past: readonly PastStart[],
  wanted: readonly number[],
): ReadonlyMap<number, StartTime> {
  const works = new Map<number, LineWork>();
  const startTimes = new Map<number, StartTime>();
  for (const index of wanted) {
    const gang = queueing.gangs[index];
    if (gang === undefined) continue;
    const work = lineWorkOf(gang, queueing);
    if (typeof work === "string") startTimes.set(index, { unknownBecause: work });
    else works.set(index, work);
  }
  if (works.size === 0) return startTimes;
  const asked = new Set(wanted);
  const domains = new Set([...works.values()].map(({ domain }) => domain));
  const queues = new Set([...works.values()].map(({ queue }) => queue));
  const others = queueing.gangs.flatMap((gang, index) => {
    const work = asked.has(index) ? "no-line" : lineWorkOf(gang, queueing);
    return typeof work === "string" || !domains.has(work.domain) ? [] : [work];
  });
  const own = past.filter(({ domain }) => domains.has(domain));
  const { startTimes: found } = replayWaits(own, [...works.values(), ...others], at, { queues });
  for (const [i, index] of [...works.keys()].entries()) {
    const startTime = found[i];
    if (startTime !== undefined) startTimes.set(index, startTime);
  }
  return startTimes;
}

/** The gang in its line, or why it is in none. */
function lineWorkOf(gang: WaitingGang, { queues, domains }: Queueing): LineWork | UnknownStart {
  const { never, since, gpus, priority, parts } = gang;
  if (never !== null) return "cannot-start";
  const [part] = parts;
  const queue = part === undefined || part.queue === null ? undefined : queues[part.queue];
  const domain = queue === undefined ? undefined : domains[queue.domain];
  if (queue === undefined || domain === undefined || since === null) return "no-line";
  if (gpus === null || !(gpus > 0)) return "no-size";
  return { queue: queue.name, domain: domain.name, since, gpus, priority };
}
