import type { DeviceProfile } from "../deviceProfiles.ts";
import type { GpuModel } from "../gpuModels.ts";
import type { UseSample } from "../queues/pastUse.ts";
import type { QueueSystemName } from "../queues/spec.ts";
import { type RandomStream, uuidFrom } from "../random.ts";
import type { Habit, NodeSpec, Scenario, WorkloadSpec } from "../scenario.ts";
import type { FoundStopped, Session } from "./sessions.ts";

/** A replica or MIG instance of a GPU. */
export interface Unit {
  /** Replica number, or NVML GPU instance id. */
  readonly id: string;
  /** MIG profile; `null` for a replica. */
  readonly profile: string | null;
  /** Part of the physical GPU. */
  readonly weight: number;
  holder: SimPod | null;
  /** Activity at the exporter's last look; instances only. */
  observed: number | null;
}

/** One pod's part of one GPU. */
export interface Allocation {
  readonly pod: SimPod;
  readonly physicalGpu: PhysicalGpu;
  /** `null` for a whole GPU and for KAI and HAMi fractions. */
  readonly unit: Unit | null;
  /** Physical GPUs. */
  readonly share: number;
  /** The pod's activity, of its share, at the exporter's last look. */
  observed: number;
}

/** What the exporter saw at its last look. */
export interface GpuSample {
  readonly activity: number;
  readonly memoryUsedMiB: number;
  readonly powerWatts: number;
  readonly clockEventReasons: number;
  /** What the work on it does to its engines. */
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
  /** DCGM index on the host. */
  readonly index: number;
  /** Device minor: what DRA names count by. Differs from `index`, as on real hosts. */
  readonly minor: number;
  readonly uuid: string;
  readonly model: GpuModel;
  /** Replicas or instances; empty where the GPU is handed out whole or in free fractions. */
  units: readonly Unit[];
  readonly allocations: Set<Allocation>;
  reservation: Reservation | null;
  healthy: boolean;
  /** Simulated time at which the GPU fell off the bus. */
  lostTime: number | null;
  /** The XID error that it has until it is reset, and since when, wall clock seconds. */
  xid: { readonly code: number; readonly at: number } | null;
  /** The last XID error as its page shows it, also when it is over; 0: none since the exporter's start. */
  shownXid: number;
  /** Why it is slowed down, and the most that it draws meanwhile; `null`: it is not. */
  slowed: { readonly reasons: number; readonly watts: number } | null;
  /** The power limit that someone set; `null`: the model's own. */
  cappedWatts: number | null;
  /** Activity of processes that no pod owns. */
  stray: number;
  sample: GpuSample | null;
  /** Since driver load, as of the last look. */
  energyMillijoules: number;
}

export interface SimNode {
  spec: NodeSpec;
  uid: string;
  readonly physicalGpus: readonly PhysicalGpu[];
  freeCpuMilli: number;
  freeMemoryMiB: number;
  /** Wall clock seconds. */
  createdAt: number;
  /** Fault `node-lost`, or removed. */
  lost: boolean;
  /** Wall clock seconds at which Ready took its present value. */
  readyChangedAt: number;
  /** Port of the node's exporter; 0 without one. */
  exporterPort: number;
  exporterPodName: string;
  /** How often the exporter's pod was replaced, and when its present one began, by the wall clock. */
  exporterRestarts: number;
  exporterStartedAt: number;
  /** The layout that its label `nvidia.com/mig.config` asks for, and since when, in simulated time; `null` where it has it. */
  migWish: { readonly config: string; readonly since: number } | null;
  /** Someone put a taint on it that no pod tolerates. */
  tainted: boolean;
  /** Simulated time since when it has been cordoned and empty; `null` while it is not. */
  emptySince: number | null;
  /** The same whether it is cordoned or not. */
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
  /** Key of the pod's noise. */
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
  /** Why its GPUs were taken away; absent while they were not. */
  disruption?: SimDisruption;
}

/** What is written on a pod before it is deleted: by its scheduler to make room, by the Eviction API, or because its node is gone. */
export interface SimDisruption {
  readonly at: number;
  /** Of the condition DisruptionTarget; default: `PreemptionByScheduler`. */
  readonly reason?: "EvictionByEvictionAPI" | "DeletionByPodGC";
  readonly message: string;
}

