import type { QueueScheduler } from "../../model/queues/eviction.ts";
import type { BoundDevice, BoundHolding, NodeBinding } from "../binding/binding.ts";
import type { Subjects } from "../podViews.ts";
import type { NodeView } from "../snapshot.ts";
import { takesPods } from "./nodeCapacity.ts";

/** A workload with pods of one scheduler's queues on a node. Its pods belong to one team and namespace. */
export interface WorkloadPresence {
  /** Index of one of its pods there. */
  readonly pod: number;
  readonly node: string;
  /** The pools of the node; nodes with the same pools share a list. */
  readonly pools: readonly string[];
  /** `null`: no queue system knows a queue of the pod. */
  readonly scheduler: QueueScheduler | null;
}

/**
 * The facts about bound pods that queues need, in columns. They are gathered node by node, while the nodes are visited anyway.
 */
export interface PodTally {
  /**
   * For each holding: its pod and workload, pool (index into `pools`), GPUs, the largest part on one device, and whether no
   * other pod may follow there.
   */
  readonly pod: readonly number[];
  readonly workload: readonly number[];
  readonly pool: readonly number[];
  readonly gpus: readonly number[];
  readonly largest: readonly number[];
  readonly onUnschedulable: readonly boolean[];
  readonly pools: readonly string[];
  readonly presences: readonly WorkloadPresence[];
  /** Pods that were bound since `recentSince`. */
  readonly recent: readonly number[];
  add(binding: NodeBinding, node: NodeView): void;
}

/** An empty tally; times in seconds since the epoch. */
export function createPodTally(
  { pods, queueRefs }: Pick<Subjects, "pods" | "queueRefs">,
  recentSince: number,
): PodTally {
  const [pod, workload, pool]: [number[], number[], number[]] = [[], [], []];
  const [gpus, largest]: [number[], number[]] = [[], []];
  const onUnschedulable: boolean[] = [];
  const places = new Map<string, number>();
  const lists = new Map<string, readonly string[]>();
  const presences: WorkloadPresence[] = [];
  const recent: number[] = [];
  /** By workload: where it was last seen. Its pods on a node mostly follow each other. */
  const lastOfWorkload: (WorkloadPresence | undefined)[] = [];
  const pools: string[] = [];
  const placeOf = (name: string): number => {
    const known = places.get(name) ?? pools.push(name) - 1;
    places.set(name, known);
    return known;
  };
  return {
    pod,
    workload,
    pool,
    gpus,
    largest,
    onUnschedulable,
    pools,
    presences,
    recent,
    add(binding, node) {
      const shared = sharedList(node.pools, lists);
      for (const { index } of binding.pods) {
        const view = pods[index];
        if (view === undefined) continue;
        if (view.boundAt !== null && view.boundAt > recentSince) recent.push(index);
        const last = lastOfWorkload[view.workload];
        const scheduler = queueRefs[index]?.scheduler ?? null;
        if (last?.node === node.name && last.scheduler === scheduler) continue;
        const presence = { pod: index, node: node.name, pools: shared, scheduler };
        lastOfWorkload[view.workload] = presence;
        presences.push(presence);
      }
      const isUnschedulable = !takesPods(node);
      binding.holdings ??= holdingsOf(binding.devices);
      for (const one of binding.holdings) {
        const { index } = one.pod;
        pod.push(index);
        workload.push(pods[index]?.workload ?? -1);
        pool.push(placeOf(one.pool));
        gpus.push(one.gpus);
        largest.push(one.largest);
        onUnschedulable.push(isUnschedulable);
      }
    },
  };
}

/** What bound pods hold of the devices of one node, by pod and pool; stays true as long as the binding does. */
export function holdingsOf(devices: readonly BoundDevice[]): readonly BoundHolding[] {
  const found: { -readonly [Field in keyof BoundHolding]: BoundHolding[Field] }[] = [];
  for (const { pool, shares } of devices) {
    for (const { pod, share } of shares) {
      const last = found.at(-1);
      const known =
        last?.pod === pod && last.pool === pool ? last : found.find((one) => one.pod === pod && one.pool === pool);
      if (known === undefined) found.push({ pod, pool, gpus: share, largest: share });
      else {
        known.gpus += share;
        known.largest = Math.max(known.largest, share);
      }
    }
  }
  return found;
}

/** Nodes with the same pools share a list, so that workloads are distinguished by few lists. */
function sharedList(pools: readonly string[], lists: Map<string, readonly string[]>): readonly string[] {
  const key = pools.length === 1 ? (pools[0] ?? "") : JSON.stringify(pools);
  const list = lists.get(key) ?? pools;
  lists.set(key, list);
  return list;
}
