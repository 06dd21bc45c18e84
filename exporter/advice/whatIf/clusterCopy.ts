import type { Analysis } from "../../analysis/analysis.ts";
import { requestsOf } from "../../analysis/freeCapacity/freeCapacities.ts";
import { changedDevice } from "../../join/joinedDevice.ts";
import { classIn } from "../../join/queues/domainOfNode.ts";
import { type NodeCapacity, nodeCapacities, takesPods } from "../../join/queues/nodeCapacity.ts";
import type { QueueView, QuotaDomain, WaitingGang } from "../../join/queues/queueing.ts";
import type { Device, Holding, NodeView, PodView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { NodeRequests } from "../../model/cluster.ts";
import { type MomentIndex, momentIndex } from "../momentIndex.ts";

/**
 * A copy of a moment that can be changed and restored. It shares every object with the Snapshot except those that were changed.
 * A changed node is a new NodeView, because the same NodeView promises the same contents (see there).
 */
export interface ClusterCopy {
  readonly analysis: Analysis;
  readonly index: MomentIndex;
  readonly nodes: readonly NodeView[];
  readonly devices: readonly Device[];
  readonly pods: readonly PodView[];
  readonly workloads: readonly WorkloadView[];
  readonly queues: readonly QueueView[];
  readonly gangs: readonly WaitingGang[];
  readonly domains: readonly QuotaDomain[];
  /** Nodes (indices) that are changed in any way, or were for a while. */
  readonly touched: ReadonlySet<number>;
  /** For the workload (index) of each pod that came or left: how many more physical GPUs it holds than before. */
  readonly gained: ReadonlyMap<number, number>;
  /** Domains (indices) in which capacity, a queue or what waits has changed. */
  readonly touchedDomains: ReadonlySet<number>;
  /** Waiting gangs that are changed, or were for a while, as they are now. */
  changedGangs(): readonly (readonly [index: number, gang: WaitingGang])[];
  devicesOf(pod: number): readonly number[];
  queueOf(pod: number): number;
  requestsOf(node: string): NodeRequests | null;
  /** Changes who holds a device, and with that the node and the capacity of its domain. */
  setHolders(device: number, holders: readonly Holding[]): void;
  setDevice(device: number, view: Device): void;
  setNode(node: number, view: NodeView): void;
  setPod(pod: number, view: PodView): void;
  setWorkload(workload: number, view: WorkloadView): void;
  setQueue(queue: number, view: QueueView): void;
  setGang(gang: number, view: WaitingGang): void;
  setQueueOf(pod: number, queue: number): void;
  addRequests(node: string, pods: 1 | -1, cpuMilli: number, memoryBytes: number): void;
  gain(workload: number, gpus: number): void;
  /** Forgets what was touched before; the copy must equal the moment. */
  begin(): void;
  /** The present state, to which `rollback` can return. */
  mark(): number;
  /** Undoes everything since the mark. */
  rollback(mark: number): void;
  /** The Snapshot as it is now; its arrays are the copy's own. Requests and leaves of pods are those of the moment. */
  readonly live: Snapshot;
  /** The Snapshot as it is now, which does not change any more. */
  finish(): Snapshot;
}

/** Makes a copy of the Snapshot of an analysis. */
export function copyCluster(analysis: Analysis): ClusterCopy {
  const { snapshot } = analysis;
  const index = momentIndex(analysis);
  const nodes = [...snapshot.nodes];
  const devices = [...snapshot.devices];
  const pods = [...snapshot.pods];
  const workloads = [...snapshot.workloads];
  const queues = [...snapshot.queueing.queues];
  const gangs = [...snapshot.queueing.gangs];
  const domains = [...snapshot.queueing.domains];
  const requests = new Map<string, NodeRequests>();
  const leaves = new Map<number, number>();
  const places = new Map<number, readonly number[]>();
  const gained = new Map<number, number>();
  const touched = new Set<number>();
  const undo: (() => void)[] = [];
  const otherGangs = new Set<number>();
  const touchedDomains = new Set<number>();

  /** Sets one element of a list, or adds it at the end. */
  function put<Item>(list: Item[], at: number, item: Item): void {
    const before = list[at];
    undo.push(() => {
      if (before === undefined) list.length = at;
      else list[at] = before;
    });
    list[at] = item;
  }
  function keep<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key);
    undo.push(() => {
      if (before === undefined) map.delete(key);
      else map.set(key, before);
    });
    map.set(key, value);
  }
  const devicesOf = (pod: number): readonly number[] => places.get(pod) ?? index.devicesOf(pod);
  const knownRequests = (node: string): NodeRequests | null => requests.get(node) ?? requestsOf(snapshot, node);

  /** Replaces a node, and adapts the capacity of its domains to what their nodes have. */
  function replaceNode(at: number, view: NodeView, change: () => void): void {
    const before = nodes[at];
    if (before !== undefined && isOfOneCapacity(before, view)) {
      change();
      put(nodes, at, view);
      touched.add(at);
      return;
    }
    const had = before === undefined ? [] : nodeCapacities(before, devices);
    change();
    put(nodes, at, view);
    touched.add(at);
    const has = nodeCapacities(view, devices);
    for (const pool of new Set([...had, ...has].map((one) => one.pool))) {
      const place = index.domainOf(pool, view.name);
      const domain = place === null ? undefined : domains[place];
      const change = changeOf(
        had.find((one) => one.pool === pool),
        has.find((one) => one.pool === pool),
      );
      if (place === null || domain === undefined || Object.values(change).every((gpus) => gpus === 0)) continue;
      touchedDomains.add(place);
      put(domains, place, changedDomain(domain, change, classIn(domain, pool, view.name)));
    }
  }

  const live: Snapshot = {
    ...snapshot,
    nodes,
    devices,
    pods,
    workloads,
    queueing: { ...snapshot.queueing, queues, gangs, domains },
  };

  return {
    analysis,
    index,
    nodes,
    devices,
    pods,
    workloads,
    queues,
    gangs,
    domains,
    touched,
    touchedDomains,
    gained,
    live,
    changedGangs: () =>
      [...otherGangs].flatMap((at) => {
        const gang = gangs[at];
        return gang === undefined ? [] : [[at, gang] as const];
      }),
    devicesOf,
    queueOf: (pod) => leaves.get(pod) ?? snapshot.queueing.queueOfPod[pod] ?? -1,
    requestsOf: knownRequests,
    setHolders(at, holders) {
      const device = devices[at];
      const place = device === undefined ? null : index.nodeOf(device.node);
      const node = place === null ? undefined : nodes[place];
      if (device === undefined || place === null || node === undefined) return;
      const more = sharesOf(holders) - sharesOf(device.holders);
      for (const { pod } of device.holders)
        if (!isAmong(holders, pod) && devicesOf(pod).includes(at))
          keep(
            places,
            pod,
            devicesOf(pod).filter((one) => one !== at),
          );
      for (const { pod } of holders)
        if (!isAmong(device.holders, pod) && !devicesOf(pod).includes(at))
          keep(places, pod, [...devicesOf(pod), at].sort(ascending));
      const allocatedByDevices = tidy(node.allocatedByDevices + more);
      const view = { ...node, allocatedByDevices, allocatedByPods: Math.max(0, tidy(node.allocatedByPods + more)) };
      replaceNode(place, view, () => put(devices, at, changedDevice(device, { holders })));
    },
    setDevice(at, view) {
      const place = index.nodeOf(view.node);
      const node = place === null ? undefined : nodes[place];
      if (place !== null && node !== undefined) replaceNode(place, { ...node }, () => put(devices, at, view));
    },
    setNode: (at, view) => replaceNode(at, view, () => {}),
    setPod: (at, view) => put(pods, at, view),
    setWorkload: (at, view) => put(workloads, at, view),
    setQueue(at, view) {
      touchedDomains.add(view.domain);
      put(queues, at, view);
    },
    setGang(at, view) {
      for (const { domain } of view.parts) if (domain !== null) touchedDomains.add(domain);
      otherGangs.add(at);
      put(gangs, at, view);
    },
    setQueueOf: (pod, queue) => keep(leaves, pod, queue),
    addRequests(node, more, cpuMilli, memoryBytes) {
      const before = knownRequests(node);
      const place = index.nodeOf(node);
      if (place !== null) touched.add(place);
      if (before === null) return;
      keep(requests, node, {
        pods: Math.max(0, before.pods + more),
        cpuMilli: Math.max(0, before.cpuMilli + more * cpuMilli),
        memoryBytes: Math.max(0, before.memoryBytes + more * memoryBytes),
      });
    },
    gain: (workload, gpus) => keep(gained, workload, tidy((gained.get(workload) ?? 0) + gpus)),
    begin() {
      touched.clear();
      otherGangs.clear();
      touchedDomains.clear();
    },
    mark: () => undo.length,
    rollback(mark) {
      for (let i = undo.length - 1; i >= mark; i--) undo[i]?.();
      undo.length = mark;
    },
    finish() {
      const { requestsByNode, queueing } = snapshot;
      const queueOfPod = new Int32Array(pods.length).fill(-1);
      queueOfPod.set(queueing.queueOfPod.subarray(0, pods.length));
      for (const [pod, queue] of leaves) queueOfPod[pod] = queue;
      const gone = new Set(
        nodes.flatMap(({ devices: own, pools, name }) => (own.length + pools.length > 0 ? [] : name)),
      );
      return {
        ...snapshot,
        nodes: [...nodes],
        devices: [...devices],
        pods: [...pods],
        workloads: [...workloads],
        unpartitioned:
          touched.size === 0 ? snapshot.unpartitioned : snapshot.unpartitioned.filter(({ node }) => !gone.has(node)),
        requestsByNode: requestsByNode === null ? null : new Map([...requestsByNode, ...requests]),
        queueing: {
          ...queueing,
          queues: [...queues],
          gangs: [...gangs],
          domains: [...domains],
          queueOfPod,
        },
      };
    },
  };
}

