import type { DeviceProfile } from "../deviceProfiles.ts";
import type { GpuModel } from "../gpuModels.ts";
import type { UseSample } from "../queues/pastUse.ts";
import type { QueueSystemName } from "../queues/spec.ts";
import { type RandomStream, uuidFrom } from "../random.ts";
import type { Habit, NodeSpec, Scenario, WorkloadSpec } from "../scenario.ts";
import type { FoundStopped, Session } from "./sessions.ts";

/** A replica or MIG instance of a GPU. */
export interface Unit {
  /** Number of the replica, or NVML GPU instance id. */
  readonly id: string;
  /** MIG profile; `null` for a replica. */
  readonly profile: string | null;
  /** The part of the physical GPU that it is. */
  readonly weight: number;
  holder: SimPod | null;
  /** Activity of a MIG instance at the last look of the exporter; `null` before it, and for replicas. */
  observed: number | null;
}

/** One pod's part of one GPU. */
export interface Allocation {
  readonly pod: SimPod;
  readonly physicalGpu: PhysicalGpu;
  /** The replica or instance; `null` for a whole GPU and for KAI and HAMi fractions. */
  readonly unit: Unit | null;
  /** The pod's part in physical GPUs. */
  readonly share: number;
  /** The pod's activity, as a part of its share, at the exporter's last look. */
  observed: number;
}

/** What the exporter saw at its last look. */
export interface GpuSample {
  readonly activity: number;
  readonly memoryUsedMiB: number;
  readonly powerWatts: number;
  readonly clockEventReasons: number;
  /** What the work on the GPU does to its engines. */
  readonly profile: DeviceProfile;
}

/** The pod with which KAI keeps a GPU out of the device plugin's hands. */
export interface Reservation {
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly createdAt: number;
}

export interface PhysicalGpu {
  readonly node: SimNode;
  /** The index that DCGM gives the GPU on its host. */
  readonly index: number;
  /** Device minor, by which DRA names count. It differs from `index`, as on real hosts. */
  readonly minor: number;
  readonly uuid: string;
  readonly model: GpuModel;
  /** Replicas or instances; empty where the GPU is allocated whole or in free fractions. */
  units: readonly Unit[];
  readonly allocations: Set<Allocation>;
  reservation: Reservation | null;
  healthy: boolean;
  /** Simulated time at which the GPU fell off the bus. */
  lostTime: number | null;
  /** The XID error that the GPU has until it is reset, and since when, wall clock seconds; `null`: it has none. */
  xid: { readonly code: number; readonly at: number } | null;
  /** The last XID error as the GPU's page shows it, even when it is over; 0: none since the exporter's start. */
  shownXid: number;
  /** Why the GPU is slowed down, and the most power that it draws meanwhile; `null`: it is not slowed down. */
  slowed: { readonly reasons: number; readonly watts: number } | null;
  /** The power limit that someone set, watts; `null`: the model's own. */
  cappedWatts: number | null;
  /** Activity of processes that no pod owns. */
  stray: number;
  sample: GpuSample | null;
  /** Energy since the driver was loaded, as of the last look. */
  energyMillijoules: number;
}

export interface SimNode {
  spec: NodeSpec;
  uid: string;
  readonly physicalGpus: readonly PhysicalGpu[];
  freeCpuMilli: number;
  freeMemoryMiB: number;
  /** When the node was created, wall clock seconds. */
  createdAt: number;
  /** Whether the node is gone: it has the fault `node-lost`, or was removed. */
  lost: boolean;
  /** When the condition Ready took its present value, wall clock seconds. */
  readyChangedAt: number;
  /** Port of the node's exporter; 0 without one. */
  exporterPort: number;
  exporterPodName: string;
  /** How often the exporter's pod was replaced, and when the present one began, wall clock seconds. */
  exporterRestarts: number;
  exporterStartedAt: number;
  /**
   * The layout that the node's label `nvidia.com/mig.config` asks for, and since when, in simulated time; `null` where the node
   * has it.
   */
  migWish: { readonly config: string; readonly since: number } | null;
  /** Whether someone put a taint on the node that no pod tolerates. */
  tainted: boolean;
  /** Simulated time since when the node has been empty, and cordoned or tainted; `null` while it is not. */
  emptySince: number | null;
  /** Simulated time since when the node has been empty, cordoned or not; `null` while it is not. */
  unusedSince: number | null;
}

/** A claim object that represents a pod or a whole workload. */
export interface SimClaim {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  allocatedAt: number | null;
}

export type SimPhase = "Pending" | "Running" | "Succeeded" | "Failed";

/** Times named `At` are wall clock (what objects show), times named `Time` are simulated time (what happens when). */
export interface SimPod {
  readonly uid: string;
  readonly name: string;
  readonly index: number;
  readonly workload: Workload;
  /** The key that decides the random course of the pod. */
  readonly key: number;
  readonly createdAt: number;
  phase: SimPhase;
  node: SimNode | null;
  allocations: readonly Allocation[];
  claim: SimClaim | null;
  scheduledAt: number | null;
  scheduledTime: number;
  startedAt: number | null;
  startedTime: number;
  endsTime: number | null;
  endedAt: number | null;
  /** Why the pod's GPUs were taken away; absent while they were not. */
  disruption?: SimDisruption;
}

/**
 * What is written into a pod before it is deleted: by its scheduler in favour of other work, by the Eviction API, or because
 * its node is gone.
 */
