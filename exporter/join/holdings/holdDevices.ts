import type { Config } from "../../config/schema.ts";
import type { ResourceClaim } from "../../model/cluster.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { reservationNamespaces } from "../../model/wellKnown.ts";
import { allocatedMigByNode, type DraDevices } from "../draDevices.ts";
import type { DeviceDraft } from "../drafts.ts";
import { memoryOfModel } from "../gpuModel.ts";
import { type GpuUnit, gpuUnitOf, registeredGpus, registerOf } from "../gpuUnits.ts";
import type { Memory } from "../memory.ts";
import { profileKey, sameProfile } from "../mig.ts";
import type { NodeInput } from "../nodeInputs.ts";
import { layOutGpus } from "../physicalGpus.ts";
import { podsNamedByTelemetry } from "../podsFromTelemetry.ts";
import type { UnpartitionedPart } from "../snapshot.ts";
import { isPlacedBy } from "../trust/placedBy.ts";
import { holdByAllocations } from "./allocations.ts";
import { holdByClaims, isGpuResult } from "./claims.ts";
import { fractionOf } from "./fractions.ts";
import { holdByLabels } from "./labels.ts";
import {
  type DemandKind,
  demandKind,
  type NodeWitness,
  noWitness,
  openRequests,
  type PodOnNode,
  scaleDownOverallocated,
} from "./podOnNode.ts";
import { namedUuids, type PodsOn, podsByNode, unwitnessed } from "./podsOfNode.ts";
import { holdByRequests } from "./requests.ts";
import { holdByReservations, reservedGroup } from "./reservations.ts";
import { unhealthyUuids } from "./unhealthyDevices.ts";

/** The input for finding the holdings of some nodes: of all nodes, or of those that no claim ties to any other. */
export interface HoldingInput {
  readonly nodes: readonly NodeInput[];
  readonly draDevices: DraDevices;
  /** These are at least the claims that pods of the nodes have or name, and those that were given MIG devices of the nodes. */
  readonly claims: readonly ResourceClaim[];
  readonly holding: readonly Pod[];
  readonly reservations: readonly Pod[];
  readonly memory: Memory;
  readonly settings: Config["gpu"];
  readonly knowsPods: boolean;
  /** Whether KAI or Run:ai is installed: at least one of their objects exists. */
  readonly hasKai: boolean;
  /** Namespaces whose pods were read, if those of others may be missing; absent: all. */
  readonly podNamespaces: ReadonlySet<string> | undefined;
  readonly knowsClaims: boolean;
}

/** One node with its devices, and the pods on it by index. */
export interface NodeLayout {
  readonly input: NodeInput;
  readonly devices: readonly DeviceDraft[];
  readonly unpartitioned: readonly UnpartitionedPart[];
  readonly pods: readonly number[];
}

export interface AllocatedDevices {
  readonly layouts: readonly NodeLayout[];
  /** Pods that hold something, in the order of their indices. */
  readonly pods: readonly Pod[];
  /** Those of `pods` that only telemetry names. */
  readonly named: ReadonlySet<Pod>;
  /** Physical GPUs that each pod asks for, by its own object or claims: the second side of the accounting. */
  readonly asked: ReadonlyMap<number, number>;
  /** Pods with a resource or a fraction that cannot be converted: `asked` is only a part of what they hold, or a guess. */
  readonly partlyKnown: ReadonlySet<number>;
  readonly problems: readonly Problem[];
}

