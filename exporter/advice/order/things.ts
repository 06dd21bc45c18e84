import type { Analysis } from "../../analysis/analysis.ts";
import { freeOf } from "../../analysis/freeCapacity/nodeFreeCapacity.ts";
import type { WaitingGang } from "../../join/queues/queueing.ts";
import type { Device, NodeView, PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { LinkedThings } from "../../kernel/distinguish.ts";
import { hashedOnce, hashOf, mix, type TraitHash, together } from "../../kernel/traitHash.ts";
import { momentIndex, once } from "../whatIf/momentIndex.ts";
import { createGroups } from "./groups.ts";
import { needsHash, podHash, workloadHash } from "./podTraits.ts";

/** Where the things of each kind begin; groups (`createGroups`) come last. */
export interface FirstOf {
  readonly node: number;
  readonly pod: number;
  readonly workload: number;
  readonly gang: number;
  readonly group: number;
}

/** Nodes, pods, workloads, waiting gangs and what several of them share, with what they have to do with each other. */
export interface Things extends LinkedThings {
  readonly first: FirstOf;
  /** Since when one is there, seconds since the epoch; the latest where nothing says. */
  readonly sinceOf: (thing: number) => number;
}

/** Of more things that are alike by themselves nobody looks at what is around each: that would take longer than the advice. */
const mostAlike = 5000;
/** Of more things what they share is not looked up: only nodes with their pods, and these with their workloads. */
const mostGrouped = 30_000;

/** The things of a moment. What they share is only looked up where some cannot be distinguished without. */
export function createThings(analysis: Analysis): Things {
  const { snapshot } = analysis;
  const { nodes, pods, workloads, queueing } = snapshot;
  const first: FirstOf = {
    node: 0,
    pod: nodes.length,
    workload: nodes.length + pods.length,
    gang: nodes.length + pods.length + workloads.length,
    group: nodes.length + pods.length + workloads.length + queueing.gangs.length,
  };
  const starts = [first.node, first.pod, first.workload, first.gang, first.group];
  const traits = new Float64Array(first.group);
  for (const [i, node] of nodes.entries()) {
    traits[i] = nodeHash(node, snapshot);
  }
  for (const [i, pod] of pods.entries()) {
    traits[first.pod + i] = podHash(pod);
  }
  addDevices(snapshot, first, traits);
  for (const [i, view] of workloads.entries()) {
    traits[first.workload + i] = workloadHash(view);
  }
  for (const [i, gang] of queueing.gangs.entries()) {
    traits[first.gang + i] = gangHash(gang);
  }
  const rankOf = (thing: number): number => starts.findLastIndex((start) => thing >= start);
  const names = { first, rankOf, sinceOf: sinceOf(snapshot, first), nameOf: nameOf(snapshot, first) };
  const alike = countAlike(traits);
  if (alike === 0 || alike > mostAlike) return { ...names, traits, linksOf: null };
  const canRun = canRunOf(snapshot);
  if (traits.length > mostGrouped) return { ...names, traits, linksOf: createLinks(analysis, first, canRun) };
  const groups = createGroups(snapshot, first, canRun);
  const all = new Float64Array(first.group + groups.traits.length);
  all.set(traits);
  all.set(groups.traits, first.group);
  const ownLinks = createLinks(analysis, first, canRun);
  const linksOf = (thing: number): readonly number[] =>
    thing < first.group ? [...ownLinks(thing), ...groups.groupsOf(thing)] : groups.membersOf(thing);
  return { ...names, traits: all, linksOf };
}

/** Things that equal another one by themselves. */
function countAlike(traits: Float64Array): number {
  const inOrder = traits.toSorted();
  let alike = 0;
  for (let i = 0; i < inOrder.length; i += 1)
    if (inOrder[i] === inOrder[i - 1] || inOrder[i] === inOrder[i + 1]) alike += 1;
  return alike;
}

function nodeHash(node: NodeView, { requestsByNode }: Snapshot): TraitHash {
  const requests = requestsByNode?.get(node.name);
  const own = hashOf(
    "node",
    node.nodePool,
    node.keptBy,
    node.vendor,
    node.instanceType,
    node.capacityType,
    node.provider,
    node.region,
    node.physicalGpus,
    node.allocatableGpus,
    node.ready,
    node.notReadySince,
    node.schedulable,
    node.createdAt,
    node.allocatableCpuMilli,
    node.allocatableMemoryBytes,
    requests?.pods,
    requests?.cpuMilli,
    requests?.memoryBytes,
    ...node.gpuModels,
    ...node.pools,
  );
  let taints = 0;
  for (const { key, value, effect } of node.taints) taints = together(taints, hashOf(key, value, effect));
  return mix(own, taints);
}

/** What devices are belongs to their nodes, and what is allocated of them to their pods. */
function addDevices({ devices, nodes }: Snapshot, first: FirstOf, traits: Float64Array): void {
  const add = (thing: number, hash: TraitHash): void => {
    traits[thing] = together(traits[thing] ?? 0, hash);
  };
  for (const [i, node] of nodes.entries()) {
    for (const index of node.devices) {
      const device = devices[index];
      if (device === undefined) continue;
      const hash = deviceHash(device);
      add(first.node + i, mix(hash, hashOf(freeOf(device), device.holders.length)));
      for (const { pod, share, source, estimated } of device.holders)
        add(first.pod + pod, mix(hash, hashOf(share, source, estimated)));
    }
  }
}

const deviceHash = (device: Device): TraitHash =>
  hashOf(
    device.model,
    device.pool,
    device.weight,
    device.slots,
    device.profile,
    device.gpuInstance === null,
    device.virtual,
    device.unhealthy,
    device.orphanReservation,
    device.reading === null,
  );

const gangHash = hashedOnce((gang: WaitingGang): TraitHash => {
  const own = hashOf(
    "gang",
    gang.scheduler,
    gang.kind,
    gang.priorityClass,
    gang.priority,
    gang.since,
    gang.reservedAt,
    gang.bound,
    gang.min,
    gang.pods,
    gang.gpus,
    gang.never,
    gang.notReadyPods,
    gang.awaitsNodes,
  );
  let parts = gang.parts.length;
  for (const { pods, createdPods, gpusPerPod, needs, places } of gang.parts)
    parts = together(parts, mix(hashOf(pods, createdPods, gpusPerPod, places?.length), needsHash(needs)));
  return mix(own, parts);
});

const onNode = hashOf("on");
const ofWorkload = hashOf("of");

/**
 * What can run, and holds or asks for GPUs. The rest has nothing to do with anything: whoever may create pods could otherwise
 * choose, among others' work that is alike, by pods that cost nothing.
 */
export interface CanRun {
  readonly pod: (pod: PodView | undefined) => boolean;
  readonly workload: (view: WorkloadView | undefined) => boolean;
  readonly gang: (gang: WaitingGang | undefined) => boolean;
}

const impossible: ReadonlySet<WaitingGang["never"]> = new Set(["no-node", "no-scheduler", "unschedulable"]);

function canRunOf({ pods }: Snapshot): CanRun {
  const pod: CanRun["pod"] = (view) => view !== undefined && view.impossible === undefined && view.gpus !== 0;
  return {
    pod,
    workload: (view) => view !== undefined && (view.pods.length === 0 || view.pods.some((index) => pod(pods[index]))),
    gang: (gang) => gang !== undefined && !impossible.has(gang.never),
  };
}

/** Pods with their nodes and workloads, workloads with their gangs. */
function createLinks(analysis: Analysis, first: FirstOf, canRun: CanRun): (thing: number) => readonly number[] {
  const { nodes, pods, workloads, queueing } = analysis.snapshot;
  const index = momentIndex(analysis);
  const podsOn = once(() => Map.groupBy(pods.keys(), (pod) => pods[pod]?.node ?? ""));
  const toPods = (own: readonly number[], how: TraitHash) =>
    own.flatMap((pod) => (canRun.pod(pods[pod]) ? [first.pod + pod, how] : []));
  const toGangs = (gangs: readonly number[]) =>
    gangs.flatMap((gang) => (canRun.gang(queueing.gangs[gang]) ? [first.gang + gang, ofWorkload] : []));
  const ofNode = (node: NodeView | undefined) => toPods(podsOn().get(node?.name ?? "") ?? [], onNode);
  const ofPod = (pod: PodView | undefined): readonly number[] => {
    const node = index.nodeOf(pod?.node ?? "");
    if (pod === undefined || !canRun.pod(pod)) return [];
    return [first.workload + pod.workload, ofWorkload, ...(node === null ? [] : [first.node + node, onNode])];
  };
  const ofWork = (view: WorkloadView | undefined): readonly number[] =>
    view === undefined || !canRun.workload(view)
      ? []
      : [...toPods(view.pods, ofWorkload), ...toGangs(index.gangsOf(view))];
  const ofGang = (gang: WaitingGang | undefined): readonly number[] =>
    gang === undefined || !canRun.gang(gang)
      ? []
      : index.workloadsOf(gang).flatMap((workload) => [first.workload + workload, ofWorkload]);
  return (thing) => {
    if (thing < first.pod) return ofNode(nodes[thing]);
    if (thing < first.workload) return ofPod(pods[thing - first.pod]);
    if (thing < first.gang) return ofWork(workloads[thing - first.workload]);
    return ofGang(queueing.gangs[thing - first.gang]);
  };
}

function sinceOf({ nodes, pods, workloads, queueing }: Snapshot, first: FirstOf): Things["sinceOf"] {
  const latest = Number.MAX_SAFE_INTEGER;
  return (thing) => {
    if (thing < first.pod) return nodes[thing]?.createdAt ?? latest;
    const pod = pods[thing - first.pod];
    if (thing < first.workload) return pod?.boundAt ?? pod?.createdAt ?? latest;
    if (thing < first.gang) return workloads[thing - first.workload]?.createdAt ?? latest;
    return queueing.gangs[thing - first.gang]?.since ?? latest;
  };
}

function nameOf({ nodes, pods, workloads, queueing }: Snapshot, first: FirstOf): Things["nameOf"] {
  const named = (of: { readonly namespace: string; readonly name: string } | undefined): string =>
    of === undefined ? "" : `${of.namespace}/${of.name}`;
  return (thing) => {
    if (thing < first.pod) return nodes[thing]?.name ?? "";
    if (thing < first.workload) return named(pods[thing - first.pod]);
    if (thing < first.gang) return named(workloads[thing - first.workload]);
    const gang = queueing.gangs[thing - first.gang];
    return thing < first.group ? `${named(gang)}/${gang?.uid ?? ""}` : "";
  };
}