export interface SimDisruption {
  readonly at: number;
  /** Reason of the condition DisruptionTarget; default: `PreemptionByScheduler`. */
  readonly reason?: "EvictionByEvictionAPI" | "DeletionByPodGC";
  readonly message: string;
}

export interface Workload {
  readonly uid: string;
  readonly name: string;
  readonly serial: number;
  /** The workload's place in the scheduler's order: its serial, and a later place when its owner made new pods. */
  order: number;
  spec: WorkloadSpec;
  readonly habit: Habit | null;
  readonly team: string | null;
  readonly createdAt: number;
  readonly runSeconds: number | null;
  fails: boolean;
  /** The number of pods of a Job that failed because they were disrupted. */
  failed: number;
  /** Whether its user suspended the job (`spec.suspend`). */
  suspended: boolean;
  /** Whether it was scaled to nothing (replicas 0, or a notebook that was stopped). */
  stopped: boolean;
  /** Whether its Kueue Workload is active (`spec.active`). */
  active: boolean;
  /** The value of Kueue's annotation `priority-boost`. */
  boost: number;
  /**
   * Whether its queue has looked at it and had nothing for it. A strict queue does not look at the workloads behind its head.
   */
  tried: boolean;
  /** Seconds of work that checkpoints kept, by the index of the pod. */
  readonly progress: Map<number, number>;
  pods: readonly SimPod[];
  /** The system whose queue it is in; `null`: it goes straight to the scheduler. */
  readonly system: QueueSystemName | null;
  /**
   * The node pool of KAI's shard, whose nodes alone the workload may use: `null` means nodes without the label; absent under
   * other systems.
   */
  readonly nodePool?: string | null;
  /** Since when it has waited in its queue: its creation, or its last eviction. */
  queuedAt: number;
  /** When its queue let it go on to the scheduler; `null` while it waits there. */
  admittedAt: number | null;
  admittedTime: number | null;
  /** The last eviction of the workload; `null`: there was none. */
  eviction: SimEviction | null;
  evictions: number;
  /** The claim that all pods share. */
  claim: SimClaim | null;
  endedTime: number | null;
  /** The sessions of its owner; `null` for work that is not used in sessions. */
  readonly session: Session | null;
}

/** An eviction from a queue. */
export interface SimEviction {
  readonly at: number;
  /** Since when the workload had been admitted. */
  readonly admittedAt: number;
  readonly reason: string;
  /** The workload that took its place; `null`: someone switched it off. */
  readonly by: Workload | null;
}

/** Everything that changes. Only the files in this folder write to it. */
export interface World {
  /** The scenario, with the quotas as they are written now. */
  scenario: Scenario;
  readonly seed: number;
  readonly random: RandomStream;
  /** Simulated time, seconds; only goes forward. The wall clock is `time + clockOffset`. */
  time: number;
  clockOffset: number;
  /** Simulated time at which the simulation starts: its warm-up is over. */
  readonly start: number;
  observedAt: number | null;
  serial: number;
  nodes: readonly SimNode[];
  nodesByName: ReadonlyMap<string, SimNode>;
  readonly teams: ReadonlyMap<string, string | null>;
  readonly workloads: Set<Workload>;
  readonly waiting: Set<SimPod>;
  readonly starting: Set<SimPod>;
  readonly running: Set<SimPod>;
  /** The nodes, pods, GPUs and workloads that changed since the objects were last written. */
  readonly dirtyNodes: Set<SimNode>;
  readonly dirtyPods: Set<SimPod>;
  readonly dirtyGpus: Set<PhysicalGpu>;
  readonly removedWorkloads: Set<Workload>;
  readonly newWorkloads: Set<Workload>;
  /** Pods that were removed, such as those of evicted workloads. */
  readonly removedPods: Set<SimPod>;
  /** The number of evictions so far, by `system/queue` of the workload that lost its GPUs. */
  readonly evictions: Map<string, number>;
  /** Workloads whose owners have something to do: pods were removed, or someone changed what the owners want. */
  readonly unsettled: Set<Workload>;
  readonly removedNodes: Set<SimNode>;
  /** Machines of autoscaled pools that were removed and can come back. */
  readonly spareNodes: Set<SimNode>;
  /** Names of exporters' pods that were replaced. */
  readonly removedExporterPods: Set<string>;
  /** GPU-seconds of work that must be done again, by `namespace/workload`. */
  readonly lostGpuSeconds: Map<string, number>;
  /**
   * Owners who came back and found their work stopped, oldest first; and the total time that they waited until it ran again,
   * seconds.
   */
  readonly foundStopped: FoundStopped[];
  ownerWaitSeconds: number;
  /** GPU-seconds of batch work that ended well, and the number of these workloads. */
  finished: { gpuSeconds: number; workloads: number };
  /** Workloads whose owners have just applied their original objects again. */
  readonly appliedAgain: Set<Workload>;
  /** What KAI's queues held over its window, oldest first; empty where past use does not count. */
  pastUse: readonly UseSample[];
}

/** The wall clock of the cluster, seconds since the epoch. */
export function wallClock(world: World): number {
  return world.time + world.clockOffset;
}

/** A UUID that no other call has returned. */
export function nextUid(world: World): string {
  world.serial++;
  return uuidFrom(`${world.seed}/${world.serial}`);
}
