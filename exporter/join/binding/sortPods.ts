import type { Pod } from "../../model/pod.ts";
import { gangMark } from "../gangs.ts";
import { isReservationPod } from "../holdings/podOnNode.ts";
import { isHolding, isPending } from "../podViews.ts";

/** What a pod is to the join, by its own object alone. */
interface PodRole {
  readonly kind: "holding" | "reservation" | "waiting" | "none";
  readonly inGang: boolean;
}

/** The roles of pods that were seen; a pod that changes is another object. */
export type PodRoles = WeakMap<Pod, PodRole>;

/** The pods of a state by what they are to the join. */
export interface SortedPods {
  /** Pods that hold, by node, in the order of the state. */
  readonly holding: ReadonlyMap<string, readonly Pod[]>;
  readonly reservations: ReadonlyMap<string, readonly Pod[]>;
  /** By uid. */
  readonly waiting: readonly Pod[];
  readonly inGangs: readonly Pod[];
}

const podsPerStep = 20_000;

/** Sorts pods into those that hold, keep cards for others, wait, and belong to a gang. */
export function* sortPods(pods: readonly Pod[], roles: PodRoles): Generator<void, SortedPods> {
  const holding = new Map<string, Pod[]>();
  const reservations = new Map<string, Pod[]>();
  const waiting: Pod[] = [];
  const inGangs: Pod[] = [];
  for (let i = 0; i < pods.length; i++) {
    if (i % podsPerStep === podsPerStep - 1) yield;
    const pod = pods[i];
    if (pod === undefined) continue;
    let role = roles.get(pod);
    if (role === undefined) {
      role = { kind: kindOf(pod), inGang: gangMark(pod) !== null };
      roles.set(pod, role);
    }
    if (role.inGang) inGangs.push(pod);
    if (role.kind === "holding") addTo(holding, pod);
    else if (role.kind === "waiting") waiting.push(pod);
    else if (role.kind === "reservation") addTo(reservations, pod);
  }
  return { holding, reservations, waiting: byUid(waiting), inGangs };
}

function kindOf(pod: Pod): PodRole["kind"] {
  if (isHolding(pod)) return isReservationPod(pod) ? "reservation" : "holding";
  return isPending(pod) && !isReservationPod(pod) ? "waiting" : "none";
}

function addTo(byNode: Map<string, Pod[]>, pod: Pod): void {
  const node = pod.nodeName ?? "";
  const known = byNode.get(node);
  if (known === undefined) byNode.set(node, [pod]);
  else known.push(pod);
}

/** In an order that does not depend on that of the state. */
export function byUid(pods: readonly Pod[]): readonly Pod[] {
  return [...pods].sort((a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0));
}