export interface Workload {
  readonly uid: string;
  readonly name: string;
  readonly serial: number;
  /** Its place in the scheduler's order: its serial, later when its owner made new pods. */
  order: number;
  spec: WorkloadSpec;
  readonly habit: Habit | null;
  readonly team: string | null;
  readonly createdAt: number;
  readonly runSeconds: number | null;
  fails: boolean;
  /** Pods of a Job that failed because they were disrupted. */
  failed: number;
  /** `spec.suspend` of a job, by its user. */
  suspended: boolean;
  /** Scaled to nothing (replicas 0, or a notebook that was stopped). */
  stopped: boolean;
  /** `spec.active` of its Kueue Workload. */
  active: boolean;
  /** Kueue's annotation `priority-boost`. */
  boost: number;
  /** Its queue has looked at it and had nothing for it: of those behind the head of a strict queue it looks at none. */
  tried: boolean;
  /** Seconds of work that checkpoints kept, by index of the pod. */
  readonly progress: Map<number, number>;
  pods: readonly SimPod[];
  /** The system whose queue it is in; `null`: it goes straight to the scheduler. */
  readonly system: QueueSystemName | null;
  /** Node pool of KAI's shard, whose nodes alone it may use: `null` means nodes without the label; absent elsewhere. */
  readonly nodePool?: string | null;
  /** Since when it has waited in its queue: creation, or its last eviction. */
  queuedAt: number;
  /** When its queue let it go on to the scheduler; `null` while it waits there. */
  admittedAt: number | null;
  admittedTime: number | null;
  /** The last time that it had to give way. */
  eviction: SimEviction | null;
  evictions: number;
  /** Claim that all pods share. */
  claim: SimClaim | null;
  endedTime: number | null;
  /** What its owner does; `null` for work that nobody works with in sessions. */
  readonly session: Session | null;
}

/** An eviction from a queue. */
export interface SimEviction {
  readonly at: number;
  /** Since when it had been admitted. */
  readonly admittedAt: number;
  readonly reason: string;
  /** Whose work took its place; `null`: someone switched it off. */
  readonly by: Workload | null;
}

/** Everything that changes. Only the files in this folder write to it. */
export interface World {
  /** With the quotas as they are written now. */
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
  /** What changed since the objects were last written. */
  readonly dirtyNodes: Set<SimNode>;
  readonly dirtyPods: Set<SimPod>;
  readonly dirtyGpus: Set<PhysicalGpu>;
  readonly removedWorkloads: Set<Workload>;
  readonly newWorkloads: Set<Workload>;
  /** Pods of evicted workloads. */
  readonly removedPods: Set<SimPod>;
  /** Evictions so far, by `system/queue` of who lost its GPUs. */
  readonly evictions: Map<string, number>;
  /** Workloads whose owners have something to do: pods went, or someone changed what they want. */
  readonly unsettled: Set<Workload>;
  readonly removedNodes: Set<SimNode>;
  /** Machines of autoscaled pools that were let go. */
  readonly spareNodes: Set<SimNode>;
  /** Names of exporters' pods that were replaced. */
  readonly removedExporterPods: Set<string>;
  /** GPU-seconds of work that must be done again, by `namespace/workload`. */
  readonly lostGpuSeconds: Map<string, number>;
  /** Owners who came back and found their work stopped, oldest first; and for how long they waited until it ran again, in all. */
  readonly foundStopped: FoundStopped[];
  ownerWaitSeconds: number;
  /** GPU-seconds of batch work that ended well, and how many workloads that were. */
  finished: { gpuSeconds: number; workloads: number };
  /** Workloads whose owners have just applied their objects again as they were. */
  readonly appliedAgain: Set<Workload>;
  /** What KAI's queues held over its window, oldest first; empty where past use does not count. */
  pastUse: readonly UseSample[];
}

/** The wall clock of the cluster, seconds since the epoch. */
export function wallClock(world: World): number {
  return world.time + world.clockOffset;
}

/** A UUID that no other call has given. */
export function nextUid(world: World): string {
  world.serial++;
  return uuidFrom(`${world.seed}/${world.serial}`);
}
