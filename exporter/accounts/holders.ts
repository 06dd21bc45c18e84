import type { AccountingEntry } from "../analysis/accountingEntry.ts";
import type { Prices } from "../analysis/prices/prices.ts";
import type { PodView, Snapshot } from "../join/snapshot.ts";
import { gpuStates, stateIds } from "../model/gpuStates.ts";
import { type AccountInterner, nobody } from "./accountInterner.ts";
import type { WorkloadKey } from "./posting.ts";
import type { QueueNameOf } from "./queueNames.ts";

/** The lines of one holder at one place, by state. */
export interface Block {
  readonly place: number;
  readonly lines: IndexByState;
  readonly accounts: IndexByState;
}

/** A workload together with the owner that its pods are counted to; pods of one workload may have different owners. */
export interface Holder {
  readonly owner: number;
  readonly workload: WorkloadKey | null;
  /** The next holder of the same workload; `null` for the last one. */
  readonly next: Holder | null;
  /** The block that was used last. */
  block: Block | null;
  /** All of its blocks by place; `null` while it has at most one. */
  others: Map<number, Block> | null;
}

/**
 * The owner's number in the interner, remembered for pods that were seen: a pod's view is the same object while nothing in it
 * changes.
 */
export type OwnerMemory = WeakMap<PodView, number>;

/**
 * Finds the holder of a pod; for `null`, the holder that stands for nobody. Most pods of one workload are alike, so that few
 * are looked up by value.
 */
export function holders(
  snapshot: Snapshot,
  accounts: AccountInterner,
  owners: OwnerMemory,
  queueOf: QueueNameOf,
): (pod: number | null) => Holder {
  const ofPod: (Holder | undefined)[] = new Array(snapshot.pods.length).fill(undefined);
  const ofWorkload: (LastPod | undefined)[] = new Array(snapshot.workloads.length).fill(undefined);
  const none: Holder = { owner: accounts.ownerId(nobody), workload: null, next: null, block: null, others: null };

  const ownerOf = (pod: PodView): number => {
    const known = owners.get(pod);
    if (known !== undefined) return known;
    const { name: queue, isConfirmed } = queueOf(pod);
    const { team, namespace, priorityClass } = pod;
    const owner = accounts.ownerId({ team, queue, namespace, priorityClass });
    // A name that nothing confirms may be counted differently from moment to moment.
    if (isConfirmed) owners.set(pod, owner);
    return owner;
  };

  const byValue = (pod: PodView, last: LastPod | undefined): LastPod => {
    const owner = ownerOf(pod);
    for (let known = last?.newest ?? null; known !== null; known = known.next) {
      if (known.owner === owner) return { pod, holder: known, newest: last?.newest ?? known };
    }
    const view = snapshot.workloads[pod.workload];
    const workload = view === undefined ? null : { kind: view.kind, namespace: view.namespace, name: view.name };
    const holder: Holder = { owner, workload, next: last?.newest ?? null, block: null, others: null };
    return { pod, holder, newest: holder };
  };

  return (podIndex) => {
    if (podIndex === null) return none;
    const known = ofPod[podIndex];
    if (known !== undefined) return known;
    const pod = snapshot.pods[podIndex];
    if (pod === undefined) return none;
    const last = ofWorkload[pod.workload];
    const found = last !== undefined && isAlike(last.pod, pod) ? last : byValue(pod, last);
    ofWorkload[pod.workload] = found;
    ofPod[podIndex] = found.holder;
    return found.holder;
  };
}

/** The pod of a workload that was looked up last. */
interface LastPod {
  readonly pod: PodView;
  readonly holder: Holder;
  /** The first of the workload's holders. */
  readonly newest: Holder;
}

function isAlike(a: PodView, b: PodView): boolean {
  return a.team === b.team && a.queue === b.queue && a.namespace === b.namespace && a.priorityClass === b.priorityClass;
}

/**
 * Finds the place of an accounting entry, with the currency of its node's price. Neighbouring accounting entries mostly have
 * the same node and pool, so that only the first of them looks them up.
 */
export function places(
  snapshot: Snapshot,
  { byNode }: Pick<Prices, "byNode">,
  accounts: AccountInterner,
): (accountingEntry: AccountingEntry) => number {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node] as const));
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let lastPlace = 0;
  return ({ node, pool }) => {
    if (node === lastNode && pool === lastPool) return lastPlace;
    const view = nodes.get(node);
    const nodePool = view?.nodePool || "unknown";
    const currency = byNode.get(node)?.currency ?? null;
    lastPlace = accounts.placeId({ pool, nodePool, capacityType: view?.capacityType ?? null, currency });
    lastNode = node;
    lastPool = pool;
    return lastPlace;
  };
}

export const activeId = stateIds.get("active") ?? 0;
export const underutilizedId = stateIds.get("underutilized") ?? 0;

/** Indices by state. Most holders only ever need two of them. */
export interface IndexByState {
  active: number;
  underutilized: number;
  /** Indices by state id for all other states; `null` while there are none. */
  others: Int32Array | null;
}

export const noIndices = (): IndexByState => ({ active: -1, underutilized: -1, others: null });

/** The index for a state; -1 where there is none. */
export function indexIn(indices: IndexByState, stateId: number): number {
  if (stateId === activeId) return indices.active;
  if (stateId === underutilizedId) return indices.underutilized;
  return indices.others?.[stateId] ?? -1;
}

/** Keeps the index for a state. */
export function setIndex(indices: IndexByState, stateId: number, index: number): void {
  if (stateId === activeId) indices.active = index;
  else if (stateId === underutilizedId) indices.underutilized = index;
  else {
    indices.others ??= new Int32Array(gpuStates.length).fill(-1);
    indices.others[stateId] = index;
  }
}
