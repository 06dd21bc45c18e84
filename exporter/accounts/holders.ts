import { type AccountingEntries, nodeFinder, noEntries } from "../analysis/accountingEntries.ts";
import type { Prices } from "../analysis/prices/prices.ts";
import type { NodeView, PodView, Snapshot } from "../join/snapshot.ts";
import { keepShape } from "../kernel/inRanges.ts";
import { gpuStates, stateIds } from "../model/gpuStates.ts";
import { type AccountInterner, createAccountInterner, nobody } from "./accountInterner.ts";
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

/** Finds the holders of pods. Most pods of one workload are alike, so that few are looked up by value. */
export class Holders {
  readonly #snapshot: Pick<Snapshot, "pods" | "workloads">;
  readonly #accounts: AccountInterner;
  readonly #owners: OwnerMemory;
  readonly #queueOf: QueueNameOf;
  readonly #none: Holder;
  readonly #ofPod: (Holder | undefined)[];
  readonly #ofWorkload: (LastPod | undefined)[];

  constructor(
    snapshot: Pick<Snapshot, "pods" | "workloads">,
    accounts: AccountInterner,
    owners: OwnerMemory,
    queueOf: QueueNameOf,
  ) {
    this.#snapshot = snapshot;
    this.#accounts = accounts;
    this.#owners = owners;
    this.#queueOf = queueOf;
    this.#none = { owner: accounts.ownerId(nobody), workload: null, next: null, block: null, others: null };
    this.#ofPod = new Array(snapshot.pods.length).fill(undefined);
    this.#ofWorkload = new Array(snapshot.workloads.length).fill(undefined);
  }

  /** The holder of a pod by its index; for -1, the holder that stands for nobody. */
  of(podIndex: number): Holder {
    if (podIndex < 0) return this.#none;
    const known = this.#ofPod[podIndex];
    if (known !== undefined) return known;
    const pod = this.#snapshot.pods[podIndex];
    if (pod === undefined) return this.#none;
    const last = this.#ofWorkload[pod.workload];
    const found = last !== undefined && isAlike(last.pod, pod) ? last : this.#byValue(pod, last);
    this.#ofWorkload[pod.workload] = found;
    this.#ofPod[podIndex] = found.holder;
    return found.holder;
  }

  #byValue(pod: PodView, last: LastPod | undefined): LastPod {
    const owner = this.#ownerOf(pod);
    for (let known = last?.newest ?? null; known !== null; known = known.next) {
      if (known.owner === owner) return { pod, holder: known, newest: last?.newest ?? known };
    }
    const view = this.#snapshot.workloads[pod.workload];
    const workload = view === undefined ? null : { kind: view.kind, namespace: view.namespace, name: view.name };
    const holder: Holder = { owner, workload, next: last?.newest ?? null, block: null, others: null };
    return { pod, holder, newest: holder };
  }

  #ownerOf(pod: PodView): number {
    const known = this.#owners.get(pod);
    if (known !== undefined) return known;
    const { name: queue, isConfirmed } = this.#queueOf(pod);
    const { team, namespace, priorityClass } = pod;
    const owner = this.#accounts.ownerId({ team, queue, namespace, priorityClass });
    // A name that nothing confirms may be counted differently from moment to moment.
    if (isConfirmed) this.#owners.set(pod, owner);
    return owner;
  }
}

/** Finds holders where nobody is. */
export const noHolders = new Holders({ pods: [], workloads: [] }, createAccountInterner(), new WeakMap(), () => {
  return { name: null, isConfirmed: true };
});

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
 * Finds the places of nodes and pools, with the currency of the node's price. Neighbouring accounting entries mostly have the
 * same node and pool, so that only the first of them looks them up.
 */
export class Places {
  readonly #entries: AccountingEntries;
  readonly #viewOf: (node: number) => NodeView | undefined;
  readonly #prices: Pick<Prices, "byNode">;
  readonly #accounts: AccountInterner;
  #lastNode = -1;
  #lastPool = -1;
  #last = 0;

  constructor(
    snapshot: Pick<Snapshot, "nodes">,
    entries: AccountingEntries,
    prices: Pick<Prices, "byNode">,
    accounts: AccountInterner,
  ) {
    this.#entries = entries;
    this.#viewOf = nodeFinder(snapshot, entries);
    this.#prices = prices;
    this.#accounts = accounts;
  }

  /** The number of a place, by the indices that accounting entries have. */
  of(node: number, poolId: number): number {
    if (node === this.#lastNode && poolId === this.#lastPool) return this.#last;
    const view = this.#viewOf(node);
    const pool = this.#entries.pools[poolId] ?? "unknown";
    const nodePool = view?.nodePool || "unknown";
    const currency = this.#prices.byNode.get(this.#entries.nodes[node] ?? "")?.currency ?? null;
    this.#last = this.#accounts.placeId({ pool, nodePool, capacityType: view?.capacityType ?? null, currency });
    this.#lastNode = node;
    this.#lastPool = poolId;
    return this.#last;
  }
}

keepShape(new Places({ nodes: [] }, noEntries, { byNode: new Map() }, createAccountInterner()));

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
