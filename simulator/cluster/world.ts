import { type GpuModel, gpuModels, instanceIds, slicesOfProfile } from "../gpuModels.ts";
import type { QueueSystemName } from "../queues/spec.ts";
import { createRandomStream, hashText, type RandomStream, uuidFrom } from "../random.ts";
import type { Habit, NodeSpec, Scenario, WorkloadSpec } from "../scenario.ts";

/** A replica or MIG instance of a card. */
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

/** One pod's part of one card. */
export interface Allocation {
  readonly pod: SimPod;
  readonly card: Card;
  /** `null` for a whole card and for KAI and HAMi fractions. */
  readonly unit: Unit | null;
  /** Physical GPUs. */
  readonly share: number;
  /** The pod's activity, of its share, at the exporter's last look. */
  observed: number;
}

/** What the exporter saw at its last look. */
export interface CardSample {
  readonly activity: number;
  readonly memoryUsedMiB: number;
  readonly powerWatts: number;
}

/** The pod with which KAI keeps a card out of the device plugin's hands. */
export interface Reservation {
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly createdAt: number;
}

export interface Card {
  readonly node: SimNode;
  /** DCGM index on the host. */
  readonly index: number;
  /** Device minor: what DRA names count by. Differs from `index`, as on real hosts. */
  readonly minor: number;
  readonly uuid: string;
  readonly model: GpuModel;
  /** Replicas or instances; empty where the card is handed out whole or in free fractions. */
  readonly units: readonly Unit[];
  readonly allocations: Set<Allocation>;
  reservation: Reservation | null;
  healthy: boolean;
  /** Simulated time at which the card fell off the bus. */
  lostTime: number | null;
  /** Activity of processes that no pod owns. */
  stray: number;
  sample: CardSample | null;
  /** Since driver load, as of the last look. */
  energyMillijoules: number;
}

export interface SimNode {
  readonly spec: NodeSpec;
  readonly uid: string;
  readonly cards: readonly Card[];
  freeCpuMilli: number;
  freeMemoryMiB: number;
  /** Wall clock seconds. */
  readonly createdAt: number;
  /** Fault `node-lost`. */
  lost: boolean;
  /** Wall clock seconds at which Ready took its present value. */
  readyChangedAt: number;
  /** Port of the node's exporter; 0 without one. */
  exporterPort: number;
  readonly exporterPodName: string;
}

/** A claim object that stands for a pod or a whole workload. */
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
  /** Why its scheduler took its GPUs away; absent while it did not. */
  disruption?: SimDisruption;
}

/** What a scheduler writes on a pod before it deletes it to make room. */
export interface SimDisruption {
  readonly at: number;
  readonly message: string;
}

export interface Workload {
  readonly uid: string;
  readonly name: string;
  readonly serial: number;
  readonly spec: WorkloadSpec;
  readonly habit: Habit | null;
  readonly team: string | null;
  readonly createdAt: number;
  readonly runSeconds: number | null;
  readonly fails: boolean;
  pods: readonly SimPod[];
  /** The system whose queue it is in; `null`: it goes straight to the scheduler. */
  readonly system: QueueSystemName | null;
  /** Node pool of KAI's shard, whose nodes alone it may use: `null` stands for nodes without the label; absent elsewhere. */
  readonly nodePool?: string | null;
  /** Since when it has waited in its queue: creation, or its last eviction. */
  queuedAt: number;
  /** When its queue let it go on to the scheduler; `null` while it waits there. */
  admittedAt: number | null;
  admittedTime: number | null;
  /** The last time that it had to make room. */
  eviction: SimEviction | null;
  evictions: number;
  /** Claim that all pods share. */
  claim: SimClaim | null;
  endedTime: number | null;
}

/** An eviction from a queue. */
export interface SimEviction {
  readonly at: number;
  /** Since when it had been admitted. */
  readonly admittedAt: number;
  readonly reason: string;
  /** Whose work took its place. */
  readonly by: Workload;
}

