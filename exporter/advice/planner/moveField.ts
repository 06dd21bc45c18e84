import { requestsOf } from "../../analysis/freeCapacity/freeCapacities.ts";
import {
  type FreeCapacity,
  type FreeSlots,
  freeCapacityWithoutGpus,
  freeOf,
  isSpread,
  isUsable,
  type NodeFreeCapacity,
} from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import { takesNow } from "../../analysis/freeCapacity/nodeRules.ts";
import { demandKey, instanceKey, podDemand, rulesKey, unitKey } from "../../analysis/freeCapacity/podDemand.ts";
import { domainFinder } from "../../join/queues/domainOfNode.ts";
import type { Device, NodeView, Snapshot } from "../../join/snapshot.ts";
import { innerMap } from "../../kernel/innerMap.ts";
import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PodNeeds } from "../../model/queues/podNeeds.ts";
import type { DisruptionUnit } from "../disruptionUnits.ts";
import { type PlacementRules, placementRulesOf } from "../placement/placementRules.ts";
import { nodeIndexes as indexesByName } from "../usage/eachHolding.ts";
import { isPhysicalGpu } from "../whatIf/podHoldings.ts";
import type { GivenBack, PlanNode, PlanPod, PlanPodKind, PlanRules, PlanUnit } from "./problem.ts";

/** The nodes among which pods may be moved, with the units on them. */
export interface MoveField {
  readonly nodes: readonly PlanNode[];
  /** The index into `Snapshot.nodes` of each node. */
  readonly nodeIndexes: readonly number[];
  readonly units: readonly PlanUnit[];
  /** What each unit was made from, in the same order. */
  readonly sources: readonly DisruptionUnit[];
  readonly fixedNodes: ReadonlySet<number>;
  /** The planner's kind for pods with this number of GPUs and these needs. */
  readonly kindOf: (gpus: number, needs: PodNeeds, like?: number) => PlanPodKind;
  readonly rules: PlanRules;
}

/**
 * Makes the field of the nodes of one quota domain or pool. Pods that hold anything outside of it, ask for something unknown,
 * or hold unknown GPUs, are not moved.
 */
export function moveFieldOf(
  snapshot: Snapshot,
  freeCapacities: readonly NodeFreeCapacity[],
  isIn: (pool: string, node: string) => boolean,
  units: readonly DisruptionUnit[],
): MoveField {
  const placement = placementRulesOf(snapshot);
  const kinds = createKinds(snapshot, freeCapacities, domainsOf(snapshot, freeCapacities), placement);
  const indexOf = indexesByName(snapshot.nodes);
  const nodeOf = new Map<string, number>();
  const nodes: PlanNode[] = [];
  const given = new Map<number, GivenBack>();
  const holders: (readonly number[])[] = [];
  for (const [index, freeCapacity] of freeCapacities.entries()) {
    nodeOf.set(freeCapacity.node.name, index);
    const found = planNode(snapshot, freeCapacity, isIn, given);
    nodes.push(found.node);
    holders.push(found.holders);
  }
  const planned: PlanUnit[] = [];
  const sources: DisruptionUnit[] = [];
  const moving = new Set<number>();
  for (const source of units) {
    const pods = planPods(snapshot, source, nodeOf, given, kinds);
    if (pods === null) continue;
    planned.push({
      name: unitName(snapshot, source),
      pods,
      lostGpuHours: source.lostGpuHours,
      group: `${source.workload}`,
    });
    sources.push(source);
    for (const pod of source.pods) moving.add(pod);
  }
  const fixedNodes = new Set<number>();
  for (const [index, pods] of holders.entries()) if (pods.some((pod) => !moving.has(pod))) fixedNodes.add(index);
  const nodeIndexes = freeCapacities.map(({ node }) => indexOf.get(node.name) ?? -1);
  const kindOf: MoveField["kindOf"] = (gpus, needs, like) => kinds(gpus, needs, null, like);
  const rules: PlanRules = { nodeOf: (pod) => snapshot.pods[pod]?.node ?? null, allows: placement.allows };
  return { nodes, nodeIndexes, units: planned, sources, fixedNodes, kindOf, rules };
}

/** The quota domain (index) of the first pool of each node; -1: none. */
function domainsOf({ queueing }: Snapshot, freeCapacities: readonly NodeFreeCapacity[]): readonly number[] {
  const domainOf = domainFinder(queueing.domains);
  return freeCapacities.map(({ node }) => domainOf(node.pools[0] ?? "", node.name) ?? -1);
}

