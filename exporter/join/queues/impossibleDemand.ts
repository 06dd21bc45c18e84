import type { ClusterNode } from "../../model/node.ts";
import type { Pod } from "../../model/pod.ts";
import type { PodTerm } from "../../model/podPlacement.ts";
import { isStateTaint, isTolerated, meets, selects } from "../../model/queues/nodeMatch.ts";
import type { Surroundings } from "../surroundings.ts";
import type { NeverReason } from "./queueing.ts";
import { isRefusedEverywhere } from "./schedulerMessage.ts";

/** Why a waiting pod can never run as things are, so that it does not count as demand. */
export interface ImpossibleDemand {
  readonly never: NeverReason;
  /** The reason as people read it; bounded, with untrusted text in it. */
  readonly reason: string;
}

/** The evidence for judging waiting pods. */
export interface DemandEvidence {
  /** The nodes with GPUs; if it is empty, none are known. */
  readonly nodes: readonly Pick<
    ClusterNode,
    "labels" | "taints" | "capacity" | "allocatableCpuMilli" | "allocatableMemoryBytes"
  >[];
  /** All pods that hold or ask for GPUs. */
  readonly pods: readonly Pod[];
  readonly surroundings: Pick<Surroundings, "neighbors" | "volumeClaims">;
  /** Whether the scheduler that a pod names is known to run in this cluster. */
  readonly isServed: (pod: Pod) => boolean;
}

/** No node has as many devices of one resource; a pod runs on one node. */
export const mostUnitsOfPod = 1024;
/** The most pairs of a pod and what it is compared with that are examined; further pods are assumed to be possible. */
const mostLooks = 3_000_000;

/**
 * Finds waiting pods that can never run, by the scheduler's own report, the objects that a pod needs, and the nodes as if they
 * were empty. Anybody who can create pods can create any number of such pods: they cost nothing and no GPU would start them,
 * so no queue may count as short of GPUs, or lose any, because of them. Pure.
 */
export function impossibleDemand(evidence: DemandEvidence): (pod: Pod) => ImpossibleDemand | null {
  let looks = 0;
  const spend = (): boolean => {
    looks += 1;
    return looks <= mostLooks;
  };
  const placedIn = placedByNamespace(evidence);
  return (pod) => {
    const excess = Object.entries(pod.gpu.resources).find(([, amount]) => amount > mostUnitsOfPod);
    if (excess !== undefined) return noNode(`${excess[1]} ${excess[0]} is more than any node has`);
    if (!evidence.isServed(pod))
      return { never: "no-scheduler", reason: `no scheduler named ${pod.schedulerName} is known to work here` };
    if (pod.unschedulable !== undefined && isRefusedEverywhere(pod.unschedulable))
      return unschedulable(`its scheduler: ${pod.unschedulable}`);
    const claim = missingClaim(pod, evidence.surroundings);
    if (claim !== undefined) return unschedulable(`PersistentVolumeClaim ${claim} is not there`);
    if (!hasCompany(pod, placedIn, spend)) return unschedulable("the pods that it has to be near are not there");
    const { nodes } = evidence;
    if (nodes.length === 0 || nodes.some((node) => !spend() || couldTake(node, pod))) return null;
    return noNode(
      "no node with GPUs has the labels, CPU and memory that it asks for, and only taints that it tolerates",
    );
  };
}

const noNode = (reason: string): ImpossibleDemand => ({ never: "no-node", reason });
const unschedulable = (reason: string): ImpossibleDemand => ({ never: "unschedulable", reason });

/** A claim that a pod mounts and that does not exist, where claims could be read. */
function missingClaim({ namespace, volumeClaims = [] }: Pod, { volumeClaims: known }: DemandEvidence["surroundings"]) {
  return known === null ? undefined : volumeClaims.find((name) => !known.has(`${namespace}/${name}`));
}

/** Whether a node would take the pod if nothing ran on it; its GPUs are judged with the queues. */
function couldTake(node: DemandEvidence["nodes"][number], pod: Pod): boolean {
  return (
    selects(pod, node.labels) &&
    Object.entries(pod.gpu.resources).every(([name, amount]) => hasUnits(node.capacity[name], amount)) &&
    pod.cpuMilli <= node.allocatableCpuMilli &&
    pod.memoryBytes <= node.allocatableMemoryBytes &&
    node.taints.every((taint) => isStateTaint(taint) || isTolerated(taint, pod.tolerations))
  );
}

/** A resource that a node does not have now may come with its driver, or be served in another way. */
const hasUnits = (capacity: number | undefined, amount: number): boolean =>
  capacity === undefined || capacity === 0 || amount <= capacity;

/** A pod as affinity sees it. */
type PlacedPod = Pick<Pod, "namespace" | "labels">;
type PlacedPods = (namespace: string) => readonly PlacedPod[];

/** Pods on nodes by namespace; `null` if not all pods that rules look at are known. */
function placedByNamespace({ pods, surroundings }: DemandEvidence): PlacedPods | null {
  const { neighbors } = surroundings;
  if (neighbors === null) return null;
  let groups: ReadonlyMap<string, readonly PlacedPod[]> | null = null;
  return (namespace) => {
    groups ??= Map.groupBy<string, PlacedPod>(
      [...pods.filter(({ nodeName }) => nodeName !== null), ...neighbors],
      (one) => one.namespace,
    );
    return groups.get(namespace) ?? [];
  };
}

/** Whether a pod that matches all terms of required affinity is on a node, or would be with the pod itself. */
function hasCompany(pod: Pod, placedIn: PlacedPods | null, spend: () => boolean): boolean {
  const [first, ...others] = pod.placement?.affinity ?? [];
  if (first === undefined || placedIn === null) return true;
  const isMeant = (one: PlacedPod): boolean => [first, ...others].every((term) => means(term, pod.namespace, one));
  if (isMeant(pod)) return true;
  const namespaces = first.namespaces.length === 0 ? [pod.namespace] : first.namespaces;
  return namespaces.some((namespace) => placedIn(namespace).some((one) => !spend() || isMeant(one)));
}

const means = ({ namespaces, selector }: PodTerm, own: string, { namespace, labels }: PlacedPod): boolean =>
  (namespaces.length === 0 ? namespace === own : namespaces.includes(namespace)) &&
  selector.every((one) => meets(labels, one));