/** Finds who holds which device of which node: claims, then labels, reservations, allocations, and requests last. */
export function holdDevices(input: HoldingInput): AllocatedDevices {
  const problems: Problem[] = [];
  const podsOn = podsByNode(input);
  const laidOut = layOutAll(input, podsOn, problems);
  const placed = placePods(input, laidOut, podsOn, problems);
  const byUid = new Map(placed.flatMap((p) => p.pods.map((pod) => [pod.pod.uid, pod] as const)));
  const devicesByNode = new Map(placed.map((p) => [p.layout.input.object.name, p.layout.devices] as const));
  const claims = holdByClaims(input.claims, input.draDevices, (node) => devicesByNode.get(node) ?? [], byUid);
  problems.push(...claims.problems);
  const homelessByNode = Map.groupBy(claims.homeless, ({ pod }) => pod.node);
  const names = new Map(
    placed.flatMap((p) => p.pods.map((pod) => [pod.index, `${pod.pod.namespace}/${pod.pod.name}`] as const)),
  );
  const asked = new Map(claims.asked);
  const isRead = readNamespaces(input);
  const unsized = new Set<number>();
  for (const { layout, pods, reservations } of placed) {
    const { devices } = layout;
    const node = layout.input.object.name;
    const registered = new Map(
      registeredGpus(layout.input.object).map((physicalGpu) => [physicalGpu.uuid, physicalGpu.memoryMiB] as const),
    );
    const byRow = pods.filter(({ kind }) => kind !== "allocation");
    problems.push(...holdByLabels(devices, new Map(byRow.map((pod) => [`${pod.pod.namespace}/${pod.pod.name}`, pod]))));
    weighInstances(devices, pods);
    for (const pod of pods) askByRequest(pod, asked);
    const fractions = holdByReservations(devices, pods, reservations, isRead, layout.input.inventory.memoryBytes);
    problems.push(...fractions.problems);
    for (const index of fractions.unsized) unsized.add(index);
    const homeless = [
      ...(homelessByNode.get(node) ?? []).map((h) => ({ ...h, source: "dra" as const })),
      ...fractions.homeless.map((h) => ({ ...h, source: "reservation" as const })),
      ...holdByAllocations(devices, pods, registered).map((h) => ({ ...h, source: "annotation" as const })),
    ];
    if (layout.input.inventory.physicalGpus !== null) problems.push(...holdByRequests(node, devices, pods, homeless));
    problems.push(...scaleDownOverallocated(devices, (index) => names.get(index) ?? "?"));
    for (const pod of pods) askByShares(pod, devices, asked);
  }
  const all = placed.flatMap((p) => p.pods);
  return {
    layouts: placed.map((p) => p.layout),
    pods: all.map((p) => p.pod),
    named: new Set(all.flatMap(({ pod, named }) => (named ? [pod] : []))),
    asked,
    partlyKnown: new Set([...all.filter((p) => p.unknown.length > 0).map((p) => p.index), ...unsized]),
    problems,
  };
}

function layOutAll(input: HoldingInput, podsOn: PodsOn, problems: Problem[]): readonly Omit<NodeLayout, "pods">[] {
  const allocatedMig = allocatedMigByNode(input.claims, input.draDevices);
  const poolOf = (model: string) =>
    Object.hasOwn(input.settings.pools, model) ? (input.settings.pools[model] ?? model) : model;
  return input.nodes.map((node) => {
    const name = node.object.name;
    const remembered = input.memory.nodes.get(name);
    const physicalGpus = layOutGpus({
      node: name,
      inventory: node.inventory,
      readings: node.readings,
      allocatedMig: allocatedMig.get(name) ?? [],
      namedUuids: namedUuids(podsOn(name), registeredGpus(node.object)),
      rememberedUuids: remembered?.bootId === node.object.bootId ? remembered.uuids : [],
      unhealthyUuids: unhealthyUuids(podsOn(name), input.claims, input.draDevices),
      poolOf,
    });
    problems.push(...physicalGpus.problems);
    return { input: node, devices: physicalGpus.devices, unpartitioned: physicalGpus.unpartitioned };
  });
}

interface PlacedPod extends PodOnNode {
  /** GPU resources to which nothing gives a meaning. */
  readonly unknown: readonly string[];
  /** Whether the node is known from telemetry alone. */
  readonly named: boolean;
}

interface PlacedNode {
  readonly layout: NodeLayout;
  readonly reservations: readonly Pod[];
  readonly pods: readonly PlacedPod[];
}

/** Whether the pods of a namespace were read. */
function readNamespaces({ knowsPods, podNamespaces }: HoldingInput): (namespace: string) => boolean {
  return (namespace) => knowsPods && (podNamespaces?.has(namespace) ?? true);
}

function placePods(
  input: HoldingInput,
  laidOut: readonly Omit<NodeLayout, "pods">[],
  podsOn: PodsOn,
  problems: Problem[],
): readonly PlacedNode[] {
  const { knowsPods } = input;
  const monitoring = monitoringOnly(input);
  const isRead = readNamespaces(input);
  const knowsReservations = [...reservationNamespaces].some(isRead);
  let next = 0;
  return laidOut.map((layout) => {
    const { object, inventory } = layout.input;
    const weights = meanWeights(layout.devices);
    const physicalGpu = {
      model: inventory.model,
      memoryBytes: inventory.memoryBytes ?? memoryOfModel(inventory.model),
    };
    const unitOf = (resource: string): GpuUnit => {
      const unit = inventory.units.get(resource) ?? gpuUnitOf(object, resource, physicalGpu, input.settings);
      const weight = unit.profile === null ? undefined : weights.get(profileKey(unit.profile));
      return weight === undefined ? unit : { ...unit, gpus: weight / unit.replicas };
    };
    const found = podsOn(object.name);
    const { reservations, pods: bound } = found;
    const groups = knowsReservations ? new Set(reservations.flatMap((pod) => reservedGroup(pod) ?? [])) : null;
    const witness: NodeWitness = { isShared: registerOf(object) !== undefined, groups };
    const kindOf = (pod: Pod) => demandKind(pod, witness);
    problems.push(...unwitnessed(object.name, found, kindOf));
    const read = (knowsPods ? bound : [])
      .filter((pod) => !monitoring(pod))
      .map((pod) => ({ pod, ...requestsOf(pod, kindOf(pod), unitOf), named: false }));
    const shown = podsNamedByTelemetry(object.name, layout.devices, isRead).map((pod) => ({
      ...pod,
      kind: "request" as const,
      unknown: [],
      named: true,
    }));
    const pods = [...read, ...shown].map(({ pod, kind, open, unknown, named }): PlacedPod => {
      if (unknown.length > 0) problems.push(unknownRequest(pod, unknown));
      return { index: next++, pod, node: object.name, kind, open, unknown, named };
    });
    return { layout: { ...layout, pods: pods.map((p) => p.index) }, reservations, pods };
  });
}

