import { vendorOfResources } from "../../model/gpuResource.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import { nodeLabels } from "../../model/wellKnown.ts";
import { allocatedOf, type DeviceDraft, deviceKey, type ShareDraft } from "../drafts.ts";
import { type HoldingInput, holdDevices, type NodeLayout } from "../holdings/holdDevices.ts";
import type { NodeMemory } from "../memory.ts";
import { capacityTypeOf, isReady, isSchedulable, keptBy, nodePoolOf, providerOf, regionOf } from "../nodeFacts.ts";
import type { NodeInput } from "../nodeInputs.ts";
import type { Device, NodeView, UnpartitionedPart } from "../snapshot.ts";
import type { Subject } from "../subject.ts";

/** A pod that is bound to a node and has not ended. */
export interface BoundPod {
  readonly pod: Pod;
  /** Whether only telemetry knows it. */
  readonly named: boolean;
  /** Physical GPUs that it asks for; `null` where a unit of its resource cannot be converted. */
  readonly gpus: number | null;
  /** Index into `Snapshot.pods` of the cycle that is joined. */
  index: number;
  /** The subject that was last found for it. */
  subject: Subject | null;
}

/** A share of a device that a pod holds. */
export interface BoundShare extends Omit<Readonly<ShareDraft>, "pod"> {
  readonly pod: BoundPod;
}

/** What one pod holds of the devices of one pool. */
export interface BoundHolding {
  readonly pod: BoundPod;
  readonly pool: string;
  /** Physical GPUs. */
  readonly gpus: number;
  /** The largest part of them on one device. */
  readonly largest: number;
}

/** A device with everything that does not depend on the values of the moment. */
export interface BoundDevice extends Readonly<Omit<DeviceDraft, "reading" | "shares" | "areSlotsAssumed">> {
  /** Its key in the memory of the join; `null` for a device that nothing identifies. */
  readonly key: string | null;
  /** Index into the node's readings; -1 when it is not observed. */
  readonly row: number;
  readonly shares: readonly BoundShare[];
  /** Whether its memory is what its row reports now; `memoryBytes` is what the row reported when the device was bound. */
  readonly rowHasMemory: boolean;
  /** Physical GPUs that are allocated. */
  readonly allocated: number;
  /** Whether it is exclusive, and every share is on it because the device of these shares is not known. */
  readonly standsOnSpread: boolean;
}

/**
 * One node's GPUs and who holds them: everything in its Snapshot except activity, idle times and indices. It stays valid as
 * long as its inputs are the same objects.
 */
export interface NodeBinding {
  readonly input: Omit<NodeInput, "readings">;
  readonly devices: readonly BoundDevice[];
  readonly unpartitioned: readonly UnpartitionedPart[];
  readonly pods: readonly BoundPod[];
  /** Whether some share is on several devices, because its own device is not known. */
  readonly hasSpread: boolean;
  readonly problems: readonly Problem[];
  readonly facts: NodeFacts;
  /** Whether several devices have the same key in the memory of the join. */
  readonly hasTwins: boolean;
  /** The view and the memory that were last derived from this binding; both are kept while it stays the same. */
  view: NodeView | null;
  remembered: NodeMemory | null;
  holdings: readonly BoundHolding[] | null;
  /**
   * Its devices at the end of the last join, in their order, `null` for one that was not there. The whole list is `null` if
   * the memory must be used instead, because devices have the same key.
   */
  last: readonly (Device | null)[] | null;
}

/** The fields of a node's view that come from its binding. */
export type NodeFacts = Omit<NodeView, "notReadySince" | "devices"> & {
  /** Since when its own condition reports that it is not ready. */
  readonly changedAt: number | null;
};

/** Binds nodes that no claim ties to any other node; the problems of all are attached to the first. */
export function bindNodes(input: HoldingInput): readonly NodeBinding[] {
  const allocated = holdDevices(input);
  const pods = allocated.pods.map(
    (pod, index): BoundPod => ({
      pod,
      named: allocated.named.has(pod),
      gpus: allocated.partlyKnown.has(index) ? null : (allocated.asked.get(index) ?? null),
      index: -1,
      subject: null,
    }),
  );
  return allocated.layouts.map((layout, i): NodeBinding => {
    const devices = layout.devices.map((draft) => boundDevice(draft, layout.input, pods));
    const { object, fromPages, inventory } = layout.input;
    return {
      input: { object, fromPages, inventory },
      devices,
      unpartitioned: layout.unpartitioned,
      pods: layout.pods.flatMap((index) => pods[index] ?? []),
      hasSpread: devices.some((device) => device.shares.some((share) => share.spread)),
      problems: i > 0 ? [] : [...input.nodes.flatMap((node) => node.inventory.problems), ...allocated.problems],
      facts: factsOf(layout, devices, allocated.asked),
      hasTwins: haveTwins(devices),
      view: null,
      remembered: null,
      holdings: null,
      last: null,
    };
  });
}

