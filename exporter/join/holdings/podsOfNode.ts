import type { Pod } from "../../model/pod.ts";
import { podAnnotations } from "../../model/wellKnown.ts";
import { byUid } from "../binding/sortPods.ts";
import type { RegisteredGpu } from "../gpuUnits.ts";
import { allocationText, parseAllocation } from "./allocationAnnotation.ts";
import { type ReservationPods, reservationsAmong } from "./reservations.ts";

/** What is bound to one node. */
export interface PodsOfNode extends ReservationPods {
  /** `others` are among them. */
  readonly pods: readonly Pod[];
}

/** Finds what is bound to a node by its name. */
export type PodsOn = (node: string) => PodsOfNode;

/** What is bound to each node, where real reservation pods are distinguished from other pods in their namespaces. */
export function podsByNode({
  holding,
  reservations,
  hasKai,
}: {
  readonly holding: readonly Pod[];
  readonly reservations: readonly Pod[];
  readonly hasKai: boolean;
}): PodsOn {
  const bound = Map.groupBy(holding, (pod) => pod.nodeName ?? "");
  const candidates = Map.groupBy(reservations, (pod) => pod.nodeName ?? "");
  return (node) => {
    const pods = bound.get(node) ?? [];
    const found = reservationsAmong(candidates.get(node) ?? [], pods, hasKai);
    return { ...found, pods: found.others.length === 0 ? pods : byUid([...pods, ...found.others]) };
  };
}

/** UUIDs by reservation pods, and by allocations of a sharing plugin among the GPUs of its own register. */
export function namedUuids(
  { reservations, pods }: PodsOfNode,
  registered: readonly RegisteredGpu[],
): readonly string[] {
  const reserved = reservations.map((pod) => pod.annotations[podAnnotations.kaiReservedGpu] ?? "");
  const known = new Set(registered.map(({ uuid }) => uuid));
  const allocated =
    known.size === 0 ? [] : pods.flatMap((pod) => parseAllocation(allocationText(pod) ?? "").map((a) => a.uuid));
  return [...new Set([...reserved, ...allocated.filter((uuid) => known.has(uuid))])].filter((uuid) =>
    uuid.startsWith("GPU-"),
  );
}
