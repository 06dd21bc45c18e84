import type { WaitCause } from "../../model/waitCauses.ts";
/** One waiting gang, with the reason why it waits. */
export interface WaitingWork {
  /** Index into `Queueing.gangs`. */
  readonly gang: number;
  readonly cause: WaitCause;
  /**
   * Only with the cause `gang`: all members that it needs are there, and nothing but free GPUs is missing, which are enough for
   * some of them. Absent: members are missing, or the cause is another.
   */
  readonly hasRoomForSome?: true;
  /** For how long it has waited, seconds; `null` if it is not known since when. */
  readonly ageSeconds: number | null;
  /** Whether it has waited longer than its wait target; `null` without a target. */
  readonly isLate: boolean | null;
  /** With the cause `topology`: the level that blocks, because it fits into no single domain of it; absent where that is not known. */
  readonly blockingLevel?: string;
}

/** Whether nothing but free GPUs is missing, or a better place among them. */
export function waitsForRoom({ cause, hasRoomForSome }: Pick<WaitingWork, "cause" | "hasRoomForSome">): boolean {
  return cause === "capacity" || cause === "fragmentation" || hasRoomForSome === true;
}

/** All that waits in one leaf queue with one priority class. */
export interface QueueWaiting {
  /** Index into `Queueing.queues`; `null`: no queue takes it. */
  readonly queue: number | null;
  /** Index into `Queueing.domains`; `null`: no pool can serve it. */
  readonly domain: number | null;
  readonly priorityClass: string;
  readonly gangs: number;
  /** Physical GPUs by cause; a missing cause is 0. Gangs of unknown size are in none. */
  readonly gpus: Readonly<Partial<Record<WaitCause, number>>>;
  readonly oldestSeconds: number | null;
  /** Mean age in seconds, weighted by GPUs; `null` when no gang has both. */
  readonly meanGpuAgeSeconds: number | null;
  /** Number of gangs whose age is at most each bound of `waitBuckets`, cumulative, `+Inf` last. */
  readonly ageBuckets: readonly number[];
  readonly late: number;
}

/** A gang that has some members with GPUs while others cannot start. */
export interface PartialGang {
  readonly id: string;
  /** The object that its members belong to, by kind, namespace and name: `PyTorchJob research/train`. */
  readonly owner: string;
  readonly namespace: string;
  readonly team: string;
  readonly queue: string | null;
  readonly pool: string;
  readonly bound: number;
  readonly min: number;
  readonly allocatedGpus: number;
  /** What its missing members ask for; `null` where that is not known. */
  readonly missingGpus: number | null;
  readonly since: number;
  /** It ran before, and has lost a member: it will not go on by itself unless that comes back. */
  readonly hasLostMember: boolean;
}

/** Two or more partial gangs of a pool whose missing members together exceed its free GPUs. */
export interface GangDeadlock {
  readonly pool: string;
  readonly gangs: readonly string[];
  readonly allocatedGpus: number;
  readonly missingGpus: number;
  readonly freeGpus: number;
}

export interface Waiting {
  readonly work: readonly WaitingWork[];
  readonly queues: readonly QueueWaiting[];
  readonly partialGangs: readonly PartialGang[];
  readonly deadlocks: readonly GangDeadlock[];
}

/** Upper bounds of the histograms of waits, seconds. */
export const waitBuckets = [
  30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800,
] as const;

/** The value for a moment in which nothing waits. */
export const noWaiting: Waiting = { work: [], queues: [], partialGangs: [], deadlocks: [] };
