import { hashText, noise } from "../random.ts";
import type { ActivityPattern } from "../scenario.ts";
import { lengthAt, pauseSeconds, workSeconds } from "../scenarios/pauses.ts";
import { computes } from "./lostWork.ts";
import type { Workload, World } from "./world.ts";

/** How the owner of a workload uses it: in spells of work and pauses, whether its pods exist or not. */
export interface Session {
  readonly key: number;
  /** Simulated time from which a pause has no end: its owner has forgotten it. */
  readonly doneTime: number;
  isWorking: boolean;
  /** Simulated time at which this spell or pause ends; infinite for the last one. */
  untilTime: number;
  spells: number;
  /** Simulated time since when its owner has been back and waits for it to run; `null` while the owner does not wait. */
  waitsSince: number | null;
}

/** An owner who came back to work and found that someone had stopped it. */
export interface FoundStopped {
  readonly namespace: string;
  readonly name: string;
  /** When the owner came back, by the wall clock. */
  readonly at: number;
}

/** The first spell of work; `null` for work that is not used in sessions. */
export function firstSession(
  world: World,
  uid: string,
  activity: ActivityPattern,
  createdTime: number,
): Session | null {
  if (activity.kind !== "sessions") return null;
  const key = hashText(uid, world.seed >>> 0);
  const { usedSeconds } = activity;
  const [shortest, longest] = usedSeconds ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const used = usedSeconds === null ? shortest : shortest + (longest - shortest) * noise(key, 0);
  const first = lengthAt(workSeconds, noise(key, 1));
  const untilTime = createdTime + first;
  return { key, doneTime: createdTime + used, isWorking: true, untilTime, spells: 1, waitsSince: null };
}

/** Begins and ends the spells of work that are due. An owner who comes back and finds the work stopped starts it again. */
export function followSessions(world: World, seconds: number): void {
  for (const workload of world.workloads) {
    const { session } = workload;
    if (session === null || workload.endedTime !== null) continue;
    while (session.untilTime <= world.time) turn(world, workload, session);
    if (session.waitsSince === null) continue;
    world.ownerWaitSeconds += seconds;
    if (workload.pods.length > 0 && workload.pods.every(computes)) session.waitsSince = null;
  }
}

function turn(world: World, workload: Workload, session: Session): void {
  session.isWorking = !session.isWorking;
  session.spells += 1;
  const luck = noise(session.key, session.spells);
  const isLast = !session.isWorking && session.untilTime >= session.doneTime;
  const length = lengthAt(session.isWorking ? workSeconds : pauseSeconds, luck);
  session.untilTime = isLast ? Number.POSITIVE_INFINITY : session.untilTime + length;
  if (session.isWorking && (workload.stopped || workload.suspended)) startAgain(world, workload, session);
}

/** Lets the owner apply the original objects again, without what others wrote into them. */
function startAgain(world: World, workload: Workload, session: Session): void {
  workload.stopped = false;
  workload.suspended = false;
  session.waitsSince = world.time;
  world.unsettled.add(workload);
  world.appliedAgain.add(workload);
  const { spec, name } = workload;
  world.foundStopped.push({ namespace: spec.namespace, name, at: world.time + world.clockOffset });
}

/** When the owner uses the workload again, in simulated time: now while they use it, `null` if never. */
export function worksAgain({ time }: World, { session, spec }: Workload): number | null {
  if (session === null) return spec.activity.kind === "constant" && spec.activity.level === 0 ? null : time;
  if (session.isWorking) return time;
  return Number.isFinite(session.untilTime) ? session.untilTime : null;
}