/** The name of a unit: `namespace/name` of its pod; for several pods, that of their workload, with the number of pods. */
function unitName({ pods, workloads }: Snapshot, { pods: own, workload }: DisruptionUnit): string {
  const [first] = own;
  const pod = first === undefined ? undefined : pods[first];
  const { namespace, name } = own.length === 1 && pod !== undefined ? pod : (workloads[workload] ?? pod ?? nobody);
  return own.length === 1 ? `${namespace}/${name}` : `${namespace}/${name} (${own.length} pods)`;
}

const nobody = { namespace: "", name: "" } as const;

/** What is free on a node, which pods hold anything there, and what each of them would give back. */
function planNode(
  snapshot: Snapshot,
  { node, now }: NodeFreeCapacity,
  isIn: (pool: string, node: string) => boolean,
  given: Map<number, GivenBack>,
): { readonly node: PlanNode; readonly holders: readonly number[] } {
  const devices = node.devices.flatMap((index) => {
    const device = snapshot.devices[index];
    return device !== undefined && isIn(device.pool, device.node) ? [device] : [];
  });
  const holders = devices.flatMap((device) => device.holders.map(({ pod }) => pod));
  const free: FreeCapacity = now === null ? freeCapacityWithoutGpus(node, requestsOf(snapshot, node.name)) : { ...now };
  if (!isUsable(node) || devices.some((device) => liesSomewhere(device, snapshot.pods))) {
    return {
      node: { name: node.name, free: isUsable(node) ? free : { ...free, cpuMilli: 0, memoryBytes: 0 } },
      holders,
    };
  }
  const physicalGpus: number[] = [];
  for (const device of devices) {
    if (device.unhealthy || device.orphanReservation) continue;
    const physicalGpu = isPhysicalGpu(device) ? physicalGpus.push(Math.max(0, freeOf(device))) - 1 : null;
    for (const { pod, share } of device.holders) {
      const before = given.get(pod) ?? nothing;
      given.set(pod, {
        gpus: before.gpus + share,
        physicalGpus: physicalGpu === null ? before.physicalGpus : [...before.physicalGpus, [physicalGpu, share]],
        slots: physicalGpu === null ? [...before.slots, ...slotsOf(device, share)] : before.slots,
      });
    }
  }
  return { node: { name: node.name, free: { ...free, physicalGpus } }, holders };
}

/** Whether a device is partly free, while it is not known whether the free part is on this GPU or on another. */
const liesSomewhere = (device: Device, pods: Snapshot["pods"]): boolean =>
  device.holders.length > 0 && freeOf(device) > gpuTolerance && isSpread(device, pods);

const nothing: GivenBack = { gpus: 0, physicalGpus: [], slots: [] };

/** The replicas or the MIG instance that make up a share of a device, with the keys of a `FreeCapacity`. */
function slotsOf({ weight, slots, profile }: Device, share: number): GivenBack["slots"] {
  const unit = weight / slots;
  const count = Math.floor(share / unit + gpuTolerance);
  const free: FreeSlots = { count, gpus: count * unit };
  const ofSize = [unitKey(unit), free] as const;
  return profile === null ? [ofSize] : [[instanceKey(profile), free], ofSize];
}

/** All pods of a unit; `null` if one of them is not known well enough, or is on other nodes. */
function planPods(
  snapshot: Snapshot,
  { pods }: DisruptionUnit,
  nodeOf: ReadonlyMap<string, number>,
  given: ReadonlyMap<number, GivenBack>,
  kinds: Kinds,
): readonly PlanPod[] | null {
  const found: PlanPod[] = [];
  for (const pod of pods) {
    const planned = planPod(snapshot, pod, nodeOf, given, kinds);
    if (planned === null) return null;
    found.push(planned);
  }
  return found.length === 0 ? null : found;
}

/** A pod as the planner sees it; `null` if something about it is not known, or if it holds anything outside of these nodes. */
function planPod(
  { pods }: Snapshot,
  index: number,
  nodeOf: ReadonlyMap<string, number>,
  given: ReadonlyMap<number, GivenBack>,
  kinds: Kinds,
): PlanPod | null {
  const pod = pods[index];
  const [gives, node] = [given.get(index), nodeOf.get(pod?.node ?? "")];
  if (pod === undefined || pod.needs === null || pod.gpus === null || gives === undefined || node === undefined)
    return null;
  if (Math.abs(gives.gpus - pod.gpus) > gpuTolerance * 10) return null;
  return { pod: index, node, kind: kinds(pod.gpus, pod.needs, node, index), gives };
}

