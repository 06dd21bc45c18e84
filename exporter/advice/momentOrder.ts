import type { Analysis } from "../analysis/analysis.ts";
import type { WorkloadView } from "../join/snapshot.ts";
import { compareText } from "../kernel/compareText.ts";
import { once, oncePer } from "../kernel/once.ts";
import { momentIndex } from "./momentIndex.ts";
import { thingsAround } from "./thingsAround.ts";
import { gangHash, nodeHash, podHash, workloadHash } from "./thingTraits.ts";

/** Compares two things by their indices, as `sort` needs it. The result is 0 only for the same thing. */
export type InOrder = (a: number, b: number) => number;

/**
 * Orders nodes, pods, workloads and waiting gangs where nothing else ranks them. What has existed for longest comes first;
 * after that, what they are (sizes, shapes, rules) decides, and then what is around them (`thingsAround`). Names decide only
 * between nodes that are alike in all of this, and between pods that are alike on one node: pods of alike nodes follow the
 * order of the nodes, workloads that of their pods, and gangs that of their workloads. The same plans are therefore found
 * whatever the names of things are. Each trait is looked up when two things are equal in all that comes before it.
 */
export interface MomentOrder {
  readonly nodes: InOrder;
  readonly pods: InOrder;
  readonly workloads: InOrder;
  readonly gangs: InOrder;
}

/** The order of a moment. */
export const momentOrder = oncePer((analysis: Analysis): MomentOrder => {
  const { nodes, pods, workloads, queueing } = analysis.snapshot;
  const index = momentIndex(analysis);
  const around = once(() => thingsAround(analysis));
  const byNode = inOrder(nodes, [({ createdAt }) => createdAt ?? latest, nodeHash, (_, node) => around().ofNode(node)]);
  // Nodes are compared most often, and each with all others.
  const places = once(() => placesOf(nodes.length, byNode));
  const placeOf = (name: string | null): number => places()[index.nodeOf(name ?? "") ?? -1] ?? nodes.length;
  const byPod = inOrder(pods, [
    ({ boundAt, createdAt }) => boundAt ?? createdAt ?? latest,
    podHash,
    (_, pod) => around().ofPod(pod),
    ({ node }) => placeOf(node),
  ]);
  const firstPod = oncePer((workload: WorkloadView): number => workload.pods.toSorted(byPod)[0] ?? -1);
  const byWorkload = inOrder(workloads, [({ createdAt }) => createdAt ?? latest, workloadHash], (a, b) =>
    byPod(firstPod(a), firstPod(b)),
  );
  const byGang = inOrder(
    queueing.gangs,
    [({ since }) => since ?? latest, gangHash],
    (a, b) => byWorkload(index.workloadsOf(a)[0] ?? -1, index.workloadsOf(b)[0] ?? -1) || compareText(a.uid, b.uid),
  );
  return {
    nodes: (a, b) => (places()[a] ?? 0) - (places()[b] ?? 0),
    pods: byPod,
    workloads: byWorkload,
    gangs: byGang,
  };
});

const latest = Number.MAX_SAFE_INTEGER;

/** Compares by each trait in turn, then by what belongs to the things, then by name. */
function inOrder<Item extends { readonly name: string; readonly namespace?: string }>(
  items: readonly Item[],
  traits: readonly TraitOf<Item>[],
  byTheirOwn: (a: Item, b: Item) => number = () => 0,
): InOrder {
  const known = traits.map((trait) => keptByIndex(trait, items.length));
  return (a, b) => {
    const [one, other] = [items[a], items[b]];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    if (one === other) return 0;
    for (const trait of known) {
      const difference = trait(one, a) - trait(other, b);
      if (difference !== 0) return difference;
    }
    return (
      byTheirOwn(one, other) ||
      compareText(one.namespace ?? "", other.namespace ?? "") ||
      compareText(one.name, other.name)
    );
  };
}

type TraitOf<Item> = (item: Item, index: number) => number;

/** Computes a trait once for each of `count` things: sorting asks for it again and again. */
function keptByIndex<Item>(trait: TraitOf<Item>, count: number): TraitOf<Item> {
  let kept: Float64Array | null = null;
  return (item, index) => {
    kept ??= new Float64Array(count).fill(Number.NaN);
    const value = kept[index] ?? Number.NaN;
    if (!Number.isNaN(value)) return value;
    const found = trait(item, index);
    kept[index] = found;
    return found;
  };
}

/** The place of each of `count` things when all of them are sorted. */
function placesOf(count: number, order: InOrder): Int32Array {
  const places = new Int32Array(count);
  for (const [place, index] of [...places.keys()].sort(order).entries()) places[index] = place;
  return places;
}
