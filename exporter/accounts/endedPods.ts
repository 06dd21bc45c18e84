import type { PodView } from "../join/snapshot.ts";
import type { EndedShape } from "../model/podShape.ts";

/** A pod whose end counts: it allocated GPUs, and its object says how many and on which nodes it may run. */
type CountedPod = PodView & { readonly uid: string } & Pick<EndedShape, "gpus" | "needs">;

/** Moments list their pods in the same order, so that a pod is looked for at its place and at so many after it. */
const reach = 64;

/** After so many in a row that were not found, the lists are too different to look farther than a pod's own place. */
const patience = 16;

/**
 * Pods that allocated GPUs at an earlier moment and hold none at a later one; the objects must be known at both. A pod is known
 * by its uid: one of the same name that came after it is another one.
 */
export function endedBetween(earlier: readonly PodView[], later: readonly PodView[]): readonly CountedPod[] {
  if (earlier === later) return [];
  const missed: CountedPod[] = [];
  /** Ranges of later pods that are at no earlier pod's place: begin and end, one after the other. */
  const strangers: number[] = [];
  let at = 0;
  let failures = 0;

  /** Says whether the pod is at its place or soon after it. */
  function take(pod: CountedPod): void {
    const found = placeOf(pod.uid, later, at, failures < patience ? reach : 1);
    failures = found < 0 ? failures + 1 : 0;
    if (found < 0 || !isAllocated(later[found])) missed.push(pod);
    if (found < 0) return;
    if (found > at) strangers.push(at, found);
    at = found + 1;
  }

  /** Another pod has its place, and the next one is where it was: nothing else need be looked at. */
  const isReplaced = ({ uid }: CountedPod, index: number): boolean => {
    const next = earlier[index + 1]?.uid ?? null;
    return later[at]?.uid !== uid && next !== null && next === later[at + 1]?.uid;
  };

  for (let i = 0; i < earlier.length; i++) {
    const pod = earlier[i];
    if (pod === undefined) continue;
    if (pod === later[at]) at += 1;
    else if (!isCounted(pod)) continue;
    else if (isReplaced(pod, i)) {
      missed.push(pod);
      strangers.push(at, at + 1);
      at += 1;
    } else take(pod);
  }
  if (missed.length === 0) return missed;
  strangers.push(at, later.length);
  const allocated = allocatedIn(later, strangers);
  return missed.filter((pod) => !allocated.has(pod.uid));
}

function isCounted(pod: PodView): pod is CountedPod {
  return pod.uid !== null && isAllocated(pod) && pod.gpus !== null && pod.gpus > 0;
}

/** A pod that telemetry alone names is no longer an object. */
function isAllocated(pod: PodView | undefined): boolean {
  return pod !== undefined && pod.status === "allocated" && pod.needs !== null;
}

function placeOf(uid: string, pods: readonly PodView[], from: number, count: number): number {
  const to = Math.min(pods.length, from + count);
  for (let i = from; i < to; i++) if (pods[i]?.uid === uid) return i;
  return -1;
}

function allocatedIn(pods: readonly PodView[], ranges: readonly number[]): ReadonlySet<string> {
  const allocated = new Set<string>();
  for (let range = 0; range < ranges.length; range += 2) {
    const to = ranges[range + 1] ?? 0;
    for (let i = ranges[range] ?? 0; i < to; i++) {
      const pod = pods[i];
      if (pod?.uid != null && isAllocated(pod)) allocated.add(pod.uid);
    }
  }
  return allocated;
}
