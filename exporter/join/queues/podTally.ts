import { keepShape } from "../../kernel/inRanges.ts";
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
export class PodTally {
  /**
   * For each holding: its pod and workload, pool (index into `pools`), GPUs, the largest part on one device, and whether no
   * other pod may follow there.
   */
  readonly pod: number[] = [];
  readonly workload: number[] = [];
  readonly pool: number[] = [];
  readonly gpus: number[] = [];
  readonly largest: number[] = [];
  readonly onUnschedulable: boolean[] = [];
  readonly pools: string[] = [];
  readonly presences: WorkloadPresence[] = [];
  /** Pods that were bound since `recentSince`. */
  readonly recent: number[] = [];
  readonly #pods: Subjects["pods"];
  readonly #queueRefs: Subjects["queueRefs"];
  readonly #recentSince: number;
  readonly #places = new Map<string, number>();
  readonly #lists = new Map<string, readonly string[]>();
  /** By workload: where it was last seen. Its pods on a node mostly follow each other. */
  readonly #lastOfWorkload: (WorkloadPresence | undefined)[] = [];

  /** An empty tally; times in seconds since the epoch. */
  constructor({ pods, queueRefs }: Pick<Subjects, "pods" | "queueRefs">, recentSince: number) {
    this.#pods = pods;
    this.#queueRefs = queueRefs;
    this.#recentSince = recentSince;
  }

  add(binding: NodeBinding, node: NodeView): void {
    this.#addPods(binding, node);
    const isUnschedulable = !takesPods(node);
    binding.holdings ??= holdingsOf(binding.devices);
    for (const one of binding.holdings) {
      const { index } = one.pod;
      this.pod.push(index);
      this.workload.push(this.#pods[index]?.workload ?? -1);
      this.pool.push(this.#placeOf(one.pool));
      this.gpus.push(one.gpus);
      this.largest.push(one.largest);
      this.onUnschedulable.push(isUnschedulable);
    }
  }

  #addPods({ pods }: NodeBinding, node: NodeView): void {
    const shared = sharedList(node.pools, this.#lists);
    for (const { index } of pods) {
      const view = this.#pods[index];
      if (view === undefined) continue;
      if (view.boundAt !== null && view.boundAt > this.#recentSince) this.recent.push(index);
      const last = this.#lastOfWorkload[view.workload];
      const scheduler = this.#queueRefs[index]?.scheduler ?? null;
      if (last?.node === node.name && last.scheduler === scheduler) continue;
      const presence = { pod: index, node: node.name, pools: shared, scheduler };
      this.#lastOfWorkload[view.workload] = presence;
      this.presences.push(presence);
    }
  }

  #placeOf(name: string): number {
    const known = this.#places.get(name) ?? this.pools.push(name) - 1;
    this.#places.set(name, known);
    return known;
  }
}

keepShape(new PodTally({ pods: [], queueRefs: [] }, Number.NaN));

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
