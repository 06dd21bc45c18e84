import type { Analysis } from "../../analysis/analysis.ts";
import type { NodePrice } from "../../analysis/prices/prices.ts";
import { everyTeam } from "../../analysis/sums/everyTeam.ts";
import { teamEntitlements } from "../../analysis/sums/teamEntitlements.ts";
import type { Device, NodeView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { HealthCause } from "../../model/gpuFaults.ts";
import type { GpuState } from "../../model/gpuStates.ts";
import { ownCosts } from "./costRecords.ts";
import { idleRecords } from "./idleRecords.ts";
import { latencyRecords } from "./latencySchema.ts";
import { instant, sortByTexts } from "./order.ts";
import { placementRecords } from "./placementRecords.ts";
import { poolCosts } from "./priceRecords.ts";
import type { DeviceRecord, NodeRecord, PoolRecord, TeamRecord, WorkloadRecord } from "./schema.ts";
import { signalRecord, workRecords } from "./signalRecords.ts";
import { suspectRecords } from "./suspectRecords.ts";
import { topologyRecords } from "./topologyRecords.ts";

/** The pools of a moment, by name. */
export function poolRecords(analysis: Analysis): readonly PoolRecord[] {
  const { pools, snapshot } = analysis;
  const placements = placementRecords(analysis);
  const topologies = topologyRecords(analysis);
  const costs = poolCosts(analysis);
  const domains = new Map(snapshot.queueing.domains.flatMap(({ name, pools: own }) => own.map((pool) => [pool, name])));
  const signals = new Map(analysis.signals.pools.map((one) => [one.pool, one] as const));
  const records = pools.map((totals) => ({
    pool: totals.pool,
    domain: domains.get(totals.pool) ?? null,
    gpuModels: totals.gpuModels,
    nodes: totals.nodes,
    physicalGpus: totals.physicalGpus,
    states: totals.states,
    allocated: totals.allocated,
    estimated: totals.estimated,
    activity: totals.activity,
    utilization: totals.utilization,
    signals: signalRecord(signals.get(totals.pool)),
    price: costs.get(totals.pool)?.price ?? null,
    unpricedGpus: costs.get(totals.pool)?.unpricedGpus ?? 0,
    placement: placements.get(totals.pool) ?? null,
    ...topologies.get(totals.pool),
  }));
  return sortByTexts(records, (pool) => [pool.pool]);
}

/** The teams of a moment, by name. */
export function teamRecords(analysis: Analysis): readonly TeamRecord[] {
  const costs = ownCosts(analysis, ({ team }) => team);
  const activity = meanActivity(analysis.snapshot, (pod) => pod.team);
  const entitlements = teamEntitlements(analysis);
  const work = workRecords(analysis);
  const records = everyTeam(analysis).map((totals) => ({
    team: totals.team,
    allocated: totals.allocated,
    activity: activity.get(totals.team) ?? null,
    activeGpus: totals.active,
    utilization: totals.utilization,
    work: work.get(totals.team) ?? [],
    states: totals.states,
    estimated: totals.estimated,
    idleOptedOut: totals.idleOptedOut,
    pending: totals.pending,
    entitled: entitlements.get(totals.team)?.entitled ?? null,
    deviation: entitlements.get(totals.team)?.deviation ?? null,
    ...costs(totals.team, totals.allocated),
  }));
  return sortByTexts(records, (team) => [team.team]);
}

/** The nodes of a moment, by name. */
export function nodeRecords({ snapshot, prices, idleNodes }: Analysis, accounted: Accounted): readonly NodeRecord[] {
  const idle = new Map(idleNodes.nodes.map((found) => [found.node, found] as const));
  const records = snapshot.nodes.map((node, index) => ({
    ...nodeRecord(node, accounted, prices.byNode.get(node.name)),
    idle: idle.get(index)?.kind ?? null,
    idleSince: instant(idle.get(index)?.since ?? null),
    warmPool: idleNodes.warm.has(index),
  }));
  return sortByTexts(records, (node) => [node.name]);
}

type IdleFields = "idle" | "idleSince" | "warmPool";

function nodeRecord(node: NodeView, accounted: Accounted, price: NodePrice | undefined): Omit<NodeRecord, IdleFields> {
  return {
    name: node.name,
    nodePool: node.nodePool,
    pools: node.pools,
    gpuModels: node.gpuModels,
    instanceType: node.instanceType,
    capacityType: node.capacityType,
    provider: node.provider,
    region: node.region,
    pricePerHour: price?.perNodeHour ?? null,
    currency: price?.currency ?? null,
    physicalGpus: node.physicalGpus,
    allocatable: node.allocatableGpus,
    allocated: accounted.allocatedByNode.get(node.name) ?? 0,
    ready: node.ready,
    schedulable: node.schedulable,
  };
}

/** The devices of a moment, by node, UUID and GPU instance. */
export function deviceRecords(snapshot: Snapshot, accounted: Accounted): readonly DeviceRecord[] {
  const records = snapshot.devices.map((device, index) =>
    deviceRecord(
      device,
      snapshot,
      largestState(accounted.statesByDevice.get(index) ?? {}),
      accounted.causeByDevice.get(index) ?? null,
    ),
  );
  return sortByTexts(records, (device) => [device.node, device.uuid ?? "\uffff", device.gpuInstance ?? ""]);
}

function deviceRecord(
  device: Device,
  snapshot: Snapshot,
  state: DeviceRecord["state"],
  cause: DeviceRecord["cause"],
): DeviceRecord {
  return {
    node: device.node,
    pool: device.pool,
    uuid: device.uuid,
    gpuInstance: device.gpuInstance,
    idleNow: device.idleNow,
    stalledSince: instant(device.stall?.since ?? null),
    profile: device.profile,
    model: device.model,
    weight: device.weight,
    activity: device.activity,
    signal: device.signal,
    memoryUsedBytes: device.reading?.memoryUsedBytes ?? null,
    powerWatts: device.reading?.powerWatts ?? null,
    lastXid: device.reading?.lastXid ?? null,
    state,
    cause,
    holders: device.holders.flatMap(({ pod: index, share, source, estimated }) => {
      const pod = snapshot.pods[index];
      if (pod === undefined) return [];
      return [{ namespace: pod.namespace, pod: pod.name, team: pod.team, share, source, estimated }];
    }),
  };
}

/** The workloads of a moment, by namespace, kind and name. */
export function workloadRecords(analysis: Analysis, accounted: Accounted): readonly WorkloadRecord[] {
  const { snapshot } = analysis;
  const costs = ownCosts(analysis, ({ workload }) => workload);
  const activity = meanActivity(snapshot, (pod) => pod.workload);
  const idle = idleRecords(analysis);
  const suspectsOf = suspectRecords(analysis);
  const latencies = latencyRecords(analysis);
  const records = snapshot.workloads.map((workload, index) => {
    const states = accounted.statesByWorkload.get(index) ?? {};
    return {
      kind: workload.kind,
      namespace: workload.namespace,
      name: workload.name,
      team: workload.team,
      owner: workload.owner,
      queue: workload.queue,
      priority: workload.priorityClass,
      priorityValue: workload.priority,
      gpus: totalOf(states),
      gang: workload.gang && { min: workload.gang.min, bound: workload.gang.bound },
      suspects: suspectsOf(workload),
      activity: activity.get(index) ?? null,
      states,
      idle: idle.get(index) ?? [],
      latency: latencies.get(index) ?? null,
      ...costs(index, totalOf(states)),
      progressUnits: workload.progressUnits,
      startedAt: instant(startOf(workload, snapshot)),
    };
  });
  return sortByTexts(records, (workload) => [workload.namespace, workload.kind, workload.name]);
}

/** Mean activity of the observed GPUs, weighted by share, for each key that holds observed GPUs. */
function meanActivity<Key>(
  snapshot: Snapshot,
  keyOf: (pod: Snapshot["pods"][number]) => Key,
): ReadonlyMap<Key, number> {
  const sums = new Map<Key, { share: number; active: number }>();
  for (const device of snapshot.devices) {
    for (const { pod: index, share, activity } of device.holders) {
      const pod = snapshot.pods[index];
      if (pod === undefined || activity === null) continue;
      const key = keyOf(pod);
      const sum = sums.get(key) ?? { share: 0, active: 0 };
      sum.share += share;
      sum.active += share * activity;
      sums.set(key, sum);
    }
  }
  const means = new Map<Key, number>();
  for (const [key, { share, active }] of sums) if (share > 0) means.set(key, active / share);
  return means;
}

/**
 * When the first pod of a workload was bound, seconds since the epoch; `null` while none is bound, or where no object reports
 * the time.
 */
function startOf(workload: WorkloadView, snapshot: Snapshot): number | null {
  let start: number | null = null;
  for (const index of workload.pods) {
    const boundAt = snapshot.pods[index]?.boundAt ?? null;
    if (boundAt !== null && (start === null || boundAt < start)) start = boundAt;
  }
  return start;
}

/** Sums of physical GPUs by state. */
type StateSums = Partial<Record<GpuState, number>>;

/** The accounting entries of a moment, added up for the records of a document. */
export interface Accounted {
  /** Allocated GPUs by node. */
  readonly allocatedByNode: ReadonlyMap<string, number>;
  /** Physical GPUs by state, by index of the device. */
  readonly statesByDevice: ReadonlyMap<number, StateSums>;
  /** Why a device cannot be used or is slow, by index of the device; other devices have no entry. */
  readonly causeByDevice: ReadonlyMap<number, HealthCause>;
  /** Physical GPUs by state, by index of the workload. */
  readonly statesByWorkload: ReadonlyMap<number, StateSums>;
}

/** Adds up the accounting entries once, in all the ways that records need. */
export function addUpAccountingEntries(analysis: Analysis): Accounted {
  const { accountingEntries, snapshot } = analysis;
  const allocatedByNode = new Map<string, number>();
  const statesByDevice = new Map<number, StateSums>();
  const statesByWorkload = new Map<number, StateSums>();
  const causeByDevice = new Map<number, HealthCause>();
  for (const accountingEntry of accountingEntries.list) {
    if (accountingEntry.device !== null)
      add(statesByDevice, accountingEntry.device, accountingEntry.state, accountingEntry.gpus);
    if (accountingEntry.device !== null && accountingEntry.cause !== undefined)
      causeByDevice.set(accountingEntry.device, accountingEntry.cause);
    if (accountingEntry.pod === null) continue;
    allocatedByNode.set(accountingEntry.node, (allocatedByNode.get(accountingEntry.node) ?? 0) + accountingEntry.gpus);
    const workload = snapshot.pods[accountingEntry.pod]?.workload;
    if (workload !== undefined) add(statesByWorkload, workload, accountingEntry.state, accountingEntry.gpus);
  }
  return { allocatedByNode, statesByDevice, statesByWorkload, causeByDevice };
}

/** The sum over all states. */
function totalOf(states: StateSums): number {
  return Object.values(states).reduce((sum, gpus) => sum + gpus, 0);
}

/** The state with the most GPUs; of equal ones, the first that was counted. `null` if there is none. */
function largestState(states: StateSums): GpuState | null {
  let largest: GpuState | null = null;
  let gpus = 0;
  for (const state in states) {
    if (isState(states, state) && (states[state] ?? 0) > gpus) {
      largest = state;
      gpus = states[state] ?? 0;
    }
  }
  return largest;
}

function isState(states: StateSums, key: string): key is GpuState {
  return Object.hasOwn(states, key);
}

function add(sums: Map<number, StateSums>, key: number, state: GpuState, gpus: number): void {
  const states = sums.get(key) ?? {};
  states[state] = (states[state] ?? 0) + gpus;
  sums.set(key, states);
}
