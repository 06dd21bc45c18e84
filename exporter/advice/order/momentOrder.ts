import type { Analysis } from "../../analysis/analysis.ts";
import { distinguish } from "../../kernel/distinguish.ts";
import { createThings } from "./things.ts";

/**
 * The places of the nodes, pods, workloads and waiting gangs of a moment, each by its index in the Snapshot, when all of a kind
 * are put in order: what is there for the longest comes first, then what they are decides (sizes, shapes, rules, what else is
 * around them), and names decide only between those that nothing distinguishes. So other names give the same advice. (Where
 * thousands are alike by themselves, what is around them is not looked at: `createThings`.)
 */
export interface MomentOrder {
  readonly ofNode: Int32Array;
  readonly ofPod: Int32Array;
  readonly ofWorkload: Int32Array;
  readonly ofGang: Int32Array;
}

const orders = new WeakMap<Analysis, MomentOrder>();

/** The order of a moment; made once. Pure. */
export function momentOrder(analysis: Analysis): MomentOrder {
  const known = orders.get(analysis);
  if (known !== undefined) return known;
  const { nodes, pods, workloads, queueing } = analysis.snapshot;
  const things = createThings(analysis);
  const { sinceOf, first } = things;
  const inOrder = distinguish(things);
  const placesOf = (from: number, count: number): Int32Array => {
    const since = Float64Array.from({ length: count }, (_, i) => sinceOf(from + i));
    const indices = Uint32Array.from({ length: count }, (_, i) => i);
    indices.sort((a, b) => (since[a] ?? 0) - (since[b] ?? 0) || inOrder(from + a, from + b));
    const places = new Int32Array(count);
    for (const [place, index] of indices.entries()) places[index] = place;
    return places;
  };
  const ofNode = placesOf(first.node, nodes.length);
  const ofPod = placesOf(first.pod, pods.length);
  const ofWorkload = placesOf(first.workload, workloads.length);
  const ofGang = placesOf(first.gang, queueing.gangs.length);
  const order: MomentOrder = { ofNode, ofPod, ofWorkload, ofGang };
  orders.set(analysis, order);
  return order;
}

/** Compares indices by their places. */
export const byPlace =
  (places: Int32Array) =>
  (a: number, b: number): number =>
    (places[a] ?? a) - (places[b] ?? b);
