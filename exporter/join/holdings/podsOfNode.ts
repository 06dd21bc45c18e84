import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { podAnnotations } from "../../model/wellKnown.ts";
import { byUid } from "../binding/sortPods.ts";
import type { RegisteredGpu } from "../gpuUnits.ts";
import { allocationText, parseAllocation } from "./allocations.ts";
import { fractionOf, gpuGroupsOf } from "./fractions.ts";
import type { DemandKind } from "./podOnNode.ts";
import { type ReservationPods, reservationsAmong, reservedGroup } from "./reservations.ts";

/** What is bound to one node. */
export interface PodsOfNode extends ReservationPods {
  /** All pods on the node; `others` are among them. */
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

/** UUIDs that reservation pods name, and those that allocations of a sharing plugin name among the GPUs of its own register. */
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

/**
 * Claims of a node's pods about GPUs that nothing confirms: one line for each kind of claim and node, which names the first
 * pod and what it claims.
 */
export function unwitnessed(
  node: string,
  { pods, others, unserved }: PodsOfNode,
  kindOf: (pod: Pod) => DemandKind,
): readonly Problem[] {
  const allocations: Pod[] = [];
  const fractions: Pod[] = [];
  for (const pod of pods) {
    const hasText = allocationText(pod) !== undefined;
    const isFraction = fractionOf(pod) !== null;
    if (!hasText && !isFraction) continue;
    const kind = kindOf(pod);
    if (hasText && kind !== "allocation") allocations.push(pod);
    if (isFraction && kind !== "fraction" && !hasRequests(pod)) fractions.push(pod);
  }
  return [
    ...line(node, allocations, "allocation-unconfirmed", (pod) => {
      const uuids = parseAllocation(allocationText(pod) ?? "").map(({ uuid }) => uuid);
      const named = uuids.length === 0 ? "" : ` of ${uuids.slice(0, 3).join(", ")}`;
      return `carries an allocation annotation${named}, and it requests no GPU or no sharing plugin has registered the node`;
    }),
    ...line(node, fractions, "fraction-unconfirmed", (pod) => {
      const [group] = gpuGroupsOf(pod);
      return `asks for a fraction of a GPU by annotation${group === undefined ? "" : ` in the group ${group}`}, and no reservation pod of the node keeps a GPU for its group`;
    }),
    ...line(node, others, "reservation-unconfirmed", (pod) => {
      return `is in ${pod.namespace}, where KAI and Run:ai keep GPUs for fractions, and no fraction nor KAI itself says that it is theirs`;
    }),
    ...line(
      node,
      unserved,
      "reservation-unserved",
      (pod) => `keeps a GPU for the group ${reservedGroup(pod) ?? ""}, and no fraction that KAI places there is in it`,
      "nobody holds that GPU, and it is unattributed",
    ),
  ];
}

const hasRequests = ({ gpu }: Pod): boolean => Object.values(gpu.resources).some((units) => units > 0);

function line(
  node: string,
  pods: readonly Pod[],
  code: string,
  says: (pod: Pod) => string,
  so = "it holds what it requests and nothing else",
): readonly Problem[] {
  const [first] = pods;
  if (first === undefined) return [];
  const name = `${first.namespace}/${first.name}`;
  const others = pods.length === 1 ? "" : ` (the first of ${pods.length} such pods there)`;
  return [
    {
      source: "join",
      code,
      severity: "warning",
      subject: name,
      message: `pod ${name} on node ${node}${others} ${says(first)}; ${so}`,
      nextStep:
        "Ask the pod's owner why it says so; docs/trusted-labels.md lists for each label and annotation what must agree with it.",
    },
  ];
}