/**
 * Returns the kind of pods with these requests. `from`: the node that they leave, in whose quota domain they have to stay, on
 * capacity that is no worse; `pod`: one of them.
 */
type Kinds = (gpus: number, needs: PodNeeds, from: number | null, pod?: number) => PlanPodKind;

/** Makes the kinds: one object for all pods with the same requests, so that it is looked up once whether a node takes them. */
function createKinds(
  { pods }: Snapshot,
  freeCapacities: readonly NodeFreeCapacity[],
  domains: readonly number[],
  placement: PlacementRules,
): Kinds {
  const ruleOf = new Map<PodNeeds, string>();
  const kinds = new Map<string, PlanPodKind>();
  const withNeeds = new Map<PodNeeds, Map<string, Map<number, PlanPodKind>>>();
  const lefts = freeCapacities.map(({ node }, from) => `${domains[from] ?? -1} ${node.capacityType}`);
  const takers = new Map<string, (node: number) => boolean>();
  const landings = new Map<string, (node: number) => boolean>();
  const ruledBy = (pod: number | undefined): string => {
    const view = pod === undefined ? undefined : pods[pod];
    if (view === undefined || pod === undefined || !placement.concerns(pod)) return "";
    return JSON.stringify([view.namespace, view.labels, view.placement, view.volumeClaims]);
  };
  const kindOf: Kinds = (gpus, needs, from, pod) => {
    const domain = from === null ? null : (domains[from] ?? -1);
    const left = from === null ? undefined : freeCapacities[from]?.node;
    const capacity = left === undefined ? "any" : `${left.capacityType}`;
    const ruled = ruledBy(pod);
    const rules = ruleOf.get(needs) ?? rulesKey(needs);
    ruleOf.set(needs, rules);
    const demand = podDemand(gpus, needs);
    const key = `${domain ?? "any"}#${capacity}#${demandKey(demand)}#${rules}#${ruled}`;
    const known = kinds.get(key);
    if (known !== undefined) return known;
    const mayLand = landings.get(rules) ?? createTakes(freeCapacities, needs, () => true);
    landings.set(rules, mayLand);
    const place = `${domain ?? "any"}#${capacity}#${rules}`;
    const isWorse = (node: number): boolean => left !== undefined && isWorseCapacity(left, freeCapacities[node]?.node);
    const takes =
      takers.get(place) ??
      createTakes(freeCapacities, needs, (node) => (domain === null || domains[node] === domain) && !isWorse(node));
    takers.set(place, takes);
    const kind: PlanPodKind = {
      demand,
      takes,
      mayLand,
      isWorse,
      ...(ruled === "" || pod === undefined ? {} : { like: pod }),
    };
    kinds.set(key, kind);
    return kind;
  };
  return (gpus, needs, from, pod) => {
    if (pod !== undefined && placement.concerns(pod)) return kindOf(gpus, needs, from, pod);
    // Most pods share their needs with others: their kind is found without a text of all that they ask for.
    const alike = innerMap(innerMap(withNeeds, needs), (from === null ? null : lefts[from]) ?? "any");
    const known = alike.get(gpus);
    if (known !== undefined) return known;
    const found = kindOf(gpus, needs, from, pod);
    alike.set(gpus, found);
    return found;
  };
}

function createTakes(
  freeCapacities: readonly NodeFreeCapacity[],
  needs: PodNeeds,
  isIn: (node: number) => boolean,
): (node: number) => boolean {
  const known = new Uint8Array(freeCapacities.length);
  return (index) => {
    const before = known[index];
    if (before === 1) return true;
    if (before === 2) return false;
    const freeCapacity = freeCapacities[index];
    const takes =
      freeCapacity !== undefined && isUsable(freeCapacity.node) && isIn(index) && takesNow(freeCapacity.node, needs);
    known[index] = takes ? 1 : 2;
    return takes;
  };
}

/**
 * Whether a pod that moves from one node to another may be interrupted on the new node and could not be interrupted on the old
 * one: the new node has spot capacity, or capacity that may be spot, and the old one does not. A missing node counts as worse.
 */
export function isWorseCapacity(
  { capacityType: from }: Pick<NodeView, "capacityType">,
  to: Pick<NodeView, "capacityType"> | undefined,
): boolean {
  if (to === undefined) return true;
  if (from === "spot" || from === to.capacityType) return false;
  return to.capacityType === "spot" || to.capacityType === null;
}
