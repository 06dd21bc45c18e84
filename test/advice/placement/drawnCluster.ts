import { createRandomStream, type RandomStream, uuidFrom } from "../../../simulator/random.ts";

/** Labels by name. */
type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels: Labels;
}

export interface AffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector: Selector;
}

/** A Node of the API, as far as these tests write it. */
export interface NodeObject {
  readonly apiVersion: "v1";
  readonly kind: "Node";
  readonly metadata: { readonly name: string; readonly labels: Labels };
  readonly spec: { readonly taints: readonly { readonly key: string; readonly effect: "NoSchedule" }[] };
  readonly status: {
    readonly capacity: Labels;
    readonly allocatable: Labels;
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
  };
}

/** A Pod of the API, as far as these tests write it. */
export interface PodObject {
  readonly apiVersion: "v1";
  readonly kind: "Pod";
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Labels;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly nodeSelector: Labels;
    readonly tolerations: readonly { readonly key: string; readonly operator: "Exists" }[];
    readonly affinity: {
      readonly podAffinity?: Record<typeof required, readonly AffinityTerm[]>;
      readonly podAntiAffinity?: Record<typeof required, readonly AffinityTerm[]>;
    };
    readonly topologySpreadConstraints: readonly (AffinityTerm & {
      readonly maxSkew: number;
      readonly whenUnsatisfiable: "DoNotSchedule";
    })[];
    readonly containers: readonly {
      readonly name: string;
      readonly image: string;
      readonly ports: readonly { readonly containerPort: number; readonly hostPort: number }[];
      readonly resources: { readonly requests: Labels; readonly limits: Labels };
    }[];
    readonly volumes: readonly {
      readonly name: string;
      readonly persistentVolumeClaim: { readonly claimName: string };
    }[];
  };
}

/** A PersistentVolume that is on one node or in one zone, and the claim that has it. */
export interface VolumeObjects {
  readonly volume: {
    readonly metadata: { readonly name: string };
    readonly at: { readonly key: string; readonly value: string };
  };
  readonly claim: { readonly metadata: { readonly name: string; readonly namespace: string } };
}

/** A small cluster with rules of every kind; one namespace and one label of nodes are its own. */
export interface DrawnCluster {
  readonly name: string;
  readonly nodes: readonly NodeObject[];
  readonly pods: readonly PodObject[];
  readonly volumes: readonly VolumeObjects[];
}

export const required = "requiredDuringSchedulingIgnoredDuringExecution";
export const clusterLabel = "test.fairlead.dev/cluster";
const zoneLabel = "topology.kubernetes.io/zone";
const hostLabel = "kubernetes.io/hostname";
const capacityLabel = "karpenter.sh/capacity-type";
const gpuResource = "nvidia.com/gpu";
const gpusPerNode = 4;
const mostTries = 30;

const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);

/** How objects are called: other names must not change what is advised. */
export type Naming = (name: string) => string;

/** Draws a cluster: the same for the same seed, but for its names. */
export function drawCluster(seed: number, name: string, naming: Naming = (own) => own): DrawnCluster {
  const random = createRandomStream(seed);
  const called = (own: string): string => `${name}-${naming(own)}`;
  const hasZones = random.next() < 0.8;
  const mixesCapacity = random.next() < 0.35;
  const nodes = Array.from({ length: random.between(3, 6) }, (_, i) => {
    const zone: Labels = hasZones ? { [zoneLabel]: `${name}-${random.pick(["a", "b", "b"])}` } : {};
    const type = mixesCapacity ? random.pick(["on-demand", "on-demand", "spot", ""]) : "on-demand";
    const capacity: Labels = type === "" ? {} : { [capacityLabel]: type };
    return nodeObject(called(`node-${i}`), name, { ...zone, ...capacity }, random.next() < 0.15);
  });
  const left = nodes.map((): number => gpusPerNode);
  // Full but for about one node, so that there is something to move for.
  const free = random.between(4, 8);
  const withPort = new Set<number>();
  const pods: PodObject[] = [];
  const volumes: VolumeObjects[] = [];
  for (let i = 0; i < mostTries && sumOf(left) > free; i++) {
    const at = random.between(0, nodes.length - 1);
    const gpus = random.pick([0, 1, 1, 1, 1, 2, 2, 3]);
    const drawn = drawPod(random, name, called(`pod-${i}`), gpus);
    const node = nodes[at];
    if (node === undefined || (left[at] ?? 0) < gpus) continue;
    // No node runs two pods with one port, and kube-scheduler forgets the port when one of two such pods goes.
    const hasPort = drawn.spec.containers.some(({ ports }) => ports.length > 0);
    if (hasPort && withPort.has(at)) continue;
    if (hasPort) withPort.add(at);
    left[at] = (left[at] ?? 0) - gpus;
    const volume = random.next() < 0.2 ? drawVolume(random, name, called(`volume-${i}`), node) : null;
    if (volume !== null) volumes.push(volume);
    pods.push(withVolume({ ...drawn, spec: { ...drawn.spec, nodeName: node.metadata.name } }, volume));
  }
  // Without work that waits, whole nodes may be freed.
  const wanted = random.pick([0, 0, 3, 4, 4, 4]);
  if (wanted > 0) pods.push(waiting(drawPod(random, name, called("waiting"), wanted)));
  return { name, nodes, pods, volumes };
}