type CapacityChange = Pick<NodeCapacity, "capacity" | "allocatedOnUnschedulable" | "outOfService">;

/** By how much the capacities of a pool on a node have grown. */
function changeOf(before: NodeCapacity | undefined, after: NodeCapacity | undefined): CapacityChange {
  const more = (of: keyof CapacityChange): number => (after?.[of] ?? 0) - (before?.[of] ?? 0);
  return {
    capacity: more("capacity"),
    allocatedOnUnschedulable: more("allocatedOnUnschedulable"),
    outOfService: more("outOfService"),
  };
}

/** A domain after a node of one class has changed. */
function changedDomain(domain: QuotaDomain, change: CapacityChange, nodeClass: number): QuotaDomain {
  const { classes } = domain;
  const inClass = classes?.map((one, i) =>
    i === nodeClass ? { ...one, capacity: tidy(one.capacity + change.capacity) } : one,
  );
  return {
    ...domain,
    capacity: tidy(domain.capacity + change.capacity + change.allocatedOnUnschedulable),
    allocatedOnUnschedulable: tidy(domain.allocatedOnUnschedulable + change.allocatedOnUnschedulable),
    outOfService: tidy((domain.outOfService ?? 0) + change.outOfService),
    ...(inClass === undefined ? {} : { classes: inClass }),
  };
}

const isAmong = (holders: readonly Holding[], pod: number): boolean => holders.some((holder) => holder.pod === pod);

/**
 * Whether the same node in one pool lets the pool give out the same number of GPUs as before: less is allocated on it than
 * could be.
 */
function isOfOneCapacity(before: NodeView, after: NodeView): boolean {
  if (before.pools.length !== 1 || before.pools !== after.pools || !takesPods(before) || !takesPods(after))
    return false;
  const { physicalGpus, allocatableGpus } = before;
  if (physicalGpus !== after.physicalGpus || allocatableGpus !== after.allocatableGpus) return false;
  const most = Math.min(physicalGpus ?? 0, allocatableGpus ?? physicalGpus ?? 0);
  return before.allocatedByDevices <= most && after.allocatedByDevices <= most;
}

const ascending = (a: number, b: number): number => a - b;

/** An amount of physical GPUs, where a difference of equal sums counts as 0. */
export const tidy = (gpus: number): number => (Math.abs(gpus) < 1e-9 ? 0 : gpus);

function sharesOf(holders: readonly Holding[]): number {
  let sum = 0;
  for (const { share } of holders) sum += share;
  return sum;
}
