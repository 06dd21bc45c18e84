const model = "NVIDIA-H100-80GB-HBM3";

const node = (name: string): object => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, uid: `uid-${name}`, labels: { "nvidia.com/gpu.product": model } },
  status: {
    capacity: { "nvidia.com/gpu": "8", cpu: "96", memory: "1Ti", pods: "110" },
    allocatable: { "nvidia.com/gpu": "8", cpu: "96", memory: "1Ti", pods: "110" },
    conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-11-20T12:00:00Z" }],
  },
});

const replicaSet = (namespace: string, name: string): object => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { namespace, name, uid: `uid-${name}` },
  spec: { replicas: 1 },
});

const pod = (namespace: string, name: string, gpus: number, nodeName: string | null, started: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    namespace,
    name: `${name}-0`,
    uid: `uid-${name}-0`,
    creationTimestamp: started,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: `uid-${name}`, controller: true }],
  },
  spec: {
    ...(nodeName === null ? {} : { nodeName }),
    priority: 0,
    schedulerName: "default-scheduler",
    containers: [{ name: "main", resources: { limits: { "nvidia.com/gpu": String(gpus), cpu: "4", memory: "16Gi" } } }],
  },
  status:
    nodeName === null
      ? { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable" }] }
      : {
          phase: "Running",
          startTime: started,
          conditions: [
            { type: "PodScheduled", status: "True", lastTransitionTime: started },
            { type: "Ready", status: "True", lastTransitionTime: started },
          ],
          containerStatuses: [{ name: "main", ready: true, state: { running: { startedAt: started } } }],
        },
});

const budget = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  metadata: { namespace: "lab", name: "other", uid: "uid-other", generation: 1 },
  spec: { minAvailable: 1, selector: { matchLabels: { app: "other" } } },
  status: { disruptionsAllowed: 0, observedGeneration: 1 },
};

/**
 * What `kubectl get -o json` says about two nodes with 8 GPUs each: one GPU of the first and four of the second are in use, so
 * that a pod of 8 waits which would fit if the small one moved.
 */
export const fragmentedDump = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: [
    ...["gpu-a", "gpu-b"].map(node),
    replicaSet("vision", "eval"),
    replicaSet("vision", "serve"),
    replicaSet("vision", "train"),
    pod("vision", "eval", 1, "gpu-a", "2026-11-21T11:40:00Z"),
    pod("vision", "serve", 4, "gpu-b", "2026-11-21T06:00:00Z"),
    pod("vision", "train", 8, null, "2026-11-21T11:00:00Z"),
    budget,
  ],
});

/** The page of a node's dcgm-exporter: its first GPUs are allocated to a pod that is busy. */
export function dcgmPage(nodeName: string, pod: string, allocated: number): string {
  const lines = Array.from({ length: 8 }, (_, gpu) => {
    const device = `gpu="${gpu}",UUID="GPU-${nodeName}-${gpu}",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="${nodeName}"`;
    const holder = gpu < allocated ? `,container="main",namespace="vision",pod="${pod}"` : "";
    return `DCGM_FI_DEV_GPU_UTIL{${device}${holder}} ${gpu < allocated ? 90 : 0}`;
  });
  return `# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n${lines.join("\n")}\n`;
}
