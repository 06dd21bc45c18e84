import type { Pod } from "../../model/pod.ts";
import { namesGang } from "../declaredGangs.ts";
import { namesOwnGang } from "../gangs.ts";
import { isReservationPod } from "../holdings/podOnNode.ts";
import { mayBeInJobGang } from "../jobGangs.ts";
import { isHolding, isPending } from "../podViews.ts";

/** The pods of a state by their role in the join; valid until the next state is sorted with the same cache. */
export interface SortedPods {
  /** Pods that hold, by node. */
  readonly holding: ReadonlyMap<string, readonly Pod[]>;
  readonly reservations: ReadonlyMap<string, readonly Pod[]>;
  /** The waiting pods, ordered by uid. */
  readonly waiting: readonly Pod[];
  readonly inGangs: readonly Pod[];
}

/** The pods of the last state, sorted. A pod that changes is another object. */
export interface SortedPodsCache {
  last: { readonly pods: readonly Pod[]; readonly groups: PodGroups; readonly sorted: SortedPods } | null;
}

interface PodGroups {
  readonly holding: Map<string, Pod[]>;
  readonly reservations: Map<string, Pod[]>;
  readonly waiting: Set<Pod>;
  readonly inGangs: Set<Pod>;
}

/** Sorts pods into those that hold, keep GPUs for others, wait, and belong to a gang. */
export function sortPods(pods: readonly Pod[], cache: SortedPodsCache): SortedPods {
  const { last } = cache;
  if (last?.pods === pods) return last.sorted;
  // While the groups are being changed they belong to no state.
  cache.last = null;
  const known = last === null ? null : changedPods(last.pods, pods);
  const isFew = known !== null && known.gone.length + known.come.length < pods.length / 4;
  const groups =
    isFew && last !== null
      ? last.groups
      : { holding: new Map(), reservations: new Map(), waiting: new Set<Pod>(), inGangs: new Set<Pod>() };
  if (isFew) for (const pod of known.gone) remove(pod, groups);
  for (const pod of isFew ? known.come : pods) {
    add(pod, groups);
  }
  const { holding, reservations } = groups;
  const sorted = { holding, reservations, waiting: byUid([...groups.waiting]), inGangs: [...groups.inGangs] };
  cache.last = { pods, groups, sorted };
  return sorted;
}

/** How many pods ahead the comparison searches for a place from which two lists are alike again. */
const lookahead = 32;

/**
 * The pods that only one of the two lists has. Lists that a source keeps differ in few places; if they are alike again only
 * too far away to be found, pods of both count as gone and come, which is correct for any two lists.
 */
function changedPods(before: readonly Pod[], after: readonly Pod[]): { readonly gone: Pod[]; readonly come: Pod[] } {
  const gone: Pod[] = [];
  const come: Pod[] = [];
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const [old, pod] = [before[i], after[j]];
    if (old === pod) {
      i += 1;
      j += 1;
      continue;
    }
    const skipped = distance(before, i, pod);
    const added = skipped > 0 ? 0 : distance(after, j, old);
    const [oldEnd, newEnd] = [
      skipped > 0 ? i + skipped : added > 0 ? i : i + 1,
      added > 0 ? j + added : skipped > 0 ? j : j + 1,
    ];
    gone.push(...before.slice(i, oldEnd));
    come.push(...after.slice(j, newEnd));
    i = oldEnd;
    j = newEnd;
  }
  return { gone: gone.concat(before.slice(i)), come: come.concat(after.slice(j)) };
}

/** How many places after `from` a pod is; 0 if it is not within the lookahead. */
function distance(pods: readonly Pod[], from: number, wanted: Pod | undefined): number {
  for (let ahead = 1; ahead <= lookahead; ahead++) if (pods[from + ahead] === wanted) return ahead;
  return 0;
}

function kindOf(pod: Pod): "holding" | "reservation" | "waiting" | "none" {
  if (isHolding(pod)) return isReservationPod(pod) ? "reservation" : "holding";
  return isPending(pod) && !isReservationPod(pod) ? "waiting" : "none";
}

function add(pod: Pod, groups: PodGroups): void {
  const kind = kindOf(pod);
  if (kind === "waiting") groups.waiting.add(pod);
  else if (kind !== "none") addTo(groups[listOf[kind]], pod);
  if (namesGang(pod) || mayBeInJobGang(pod) || namesOwnGang(pod)) groups.inGangs.add(pod);
}

function remove(pod: Pod, groups: PodGroups): void {
  const kind = kindOf(pod);
  if (kind === "waiting") groups.waiting.delete(pod);
  else if (kind !== "none") removeFrom(groups[listOf[kind]], pod);
  groups.inGangs.delete(pod);
}

const listOf = { holding: "holding", reservation: "reservations" } as const;

function addTo(byNode: Map<string, Pod[]>, pod: Pod): void {
  const node = pod.nodeName ?? "";
  const known = byNode.get(node);
  if (known === undefined) byNode.set(node, [pod]);
  else known.push(pod);
}

function removeFrom(byNode: Map<string, Pod[]>, pod: Pod): void {
  const node = pod.nodeName ?? "";
  const known = byNode.get(node) ?? [];
  const at = known.indexOf(pod);
  if (at >= 0) known.splice(at, 1);
  if (known.length === 0) byNode.delete(node);
}

/** Sorts pods by uid: an order that does not depend on that of the state. */
export function byUid(pods: readonly Pod[]): readonly Pod[] {
  return [...pods].sort((a, b) => (a.uid < b.uid ? -1 : a.uid > b.uid ? 1 : 0));
}
