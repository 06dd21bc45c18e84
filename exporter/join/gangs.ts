import type { Pod } from "../model/pod.ts";
import { podAnnotations, podLabels } from "../model/wellKnown.ts";
import type { GangView } from "./snapshot.ts";

/** The gang that a pod's own labels declare. */
interface GangMark {
  readonly id: string;
  readonly min: number;
}

/** Kueue pod groups (label and total count) and groups of a LeaderWorkerSet (label and size). */
function gangMark(pod: Pod): GangMark | null {
  const group = pod.labels[podLabels.kueuePodGroup];
  const total = count(pod.annotations[podAnnotations.kueuePodGroupTotalCount]);
  if (group !== undefined && total !== null) return { id: `${pod.namespace}/${group}`, min: total };
  const lws = pod.labels[podLabels.lwsName];
  const size = count(pod.annotations[podAnnotations.lwsSize]);
  if (lws === undefined || size === null) return null;
  return { id: `${pod.namespace}/${lws}/${pod.labels[podLabels.lwsGroupIndex] ?? "0"}`, min: size };
}

function count(text: string | undefined): number | null {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return null;
  const number = Number(text);
  return number >= 1 ? number : null;
}

/** Gangs by pod uid, with how many of their pods are bound or done, and since when they have been partly bound. */
export interface Gangs {
  readonly byPod: ReadonlyMap<string, GangView>;
  /** What to remember: since when each partial gang has been so. */
  readonly since: ReadonlyMap<string, number>;
}

/** Finds the gangs among pods; a gang is partial while 0 < bound + succeeded < min. */
export function findGangs(pods: readonly Pod[], remembered: ReadonlyMap<string, number>, now: number): Gangs {
  const members = new Map<string, { min: number; pods: Pod[] }>();
  for (const pod of pods) {
    const mark = gangMark(pod);
    if (mark === null) continue;
    const gang = members.get(mark.id) ?? { min: mark.min, pods: [] };
    members.set(mark.id, gang);
    gang.pods.push(pod);
  }
  const byPod = new Map<string, GangView>();
  const since = new Map<string, number>();
  for (const [id, gang] of members) {
    const counted = gang.pods.filter(
      (pod) => pod.phase === "Succeeded" || (pod.nodeName !== null && pod.phase !== "Failed"),
    );
    const bound = counted.length;
    const partial = bound > 0 && bound < gang.min;
    const lastBoundAt = Math.max(0, ...counted.map((pod) => pod.scheduledAt ?? 0)) || now;
    const partialSince = partial ? (remembered.get(id) ?? Math.min(lastBoundAt, now)) : null;
    if (partialSince !== null) since.set(id, partialSince);
    for (const pod of gang.pods) byPod.set(pod.uid, { id, min: gang.min, bound, partialSince });
  }
  return { byPod, since };
}