/** Everything that changes. Only the files in this folder write to it. */
export interface World {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly random: RandomStream;
  /** Simulated time, seconds; only goes forward. The wall clock is `time + clockOffset`. */
  time: number;
  clockOffset: number;
  observedAt: number | null;
  serial: number;
  readonly nodes: readonly SimNode[];
  readonly nodesByName: ReadonlyMap<string, SimNode>;
  readonly teams: ReadonlyMap<string, string | null>;
  readonly workloads: Set<Workload>;
  readonly waiting: Set<SimPod>;
  readonly starting: Set<SimPod>;
  readonly running: Set<SimPod>;
  /** What changed since the objects were last written. */
  readonly dirtyNodes: Set<SimNode>;
  readonly dirtyPods: Set<SimPod>;
  readonly dirtyCards: Set<Card>;
  readonly removedWorkloads: Set<Workload>;
  readonly newWorkloads: Set<Workload>;
  /** Pods of evicted workloads. */
  readonly removedPods: Set<SimPod>;
  /** Evictions so far, by `system/queue` of who lost its GPUs. */
  readonly evictions: Map<string, number>;
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

/** An empty world at the given time: nodes and cards, no workloads. */
export function createWorld(scenario: Scenario, seed: number, time: number): World {
  const nodes = scenario.nodes.map((spec) => createNode(spec, seed, time));
  return {
    scenario,
    seed,
    random: createRandomStream(hashText(scenario.name, seed)),
    time,
    clockOffset: 0,
    observedAt: null,
    serial: 0,
    nodes,
    nodesByName: new Map(nodes.map((node) => [node.spec.name, node])),
    teams: new Map(scenario.namespaces.map((namespace) => [namespace.name, namespace.team])),
    workloads: new Set(),
    waiting: new Set(),
    starting: new Set(),
    running: new Set(),
    dirtyNodes: new Set(nodes),
    dirtyPods: new Set(),
    dirtyCards: new Set(),
    removedWorkloads: new Set(),
    newWorkloads: new Set(),
    removedPods: new Set(),
    evictions: new Map(),
  };
}

function createNode(spec: NodeSpec, seed: number, time: number): SimNode {
  const identity = `${seed}/${spec.name}`;
  const cards: Card[] = [];
  const node: SimNode = {
    spec,
    uid: uuidFrom(`node/${identity}`),
    cards,
    freeCpuMilli: spec.cpuMilli,
    freeMemoryMiB: spec.memoryMiB,
    createdAt: time - 30 * 86_400,
    lost: false,
    readyChangedAt: time - 86_400,
    exporterPort: 0,
    exporterPodName: `nvidia-dcgm-exporter-${uuidFrom(`exporter/${identity}`).slice(0, 5)}`,
  };
  spec.cards.forEach((name, index) => {
    const uuid = uuidFrom(`card/${index}/${identity}`);
    cards.push({
      node,
      index,
      minor: (index + 1) % spec.cards.length,
      uuid: spec.mode.kind === "vgpu-guest" ? `GPU-${uuid.slice(0, 18)}-0000-000000000000` : `GPU-${uuid}`,
      model: gpuModels[name],
      units: unitsOf(spec, gpuModels[name], index),
      allocations: new Set(),
      reservation: null,
      healthy: true,
      lostTime: null,
      stray: 0,
      sample: null,
      energyMillijoules: 1_000_000 * (hashText(uuid) % 100_000),
    });
  });
  return node;
}

function unitsOf(spec: NodeSpec, model: GpuModel, index: number): readonly Unit[] {
  const { mode } = spec;
  if (mode.kind === "time-slicing" || mode.kind === "mps") {
    return Array.from({ length: mode.replicas }, (_, replica) => ({
      id: String(replica),
      profile: null,
      weight: 1 / mode.replicas,
      holder: null,
      observed: null,
    }));
  }
  const layout = migLayout(spec, model, index);
  const ids = instanceIds(layout);
  return layout.map((profile, position) => ({
    id: ids[position] ?? String(position),
    profile,
    weight: slicesOfProfile(profile) / model.migSlices,
    holder: null,
    observed: null,
  }));
}

function migLayout(spec: NodeSpec, model: GpuModel, index: number): readonly string[] {
  if (model.migSlices === 0) return [];
  if (spec.mode.kind === "mig-mixed") return spec.mode.layouts[index % Math.max(1, spec.mode.layouts.length)] ?? [];
  if (spec.mode.kind !== "mig-single") return [];
  const { profile } = spec.mode;
  return Array.from({ length: Math.floor(model.migSlices / slicesOfProfile(profile)) }, () => profile);
}