/** A ready node of Karpenter with four GPUs. */
export function nodeObject(name: string, cluster: string, more: Labels, isDedicated: boolean): NodeObject {
  const resources = { cpu: "64", memory: "512Gi", pods: "110", [gpuResource]: String(gpusPerNode) };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        [hostLabel]: name,
        [clusterLabel]: cluster,
        "karpenter.sh/nodepool": "gpu",
        "nvidia.com/gpu.count": String(gpusPerNode),
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.replicas": "1",
        ...more,
      },
    },
    spec: { taints: isDedicated ? [{ key: "dedicated", effect: "NoSchedule" }] : [] },
    status: { capacity: resources, allocatable: resources, conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** A pod of a ReplicaSet without any rule. */
export const podObject = (cluster: string, name: string, app: string, gpus: number, nodeName?: string): PodObject => {
  const amounts: Labels = gpus === 0 ? {} : { [gpuResource]: String(gpus) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: cluster,
      labels: { app },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name,
          uid: uuidFrom(name),
          controller: true,
          blockOwnerDeletion: false,
        },
      ],
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      nodeSelector: { [clusterLabel]: cluster },
      tolerations: [],
      affinity: {},
      topologySpreadConstraints: [],
      volumes: [],
      containers: [
        {
          name: "main",
          image: "none",
          ports: [],
          resources: { requests: { cpu: "1", memory: "1Gi", ...amounts }, limits: amounts },
        },
      ],
    },
  };
};

function drawPod(random: RandomStream, cluster: string, name: string, gpus: number): PodObject {
  const app = random.pick(["red", "green", "blue"]);
  const term = (own: boolean): AffinityTerm => ({
    topologyKey: random.pick([hostLabel, hostLabel, zoneLabel]),
    labelSelector: { matchLabels: { app: own ? app : random.pick(["red", "green", "blue"]) } },
  });
  const chance = (part: number): boolean => random.next() < part;
  const keptApart = chance(0.2) ? [term(chance(0.6))] : [];
  const drawn = chance(0.1) ? [term(chance(0.6))] : [];
  const spread = chance(0.15) ? [{ ...term(true), maxSkew: random.between(1, 2) }] : [];
  const ports = chance(0.15) ? [{ containerPort: 8080, hostPort: 8080 }] : [];
  const zone: Labels = chance(0.1) ? { [zoneLabel]: `${cluster}-b` } : {};
  const pod = podObject(cluster, name, app, gpus);
  const { spec } = pod;
  return {
    ...pod,
    spec: {
      ...spec,
      nodeSelector: { ...spec.nodeSelector, ...zone },
      tolerations: chance(0.4) ? [{ key: "dedicated", operator: "Exists" }] : [],
      affinity: {
        ...(drawn.length === 0 ? {} : { podAffinity: { [required]: drawn } }),
        ...(keptApart.length === 0 ? {} : { podAntiAffinity: { [required]: keptApart } }),
      },
      topologySpreadConstraints: spread.map((rule) => ({ ...rule, whenUnsatisfiable: "DoNotSchedule" })),
      containers: spec.containers.map((container) => ({ ...container, ports })),
    },
  };
}

/** What waits for GPUs has rules, too, but may go to any node by itself. */
const waiting = (pod: PodObject): PodObject => ({
  ...pod,
  spec: { ...pod.spec, tolerations: [{ key: "dedicated", operator: "Exists" }] },
});

function drawVolume(random: RandomStream, namespace: string, name: string, node: NodeObject): VolumeObjects {
  const key = random.next() < 0.4 ? hostLabel : zoneLabel;
  const value = node.metadata.labels[key];
  const at = value === undefined ? { key: hostLabel, value: node.metadata.name } : { key, value };
  return { volume: { metadata: { name }, at }, claim: { metadata: { name, namespace } } };
}

const withVolume = (pod: PodObject, volume: VolumeObjects | null): PodObject =>
  volume === null
    ? pod
    : {
        ...pod,
        spec: {
          ...pod.spec,
          volumes: [{ name: "data", persistentVolumeClaim: { claimName: volume.claim.metadata.name } }],
        },
      };

/** The objects of a volume, as they are in the API once they are bound to each other. */
export function volumeBodies({ volume, claim }: VolumeObjects): { readonly volume: object; readonly claim: object } {
  const spec = { accessModes: ["ReadWriteOnce"], storageClassName: "local" };
  const selector = { matchExpressions: [{ key: volume.at.key, operator: "In", values: [volume.at.value] }] };
  const { namespace, name } = claim.metadata;
  return {
    volume: {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: volume.metadata,
      spec: {
        ...spec,
        capacity: { storage: "1Gi" },
        local: { path: "/data" },
        claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name },
        nodeAffinity: { required: { nodeSelectorTerms: [selector] } },
      },
    },
    claim: {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { ...claim.metadata, annotations: { "pv.kubernetes.io/bind-completed": "yes" } },
      spec: { ...spec, volumeName: volume.metadata.name, resources: { requests: { storage: "1Gi" } } },
    },
  };
}
