import type { Pod } from "../model/pod.ts";

/** What is seen of a gang in one cycle. */
export interface SeenGang {
  readonly pods: readonly Pod[];
  /** Members that are bound or done; of a native gang also those without GPUs. */
  readonly bound: number;
  /** The fewest with which it runs. */
  readonly min: number;
  /** Whether a member is not bound yet. */
  readonly isWaiting: boolean;
  /** Whether Kubernetes itself says that it was placed as a whole before. */
  readonly wasScheduled: boolean;
}

/** What was remembered of a gang a cycle before; `undefined`: it was not seen whole. */
export interface KnownOfGang {
  /** As `mostMembers` had it. */
  readonly most: number | undefined;
  /** As `newestMember` had it. */
  readonly newest: number | undefined;
}

/**
 * Whether a gang is below its minimum after it has run: some member of then still runs, and it has fewer members than it once
 * had, or a replacement waits for its node. Where all members that run are newer, it starts anew as a whole.
 * The minimum of a gang may count members without GPUs, which are seen of native gangs alone: only a loss is held against it.
 */
export function hasLostMember(gang: SeenGang, { most, newest = Infinity }: KnownOfGang): boolean {
  const { bound, min, isWaiting, wasScheduled, pods } = gang;
  if (bound >= min || !pods.some((pod) => isAtWork(pod) && (pod.createdAt ?? 0) <= newest)) return false;
  return (most !== undefined && bound < most) || (wasScheduled && isWaiting);
}

/**
 * The most members of a gang that were bound or done at once, to be remembered: of one that has been whole (`wasScheduled`: as
 * Kubernetes itself says). 0 as soon as a member has succeeded, until the gang is whole anew: a job that is done removes its
 * pods one by one. `null`: nothing needs to be remembered.
 */
export function mostMembers({ pods, bound, min, wasScheduled }: SeenGang, known: number | undefined): number | null {
  const isWhole = bound >= min;
  if (known === undefined && !isWhole && !wasScheduled) return null;
  if (pods.some(({ phase }) => phase === "Succeeded")) return 0;
  return known === 0 && !isWhole ? 0 : Math.max(known ?? 0, bound);
}

/**
 * When the newest member of a gang was created that is there while it is whole, or has as many members as it ever had; of
 * another gang what was known. `null`: nothing needs to be remembered. Both times of a comparison are the API server's.
 */
export function newestMember({ pods, bound, min }: SeenGang, { most, newest }: KnownOfGang): number | null {
  if (bound < min && (most === undefined || most === 0 || bound < most)) return newest ?? null;
  const created = pods.flatMap(({ nodeName, createdAt }) => (nodeName === null ? [] : (createdAt ?? [])));
  return created.length === 0 ? null : created.reduce((a, b) => Math.max(a, b));
}

/** Its containers have started, and nobody is deleting it: a gang that starts anew, or ends, has no such member. */
const isAtWork = ({ phase, nodeName, allContainersStarted, isEnding }: Pod): boolean =>
  phase === "Running" && nodeName !== null && allContainersStarted && isEnding === undefined;
