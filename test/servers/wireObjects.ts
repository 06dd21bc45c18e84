/** Objects of every kind that is watched, with every field that Fairlead reads and oddities that the API allows. */

import { type WireObject, wirePods } from "./wirePods.ts";

const core = "/api/v1";
const dra = "/apis/resource.k8s.io/v1";
const started = "2026-01-02T03:04:05Z";

const nodes: readonly WireObject[] = [
  {
    collection: `${core}/nodes`,
    body: {
      metadata: {
        name: "node-0000",
        labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "8", zone: "" },
        annotations: { "hami.io/node-nvidia-register": "GPU-1,10,81559,100", "example.com/unread": "x" },
      },
      spec: {
        unschedulable: true,
        taints: [
          { key: "nvidia.com/gpu", value: "present", effect: "NoSchedule" },
          { key: "maintenance", effect: "NoExecute", timeAdded: started },
        ],
      },
    },
    status: {
      capacity: { cpu: "96", memory: "1056Gi", "nvidia.com/gpu": "8", "rdma/hca": "1k", "hugepages-2Mi": "0" },
      allocatable: { cpu: "95500m", memory: "1081143972Ki", "nvidia.com/gpu": "7", "rdma/hca": "1k" },
      conditions: [
        { type: "MemoryPressure", status: "False", lastHeartbeatTime: started, lastTransitionTime: started },
        { type: "Ready", status: "True", lastHeartbeatTime: started, lastTransitionTime: "2025-12-31T23:59:59Z" },
      ],
      nodeInfo: {
        bootID: "5a1c3a9e-3a44-4a37-9c1c-000000000000",
        architecture: "amd64",
        containerRuntimeVersion: "containerd://2.1",
        kernelVersion: "6.8",
        kubeProxyVersion: "",
        kubeletVersion: "v1.36.3",
        machineID: "m",
        operatingSystem: "linux",
        osImage: "Ubuntu",
        systemUUID: "s",
      },
      images: [{ names: ["registry.example/main:1.0"], sizeBytes: 123456789 }],
    },
  },
  { collection: `${core}/nodes`, body: { metadata: { name: "node-bare" } } },
  {
    collection: `${core}/nodes`,
    body: { metadata: { name: "node-lost" } },
    status: { conditions: [{ type: "Ready", status: "Unknown" }], allocatable: {} },
  },
];

const selector = {
  matchLabels: { app: "web" },
  matchExpressions: [
    { key: "tier", operator: "In", values: ["a", "b"] },
    { key: "gone", operator: "DoesNotExist" },
  ],
};
const budgets: readonly WireObject[] = [
  { metadata: { name: "whole" }, spec: { minAvailable: 1, selector } },
  { metadata: { name: "everything" }, spec: { maxUnavailable: "50%", selector: {} } },
  { metadata: { name: "nothing" }, spec: { minAvailable: 1 } },
].map((body, index) => ({
  collection: "/apis/policy/v1/namespaces/team-000/poddisruptionbudgets",
  body,
  ...(index === 0
    ? {
        status: { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
      }
    : {}),
}));

const slices: readonly WireObject[] = [
  {
    metadata: { name: "slice-of-node" },
    spec: {
      driver: "gpu.nvidia.com",
      pool: { name: "node-0000", generation: 3, resourceSliceCount: 1 },
      nodeName: "node-0000",
      devices: [
        {
          name: "gpu-0",
          attributes: {
            uuid: { string: "GPU-1" },
            "gpu.nvidia.com/index": { int: 0 },
            "example.com/big": { int: Number.MIN_SAFE_INTEGER },
            healthy: { bool: false },
            driverVersion: { version: "580.1.2" },
            "resource.kubernetes.io/pciBusID": { string: "" },
          },
          capacity: { memory: { value: "80Gi" }, cores: { value: "132" } },
          taints: [
            { key: "unhealthy", value: "xid", effect: "NoExecute" },
            { key: "info", effect: "NoSchedule" },
          ],
        },
        { name: "gpu-1" },
      ],
    },
  },
  {
    metadata: { name: "slice-of-all" },
    spec: { driver: "net.example.com", pool: { name: "all", generation: 0, resourceSliceCount: 2 }, allNodes: true },
  },
].map((body) => ({ collection: `${dra}/resourceslices`, body }));

const claims: readonly WireObject[] = [
  {
    collection: `${dra}/namespaces/team-000/resourceclaims`,
    body: {
      metadata: { name: "claim-a" },
      spec: {
        devices: {
          requests: [
            { name: "gpu", exactly: { deviceClassName: "gpu.nvidia.com", allocationMode: "ExactCount", count: 2 } },
          ],
        },
      },
    },
    status: {
      allocation: {
        devices: {
          results: [
            { request: "gpu", driver: "gpu.nvidia.com", pool: "node-0000", device: "gpu-0" },
            { request: "gpu", driver: "gpu.nvidia.com", pool: "node-0000", device: "gpu-1", adminAccess: false },
          ],
        },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["node-0000"] }] }],
        },
      },
      reservedFor: [
        { resource: "pods", name: "claims", uid: "00000000-0000-4000-8000-000000000003" },
        {
          apiGroup: "scheduling.k8s.io",
          resource: "podgroups",
          name: "g",
          uid: "00000000-0000-4000-8000-000000000004",
        },
      ],
    },
  },
  {
    collection: `${dra}/namespaces/team-000/resourceclaims`,
    body: {
      metadata: { name: "pending" },
      spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.nvidia.com" } }] } },
    },
  },
];

const namespaceAnnotations = {
  long: "x".repeat(1500),
  text: "größer 日本 🚢",
  "kubectl.kubernetes.io/last-applied-configuration": "{}",
};

export const wireObjects: readonly WireObject[] = [
  ...["team-000", "gpu-operator", "kai-resource-reservation"].map((name) => ({
    collection: `${core}/namespaces`,
    body: { metadata: { name, labels: { team: "vision" }, annotations: namespaceAnnotations } },
  })),
  {
    collection: "/apis/scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: { name: "batch-low" }, value: -1000, description: "may wait" },
  },
  {
    collection: "/apis/scheduling.k8s.io/v1/priorityclasses",
    body: { metadata: { name: "usual" }, value: 0, globalDefault: true },
  },
  {
    collection: "/apis/node.k8s.io/v1/runtimeclasses",
    body: {
      metadata: { name: "sandboxed" },
      handler: "sandboxed",
      overhead: { podFixed: { cpu: "250m", memory: "160Mi" } },
    },
  },
  ...nodes,
  ...budgets,
  ...slices,
  ...claims,
  ...wirePods,
];
