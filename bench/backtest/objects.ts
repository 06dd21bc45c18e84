import type { ClusterNode } from "../../exporter/model/node.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import { toleratesAll } from "../../exporter/model/queues/nodeMatch.ts";
import { gpuResources } from "../../exporter/model/wellKnown.ts";

/** How long what was there before a replay has been there, seconds. */
export const longAgo = 30 * 86_400;

/** A ready node with whole GPUs, as the device plugin and GPU Feature Discovery describe it. */
export const readyNode = (name: string, gpus: number, product: string, at: number): ClusterNode => ({
  name,
  uid: `uid-${name}`,
  bootId: `boot-${name}`,
  createdAt: at - longAgo,
  labels: {
    "nvidia.com/gpu.product": product,
    "nvidia.com/gpu.count": String(gpus),
    "nvidia.com/gpu.replicas": "1",
  },
  annotations: {},
  taints: [],
  unschedulable: false,
  ready: true,
  readyChangedAt: at - longAgo,
  capacity: { [gpuResources.nvidia]: gpus },
  allocatable: { [gpuResources.nvidia]: gpus },
  allocatableCpuMilli: 96_000,
  allocatableMemoryBytes: 2 ** 40,
  providerId: "",
});

/** A pod that runs on a node, or waits where `node` is `null`, since a time in seconds since the epoch. */
export const barePod = (name: string, namespace: string, node: string | null, since: number): Pod => ({
  uid: `uid-${name}`,
  namespace,
  name,
  nodeName: node,
  phase: node === null ? "Pending" : "Running",
  createdAt: since,
  scheduledAt: node === null ? null : since,
  allContainersStarted: node !== null,
  gated: false,
  priority: 0,
  priorityClassName: null,
  schedulerName: "default-scheduler",
  nodeSelector: {},
  nodeAffinity: [],
  tolerations: toleratesAll,
  labels: {},
  annotations: {},
  owner: null,
  cpuMilli: 0,
  memoryBytes: 0,
  hasLocalStorage: false,
  gpu: { resources: {}, claims: [], extendedResourceClaim: null },
});
