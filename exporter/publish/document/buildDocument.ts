import type { Analysis } from "../../analysis/analysis.ts";
import type { Device, NodeView, Snapshot, WorkloadView } from "../../join/snapshot.ts";
import type { Problem } from "../../model/problem.ts";
import { meanActivity } from "./activity.ts";
import { addUpBookings, type Booked, largestState, totalOf } from "./booked.ts";
import { by, instant } from "./order.ts";
import { pendingRecords } from "./pending.ts";
import type { DeviceRecord, FairleadDocument, NodeRecord, PoolRecord, TeamRecord, WorkloadRecord } from "./schema.ts";

/**
 * The answers of one moment as one document: what `inspect --output json` prints and the API serves. Records are
 * sorted, so that the same input gives the same text. Unknown is `null`. `problems` are those of the snapshot, unless
 * the caller knows of more.
 */
export function buildDocument(
  analysis: Analysis,
  problems: readonly Problem[] = analysis.snapshot.problems,
): FairleadDocument {
  const { snapshot } = analysis;
  const booked = addUpBookings(analysis);
  return {
    schemaVersion: 1,
    at: instant(snapshot.at) ?? new Date(0).toISOString(),
    cluster: snapshot.cluster,
    pools: poolRecords(analysis),
    domains: [],
    teams: teamRecords(analysis),
    queues: [],
    nodes: snapshot.nodes.map((node) => nodeRecord(node, booked)).sort(by((node) => [node.name])),
    devices: deviceRecords(snapshot, booked),
    workloads: workloadRecords(snapshot, booked),
    pending: pendingRecords(snapshot),
    recommendations: [],
    coverage: {
      objects: snapshot.coverage.objects,
      telemetry: snapshot.coverage.telemetry,
      signal: snapshot.signal,
      uncountedNodes: [...snapshot.coverage.uncountedNodes].sort(),
    },
    dropped: { ...snapshot.dropped },
    problems: problems.map(({ source, code, severity, subject, message, nextStep }) => ({
      source,
      code,
      severity,
      subject,
      message,
      nextStep,
    })),
  };
}

function poolRecords({ pools }: Analysis): PoolRecord[] {
  return pools
    .map((totals) => ({
      pool: totals.pool,
      domain: null,
      gpuModels: [...totals.gpuModels],
      nodes: totals.nodes,
      physicalGpus: totals.physicalGpus,
      states: { ...totals.states },
      held: totals.held,
      estimated: totals.estimated,
      activity: totals.activity,
      utilization: totals.utilization,
      price: null,
      placement: null,
    }))
    .sort(by((pool) => [pool.pool]));
}

function teamRecords({ teams, snapshot }: Analysis): TeamRecord[] {
  const activity = meanActivity(snapshot, (pod) => pod.team);
  return teams
    .map((totals) => ({
      team: totals.team,
      held: totals.held,
      activity: activity.get(totals.team) ?? null,
      activeGpus: totals.active,
      utilization: totals.utilization,
      states: { ...totals.states },
      estimated: totals.estimated,
      idleOptedOut: totals.idleOptedOut,
      pending: totals.pending,
      costPerHour: null,
    }))
    .sort(by((team) => [team.team]));
}

function nodeRecord(node: NodeView, booked: Booked): NodeRecord {
  return {
    name: node.name,
    nodePool: node.nodePool,
    pools: [...node.pools],
    gpuModels: [...node.gpuModels],
    instanceType: node.instanceType,
    capacityType: node.capacityType,
    physicalGpus: node.physicalGpus,
    allocatable: node.allocatableGpus,
    held: booked.heldByNode.get(node.name) ?? 0,
    ready: node.ready,
    schedulable: node.schedulable,
    idle: booked.idleNodes.has(node.name) ? "unallocated" : null,
  };
}

function deviceRecords(snapshot: Snapshot, booked: Booked): DeviceRecord[] {
  return snapshot.devices
    .map((device, index) => deviceRecord(device, snapshot, largestState(booked.statesByDevice.get(index) ?? {})))
    .sort(by((device) => [device.node, device.uuid ?? "\uffff", device.gpuInstance ?? ""]));
}

function deviceRecord(device: Device, snapshot: Snapshot, state: DeviceRecord["state"]): DeviceRecord {
  return {
    node: device.node,
    pool: device.pool,
    uuid: device.uuid,
    gpuInstance: device.gpuInstance,
    idleNow: device.idleNow,
    profile: device.profile,
    model: device.model,
    weight: device.weight,
    activity: device.activity,
    signal: device.signal,
    memoryUsedBytes: device.reading?.memoryUsedBytes ?? null,
    powerWatts: device.reading?.powerWatts ?? null,
    state,
    holders: device.holders.flatMap(({ pod: index, share, source, estimated }) => {
      const pod = snapshot.pods[index];
      if (pod === undefined) return [];
      return [{ namespace: pod.namespace, pod: pod.name, team: pod.team, share, source, estimated }];
    }),
  };
}

function workloadRecords(snapshot: Snapshot, booked: Booked): WorkloadRecord[] {
  const activity = meanActivity(snapshot, (pod) => pod.workload);
  return snapshot.workloads
    .map((workload, index) => {
      const states = booked.statesByWorkload.get(index) ?? {};
      return {
        kind: workload.kind,
        namespace: workload.namespace,
        name: workload.name,
        team: workload.team,
        queue: workload.queue,
        priority: workload.priorityClass,
        priorityValue: workload.priority,
        gpus: totalOf(states),
        gang: workload.gang === null ? null : { min: workload.gang.min, bound: workload.gang.bound },
        activity: activity.get(index) ?? null,
        states: { ...states },
        costPerHour: null,
        startedAt: instant(startOf(workload, snapshot)),
      };
    })
    .sort(by((workload) => [workload.namespace, workload.kind, workload.name]));
}

/** When its first pod was bound, seconds since the epoch; `null` while none is, or where no object says. */
function startOf(workload: WorkloadView, snapshot: Snapshot): number | null {
  let start: number | null = null;
  for (const index of workload.pods) {
    const boundAt = snapshot.pods[index]?.boundAt ?? null;
    if (boundAt !== null && (start === null || boundAt < start)) start = boundAt;
  }
  return start;
}