/** Requests for instances get the mean weight of instances without a known holder, once holders are known. */
function weighInstances(devices: readonly DeviceDraft[], pods: readonly PodOnNode[]): void {
  const free = devices.filter(({ profile, shares }) => profile !== null && shares.length === 0);
  if (free.length === 0) return;
  const weights = meanWeights(free);
  for (const { open } of pods)
    for (const request of open) {
      const weight = request.profile === null ? undefined : weights.get(profileKey(request.profile));
      if (weight !== undefined) request.gpusPerUnit = weight / replicasOf(free, request.profile);
    }
}

const replicasOf = (devices: readonly DeviceDraft[], profile: string | null): number =>
  devices.find((device) => sameProfile(device.profile ?? "", profile ?? ""))?.slots ?? 1;

/** The weight of an instance of each profile, if the layout of the node's GPUs is known: the mean of the existing ones. */
function meanWeights(devices: readonly DeviceDraft[]): ReadonlyMap<string, number> {
  const weights = new Map<string, { sum: number; count: number }>();
  for (const { profile, weight } of devices) {
    if (profile === null) continue;
    const known = weights.get(profileKey(profile)) ?? { sum: 0, count: 0 };
    weights.set(profileKey(profile), { sum: known.sum + weight, count: known.count + 1 });
  }
  return new Map([...weights].map(([profile, { sum, count }]) => [profile, sum / count] as const));
}

function requestsOf(
  pod: Pod,
  kind: DemandKind,
  unitOf: Parameters<typeof openRequests>[1],
): ReturnType<typeof openRequests> & { readonly kind: DemandKind } {
  return {
    kind,
    ...(kind === "request" || kind === "allocation" ? openRequests(pod, unitOf) : { open: [], unknown: [] }),
  };
}

/** Finds pods that hold no GPU by claims, because all of their claims are for monitoring or for devices that are not GPUs. */
function monitoringOnly(input: HoldingInput): (pod: Pod) => boolean {
  const allocated = new Map(input.claims.map((c) => [`${c.namespace}/${c.name}`, c.allocated] as const));
  return (pod) => {
    if (demandKind(pod, noWitness) !== "claim" || !input.knowsClaims) return false;
    const names = [...pod.gpu.claims.map((c) => c.claimName), pod.gpu.extendedResourceClaim].filter(
      (name) => name !== null,
    );
    const results = names.map((name) => allocated.get(`${pod.namespace}/${name}`));
    return results.every(
      (devices) =>
        devices !== undefined &&
        devices.length > 0 &&
        devices.every((d) => d.adminAccess || !isGpuResult(d, input.draDevices)),
    );
  };
}

function askByRequest(pod: PodOnNode, asked: Map<number, number>): void {
  if (pod.kind === "request") {
    const requested = pod.open.reduce((sum, r) => sum + r.placed + r.units * r.gpusPerUnit, 0);
    asked.set(pod.index, (asked.get(pod.index) ?? 0) + requested);
  }
  const fraction = pod.kind === "fraction" ? fractionOf(pod.pod) : null;
  if (fraction?.gpus && isPlacedBy("kai", pod.pod)) asked.set(pod.index, fraction.gpus * fraction.devices);
}

/** If only the sharing system reports how much a pod holds, both sides of the accounting come from it. */
function askByShares(pod: PodOnNode, devices: readonly DeviceDraft[], asked: Map<number, number>): void {
  if (asked.has(pod.index)) return;
  const shares = devices.flatMap((d) => d.shares).filter((s) => s.pod === pod.index);
  if (shares.length > 0)
    asked.set(
      pod.index,
      shares.reduce((sum, s) => sum + s.share, 0),
    );
}

function unknownRequest(pod: Pod, resources: readonly string[]): Problem {
  const name = `${pod.namespace}/${pod.name}`;
  return {
    source: "join",
    code: "gpu-resource-unknown",
    severity: "warning",
    subject: name,
    message: `pod ${name} holds ${resources.join(", ")}, and nothing says how much of a GPU one of it is`,
    nextStep: "Set gpu.resources or gpu.replicas for it in the configuration.",
  };
}
