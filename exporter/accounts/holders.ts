import type { Booking } from "../analysis/booking.ts";
import type { PodView, Snapshot } from "../join/snapshot.ts";
import { type AccountInterner, nobody } from "./accountInterner.ts";
import type { IndexByState } from "./indexByState.ts";
import type { WorkloadKey } from "./posting.ts";

/** The lines of one holder at one place, by state. */
export interface Block {
  readonly place: number;
  readonly lines: IndexByState;
  readonly accounts: IndexByState;
}

/** A workload with what its pods are accounted to; pods of one workload may differ in that. */
export interface Holder {
  readonly id: number;
  readonly owner: number;
  readonly workload: WorkloadKey | null;
  block: Block | null;
}

/** Finds the holder of a pod; `null`: nobody. Pods of one workload mostly are alike, so that few are looked up by value. */
export function holders(snapshot: Snapshot, accounts: AccountInterner): (pod: number | null) => Holder {
  const byKey = new Map<number, Holder>();
  const ofPod: (Holder | undefined)[] = new Array(snapshot.pods.length).fill(undefined);
  const ofWorkload: ({ readonly pod: PodView; readonly holder: Holder } | undefined)[] = [];
  const none: Holder = { id: 0, owner: accounts.ownerId(nobody), workload: null, block: null };

  const byValue = (pod: PodView, view: WorkloadKey | undefined): Holder => {
    const owner = accounts.ownerId(pod);
    const key = owner * 2 ** 26 + pod.workload;
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const workload = view === undefined ? null : { kind: view.kind, namespace: view.namespace, name: view.name };
    const holder = { id: byKey.size + 1, owner, workload, block: null };
    byKey.set(key, holder);
    return holder;
  };

  return (podIndex) => {
    if (podIndex === null) return none;
    const known = ofPod[podIndex];
    if (known !== undefined) return known;
    const pod = snapshot.pods[podIndex];
    if (pod === undefined) return none;
    const last = ofWorkload[pod.workload];
    const holder =
      last !== undefined && isAlike(last.pod, pod) ? last.holder : byValue(pod, snapshot.workloads[pod.workload]);
    ofWorkload[pod.workload] = { pod, holder };
    ofPod[podIndex] = holder;
    return holder;
  };
}

function isAlike(a: PodView, b: PodView): boolean {
  return a.team === b.team && a.queue === b.queue && a.namespace === b.namespace && a.priorityClass === b.priorityClass;
}

/** Finds the place of a booking. Neighbouring bookings mostly are of one node and pool, so that only the first of them looks it up. */
export function places(snapshot: Snapshot, accounts: AccountInterner): (booking: Booking) => number {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node] as const));
  let lastNode: string | null = null;
  let lastPool: string | null = null;
  let lastPlace = 0;
  return ({ node, pool }) => {
    if (node === lastNode && pool === lastPool) return lastPlace;
    const view = nodes.get(node);
    const nodePool = view?.nodePool || "unknown";
    lastPlace = accounts.placeId({ pool, nodePool, capacityType: view?.capacityType ?? null });
    lastNode = node;
    lastPool = pool;
    return lastPlace;
  };
}
