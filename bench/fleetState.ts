import type { ClusterState, Namespace, ObjectKind, OwnerObject } from "../exporter/model/cluster.ts";
import type { ClusterNode } from "../exporter/model/node.ts";
import type { Pod } from "../exporter/model/pod.ts";
import { toleratesAll } from "../exporter/model/queues/nodeMatch.ts";
import type { DeviceReading, TelemetryClaimant, TelemetryPage } from "../exporter/model/telemetry.ts";
import { emptyState } from "./emptyState.ts";

/** A generated fleet: the state that the sources would pass to a cycle, and the states after it. */
export interface Fleet {
  state(): ClusterState;
  /**
   * Goes on by one cycle: all readings change, and one pod in a hundred is replaced. Unchanged things stay the same objects.
   */
  step(): void;
}

const gpusPerNode = 8;
const podsPerNode = 10;
const start = 1_760_000_000;
const interval = 30;

const everyKind: ReadonlySet<ObjectKind> = new Set([
  "nodes",
  "pods",
  "namespaces",
  "priorityClasses",
  "podDisruptionBudgets",
  "resourceClaims",
  "resourceSlices",
  "owners",
]);

const products = ["NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB", "NVIDIA-L40S", "NVIDIA-H200"] as const;
/** The GPUs that the pods of one node ask for; the rest of its ten pods have ended. */
const requests: readonly (readonly number[])[] = [
  [1, 1, 1, 1, 1, 1, 1, 1],
  [2, 2, 1, 1, 1, 1],
  [8],
  [4, 2, 1],
  [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
];

function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

interface FleetNode {
  readonly object: ClusterNode;
  /** Replicas of each GPU; if there are several, the node is shared. */
  readonly replicas: number;
  readonly uuids: readonly string[];
  readonly owner: OwnerObject;
  readonly amounts: readonly number[];
  readonly pods: Pod[];
  claimants: (readonly TelemetryClaimant[])[];
}

/** A fleet of `count` nodes with 8 GPUs and 10 pods each; every fifth node shares its GPUs. One seed makes one fleet. */
export function createFleet(count: number, seed = 1): Fleet {
  const random = seededRandom(seed);
  const nodes = Array.from({ length: count }, (_, i) => makeNode(i, Math.max(20, Math.ceil(count / 20))));
  const namespaces: readonly Namespace[] = Array.from({ length: Math.max(20, Math.ceil(count / 20)) }, (_, i) => ({
    name: `ns-${i}`,
    labels: { team: `team-${i}` },
    annotations: {},
  }));
  const objects = nodes.map((node) => node.object);
  const owners = nodes.map((node) => node.owner);
  let pods = nodes.flatMap((node) => node.pods);
  let cycle = 0;
  return {
    state: () => ({
      ...emptyState,
      nodes: objects,
      pods,
      namespaces,
      owners,
      known: everyKind,
      telemetry: nodes.map((node, i) => pageOf(node, i, cycle, random)),
    }),
    step: () => {
      cycle += 1;
      const changed = new Set(
        Array.from({ length: Math.ceil((count * podsPerNode) / 100) }, () => Math.floor(random() * count)),
      );
      for (const index of changed) {
        const node = nodes[index];
        if (node !== undefined) replacePod(node, cycle, Math.floor(random() * node.amounts.length));
      }
      pods = nodes.flatMap((node) => node.pods);
    },
  };
}

/** The time of the n-th cycle, seconds since the epoch. */
export function timeOfCycle(cycle: number): number {
  return start + cycle * interval;
}

function makeNode(index: number, namespaces: number): FleetNode {
  const name = `gpu-node-${String(index).padStart(5, "0")}.example.internal`;
  const kind = index % requests.length;
  const amounts = requests[kind] ?? [];
  const replicas = kind === 4 ? 2 : 1;
  const product = products[Math.floor(index / 7) % products.length] ?? "";
  const owner: OwnerObject = {
    apiVersion: "batch/v1",
    kind: "Job",
    namespace: `ns-${index % namespaces}`,
    name: `train-${index}`,
    uid: `9d3f2c1a-0000-4000-8000-${String(index).padStart(12, "0")}`,
    labels: { app: "train" },
    annotations: {},
    owner: null,
    createdAt: start - 90_000,
    job: null,
  };
  const node: FleetNode = {
    object: {
      name,
      uid: `node-${index}`,
      bootId: `boot-${index}`,
      createdAt: start - 800_000,
      labels: {
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": String(gpusPerNode),
        "nvidia.com/gpu.replicas": String(replicas),
        "karpenter.sh/nodepool": `pool-${index % 12}`,
        "karpenter.sh/capacity-type": index % 3 === 0 ? "spot" : "on-demand",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
      },
      annotations: {},
      taints: [],
      unschedulable: index % 97 === 0,
      ready: true,
      readyChangedAt: start - 800_000,
      capacity: { "nvidia.com/gpu": gpusPerNode * replicas },
      allocatable: { "nvidia.com/gpu": gpusPerNode * replicas },
      allocatableCpuMilli: 192_000,
      allocatableMemoryBytes: 2 ** 41,
      providerId: "",
    },
    replicas,
    uuids: Array.from(
      { length: gpusPerNode },
      (_, physicalGpu) => `GPU-${String(index).padStart(8, "0")}-5f3a-4c1d-9e2b-00000000000${physicalGpu}`,
    ),
    owner,
    amounts,
    pods: [],
    claimants: [],
  };
  for (let i = 0; i < podsPerNode; i++) node.pods.push(makePod(node, i, 0, i >= amounts.length));
  node.claimants = claimantsOf(node);
  return node;
}

function makePod(node: FleetNode, index: number, generation: number, ended: boolean): Pod {
  const { owner } = node;
  const id = node.uuids[0]?.slice(4, 12) ?? "";
  return {
    uid: `${id}-${String(generation).padStart(4, "0")}-4a4a-8b8b-${String(index).padStart(12, "0")}`,
    namespace: owner.namespace,
    name: `${owner.name}-${index}-${generation}`,
    nodeName: node.object.name,
    phase: ended ? "Succeeded" : "Running",
    createdAt: start - 8000 + generation * interval,
    scheduledAt: start - 7990 + generation * interval,
    allContainersStarted: true,
    gated: false,
    priority: 0,
    priorityClassName: index % 2 === 0 ? "batch" : null,
    schedulerName: "default-scheduler",
    nodeSelector: {},
    nodeAffinity: [],
    tolerations: toleratesAll,
    labels: { app: "train", "kueue.x-k8s.io/queue-name": `queue-${owner.namespace}` },
    annotations: {},
    owner: { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid },
    cpuMilli: 4000,
    memoryBytes: 2 ** 35,
    hasLocalStorage: false,
    gpu: { resources: { "nvidia.com/gpu": node.amounts[index] ?? 1 }, claims: [], extendedResourceClaim: null },
  };
}

function replacePod(node: FleetNode, generation: number, index: number): void {
  node.pods[index] = makePod(node, index, generation, false);
  node.claimants = claimantsOf(node);
}

/** The pods on a node's page: those with whole GPUs in the order of the GPUs; on shared nodes, two pods share a GPU. */
function claimantsOf(node: FleetNode): (readonly TelemetryClaimant[])[] {
  const physicalGpus: TelemetryClaimant[][] = node.uuids.map(() => []);
  let slot = 0;
  for (const [i, amount] of node.amounts.entries()) {
    const pod = node.pods[i];
    for (let unit = 0; pod !== undefined && unit < amount; unit++, slot++) {
      physicalGpus[Math.floor(slot / node.replicas)]?.push(claimantOf(pod));
    }
  }
  return physicalGpus.map((found, physicalGpu) =>
    same(found, node.claimants[physicalGpu]) ? (node.claimants[physicalGpu] ?? found) : found,
  );
}

function same(a: readonly TelemetryClaimant[], b: readonly TelemetryClaimant[] | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((claimant, i) => claimant.pod === b[i]?.pod);
}

function claimantOf(pod: Pod): TelemetryClaimant {
  return {
    namespace: pod.namespace,
    pod: pod.name,
    podUid: null,
    container: "main",
    slots: 1,
    processUtil: null,
    processMemoryBytes: null,
    claim: null,
  };
}

function pageOf(node: FleetNode, index: number, cycle: number, random: () => number): TelemetryPage {
  return {
    target: `http://10.${index >> 16}.${(index >> 8) & 255}.${index & 255}:9400/metrics`,
    node: node.object.name,
    hostLabel: node.object.name,
    receivedAt: timeOfCycle(cycle) - 1,
    devices: node.uuids.map((uuid, physicalGpu) =>
      readingOf(uuid, physicalGpu, node.claimants[physicalGpu] ?? [], cycle, random),
    ),
    dropped: {},
  };
}

function readingOf(
  uuid: string,
  physicalGpu: number,
  claimants: readonly TelemetryClaimant[],
  cycle: number,
  random: () => number,
): DeviceReading {
  const busy = claimants.length > 0 && random() > 0.1 ? random() : 0;
  return {
    uuid,
    gpuInstance: null,
    profile: null,
    migUuid: null,
    modelName: "NVIDIA H100 80GB HBM3",
    gpuIndex: String(physicalGpu),
    gpuUtil: busy,
    grEngineActive: busy,
    smActive: busy * 0.8,
    dramActive: busy * 0.5,
    tensorActive: busy * 0.4,
    pipeActive: null,
    memoryCopyUtil: busy * 0.4,
    movedBytesPerSecond: busy * 3e9,
    encoderUtil: 0,
    decoderUtil: 0,
    memoryUsedBytes: busy * 2 ** 36,
    memoryTotalBytes: 2 ** 36,
    powerWatts: 100 + 600 * busy,
    powerLimitWatts: null,
    clockEventReasons: null,
    energyJoules: 1e6 + cycle * interval * 400,
    temperatureCelsius: 40 + 40 * busy,
    lastXid: null,
    rowRemapPending: null,
    rowRemapFailure: null,
    dcgmHealth: null,
    virtualSlots: 0,
    claimants,
  };
}
