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

/**
 * Whether a gang is below its minimum after it has run: some member still runs, and it has fewer members than it once had, or
 * a replacement waits for its node. `most`: as `mostMembers` had it a cycle before; `undefined`: the gang was not seen whole.
 * The minimum of a gang may count members without GPUs, which are seen of native gangs alone: only a loss is held against it.
 */
export function hasLostMember(gang: SeenGang, most: number | undefined): boolean {
  const { bound, min, isWaiting, wasScheduled, pods } = gang;
  if (bound >= min || !pods.some(isAtWork)) return false;
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

/** Its containers have started, and nobody is deleting it: a gang that starts anew, or ends, has no such member. */
const isAtWork = ({ phase, nodeName, allContainersStarted, isEnding }: Pod): boolean =>
  phase === "Running" && nodeName !== null && allContainersStarted && isEnding === undefined;