/** The problems of all nodes; most have none. */
export function problemsOf(bindings: readonly NodeBinding[]): readonly Problem[] {
  const found: Problem[] = [];
  for (const { problems } of bindings) if (problems.length > 0) found.push(...problems);
  return found;
}

function haveTwins(devices: readonly BoundDevice[]): boolean {
  const keys = devices.map(({ key }) => key).filter((key) => key !== null);
  return new Set(keys).size < keys.length;
}

function boundDevice(draft: DeviceDraft, { readings, inventory }: NodeInput, pods: readonly BoundPod[]): BoundDevice {
  const { reading, shares, uuid } = draft;
  const byApi = reading?.gpuInstance === null && uuid !== null ? inventory.gpusByUuid.get(uuid)?.memoryBytes : null;
  // Written out: an object made by spreading is several times as slow to make, and there is one for each GPU.
  return {
    node: draft.node,
    uuid: draft.uuid,
    gpuInstance: draft.gpuInstance,
    migUuid: draft.migUuid,
    profile: draft.profile,
    model: draft.model,
    pool: draft.pool,
    weight: draft.weight,
    slots: draft.slots,
    virtual: draft.virtual,
    memoryBytes: draft.memoryBytes,
    migSlots: isPlaceKnown(draft) ? draft.migSlots : null,
    unhealthy: draft.unhealthy,
    fault: draft.fault,
    orphanReservation: draft.orphanReservation,
    key: deviceKey(draft),
    row: reading === null ? -1 : (readings ?? []).indexOf(reading),
    rowHasMemory: (reading?.memoryTotalBytes ?? null) !== null && (byApi ?? null) === null,
    shares: boundShares(shares, pods),
    allocated: allocatedOf(draft),
    standsOnSpread: draft.slots === 1 && shares.length > 0 && shares.every((share) => share.spread),
  };
}

/** For an instance that nobody holds, it does not matter which one of its profile it is. */
function isPlaceKnown({ areSlotsAssumed, shares }: DeviceDraft): boolean {
  return shares.length === 0 || !(areSlotsAssumed || shares.some((share) => share.spread));
}

const noShares: readonly BoundShare[] = [];

/** Mostly one: a list that is filled one by one has room to spare, and there is one for each GPU. */
function boundShares(drafts: readonly ShareDraft[], pods: readonly BoundPod[]): readonly BoundShare[] {
  const [draft, second] = drafts;
  if (draft === undefined) return noShares;
  return second === undefined ? [boundShare(draft, pods)] : drafts.map((one) => boundShare(one, pods));
}

function boundShare(draft: ShareDraft, pods: readonly BoundPod[]): BoundShare {
  const pod = pods[draft.pod];
  if (pod === undefined) throw new Error("a share belongs to a pod that was not bound");
  const { share, source, estimated, spread, processUtil } = draft;
  return { pod, share, source, estimated, spread, processUtil };
}

function factsOf(layout: NodeLayout, devices: readonly BoundDevice[], asked: ReadonlyMap<number, number>): NodeFacts {
  const { object, inventory, fromPages } = layout.input;
  const unique = (names: readonly string[]) => [...new Set(names)].sort();
  const parts = [...devices, ...layout.unpartitioned];
  return {
    name: object.name,
    ...(fromPages ? {} : { uid: object.uid }),
    ...keptBy(object),
    nodePool: nodePoolOf(object),
    gpuModels: parts.length > 0 ? unique(parts.map((d) => d.model)) : [inventory.model],
    pools: unique(parts.map((d) => d.pool)),
    ...vendorOf(inventory),
    instanceType: object.labels[nodeLabels.instanceType] ?? null,
    capacityType: capacityTypeOf(object),
    provider: providerOf(object),
    region: regionOf(object),
    physicalGpus: inventory.physicalGpus,
    allocatableGpus: inventory.allocatableGpus,
    ready: fromPages ? null : isReady(object),
    // A node that is tainted as gone while its condition still says Ready: then the condition's time belongs to
    // something else.
    changedAt: object.ready === false ? object.readyChangedAt : null,
    schedulable: fromPages ? null : isSchedulable(object),
    createdAt: object.createdAt,
    labels: object.labels,
    taints: object.taints,
    allocatableCpuMilli: object.allocatableCpuMilli,
    allocatableMemoryBytes: object.allocatableMemoryBytes,
    allocatedByDevices: devices.reduce((sum, d) => sum + d.shares.reduce((s, share) => s + share.share, 0), 0),
    allocatedByPods: layout.pods.reduce((sum, index) => sum + (asked.get(index) ?? 0), 0),
  };
}

function vendorOf({ units, servedByDra }: NodeInput["inventory"]): Pick<NodeView, "vendor"> {
  const vendor = vendorOfResources([...units.keys(), ...servedByDra.keys()]);
  return vendor === undefined ? {} : { vendor };
}
