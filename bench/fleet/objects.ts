import { type PodClass, widths } from "./layout.ts";
import { controllerFields, kubeletFields, managed, nodeFields } from "./managedFields.ts";
import { marker } from "./template.ts";

/** The fields of an object that differ between objects, as markers. */
const field = {
  node: marker("node", widths.node),
  team: marker("team", widths.team),
  podName: marker("podName", widths.podName),
  podUid: marker("podUid", widths.podUid),
  job: marker("job", widths.job),
  jobUid: marker("jobUid", widths.jobUid),
  version: marker("version", widths.version),
  ip: marker("ip", widths.ip),
} as const;

const created = "2026-11-20T08:00:00Z";
const started = "2026-11-20T08:00:20Z";

/** Requested GPUs of each class of pods. */
const gpusOf: Readonly<Record<PodClass, number>> = { exporter: 0, cpu: 0, gpu1: 1, gpu2: 2, gpu8: 8 };

/** A pod as an API server stores it: about 6 KB of JSON, a third of it managed fields. */
export function podObject(kind: PodClass): object {
  const isExporter = kind === "exporter";
  const gpus = gpusOf[kind];
  const namespace = isExporter ? "gpu-operator" : field.team;
  const extended = gpus === 0 ? {} : { "nvidia.com/gpu": String(gpus) };
  const owner = isExporter
    ? {
        apiVersion: "apps/v1",
        kind: "DaemonSet",
        name: "nvidia-dcgm-exporter",
        uid: "00000000-0000-4000-7000-000000000001",
      }
    : { apiVersion: "batch/v1", kind: "Job", name: field.job, uid: field.jobUid };
  const name = isExporter ? "exporter" : "trainer";
  const image = "registry.example.com/machine-learning/trainer:2026.11.3";
  return {
    metadata: {
      name: field.podName,
      generateName: `${isExporter ? "nvidia-dcgm-exporter" : field.job}-`,
      namespace,
      uid: field.podUid,
      resourceVersion: field.version,
      generation: 1,
      creationTimestamp: created,
      labels: labelsOf(kind),
      annotations: {
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "prometheus.io/scrape": "true",
        "sidecar.istio.io/inject": "false",
        "example.com/submitted-by": "pipeline-controller",
      },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      managedFields: [
        managed("kube-controller-manager", null, controllerFields),
        managed("kubelet", "status", kubeletFields),
      ],
    },
    spec: {
      volumes: [
        { name: "scratch", emptyDir: {} },
        { name: "shared-memory", emptyDir: { medium: "Memory" } },
        { name: "kube-api-access-x7k2p", projected: { defaultMode: 420 } },
      ],
      containers: [
        {
          name,
          image,
          command: ["/usr/bin/env", "python3", "-m", "torch.distributed.run"],
          args: ["--nproc-per-node=8", "--rdzv-backend=c10d", "train.py", "--config=/etc/train/config.yaml"],
          ports: [
            {
              name: isExporter ? "metrics" : "rendezvous",
              containerPort: isExporter ? exporterPort : 29500,
              protocol: "TCP",
            },
          ],
          env: environment,
          resources: {
            limits: { memory: "64Gi", ...extended },
            requests: { cpu: "8", memory: "64Gi", ...extended },
          },
          volumeMounts: [
            { name: "scratch", mountPath: "/scratch" },
            { name: "shared-memory", mountPath: "/dev/shm" },
            {
              name: "kube-api-access-x7k2p",
              readOnly: true,
              mountPath: "/var/run/secrets/kubernetes.io/serviceaccount",
            },
          ],
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          imagePullPolicy: "IfNotPresent",
        },
      ],
      restartPolicy: isExporter ? "Always" : "Never",
      terminationGracePeriodSeconds: 30,
      dnsPolicy: "ClusterFirst",
      nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
      serviceAccountName: "default",
      serviceAccount: "default",
      nodeName: field.node,
      securityContext: {},
      schedulerName: "default-scheduler",
      tolerations: [
        { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" },
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
        { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
      priorityClassName: "normal",
      priority: 1000,
      enableServiceLinks: true,
      preemptionPolicy: "PreemptLowerPriority",
    },
    status: {
      phase: "Running",
      conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map(
        (type) => ({
          type,
          status: "True",
          lastTransitionTime: started,
        }),
      ),
      hostIP: field.ip,
      hostIPs: [{ ip: field.ip }],
      podIP: field.ip,
      podIPs: [{ ip: field.ip }],
      startTime: created,
      containerStatuses: [
        {
          name,
          state: { running: { startedAt: started } },
          lastState: {},
          ready: true,
          restartCount: 0,
          image,
          imageID:
            "registry.example.com/machine-learning/trainer@sha256:5b0bcabd1ed22e9fb1310cf6c2dec7cdef19f0ad69efa1f392e94a4333501270",
          containerID: "containerd://8c7f0e5d2f3a4b6c9d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b3c",
          started: true,
        },
      ],
      qosClass: "Burstable",
    },
  };
}

/** The port that all exporters share: see `exporters.ts`. It is set once, before objects are made. */
let exporterPort = 9400;
export function useExporterPort(port: number): void {
  exporterPort = port;
}

function labelsOf(kind: PodClass): Readonly<Record<string, string>> {
  if (kind === "exporter") return { app: "nvidia-dcgm-exporter", "pod-template-generation": "1" };
  return {
    app: "trainer",
    team: field.team,
    "batch.kubernetes.io/job-name": field.job,
    "batch.kubernetes.io/controller-uid": field.jobUid,
    "kueue.x-k8s.io/queue-name": `${field.team}-queue`,
    "app.kubernetes.io/managed-by": "pipelines",
  };
}

/** A node with 8 GPUs and the labels of GPU Feature Discovery. */
export const nodeObject: object = {
  metadata: {
    name: field.node,
    uid: field.podUid,
    resourceVersion: field.version,
    creationTimestamp: created,
    labels: {
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/os": "linux",
      "kubernetes.io/hostname": field.node,
      "node.kubernetes.io/instance-type": "p5.48xlarge",
      "topology.kubernetes.io/zone": "zone-a",
      "nvidia.com/gpu.present": "true",
      "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
      "nvidia.com/gpu.count": "8",
      "nvidia.com/gpu.memory": "81559",
      "nvidia.com/gpu.replicas": "1",
      "nvidia.com/mig.strategy": "single",
    },
    annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
    managedFields: [{ ...managed("kubelet", "status", nodeFields) }],
  },
  spec: { podCIDR: "10.0.0.0/24", providerID: `bench:///${field.node}` },
  status: {
    capacity: { cpu: "192", memory: "2113508Mi", pods: "110", "nvidia.com/gpu": "8" },
    allocatable: { cpu: "190", memory: "2103508Mi", pods: "110", "nvidia.com/gpu": "8" },
    conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
      type,
      status: type === "Ready" ? "True" : "False",
      lastHeartbeatTime: started,
      lastTransitionTime: created,
      reason: `Kubelet${type}`,
      message: "kubelet is posting its status",
    })),
    addresses: [
      { type: "InternalIP", address: field.ip },
      { type: "Hostname", address: field.node },
    ],
    nodeInfo: {
      machineID: "ec2ab3d4f5a64b7c8d9e0f1a2b3c4d5e",
      systemUUID: "ec2ab3d4-f5a6-4b7c-8d9e-0f1a2b3c4d5e",
      bootID: field.podUid,
      kernelVersion: "6.8.0-1024",
      osImage: "Ubuntu 24.04.3 LTS",
      containerRuntimeVersion: "containerd://2.1.4",
      kubeletVersion: "v1.36.3",
      operatingSystem: "linux",
      architecture: "amd64",
    },
  },
};

export const namespaceObject: object = {
  metadata: {
    name: field.team,
    uid: field.podUid,
    resourceVersion: field.version,
    creationTimestamp: created,
    labels: { "kubernetes.io/metadata.name": field.team, team: field.team },
  },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
};

const environment = [
  ["MASTER_ADDR", field.job],
  ["MASTER_PORT", "29500"],
  ["WORLD_SIZE", "32"],
  ["NCCL_DEBUG", "WARN"],
  ["NCCL_SOCKET_IFNAME", "eth0"],
  ["PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"],
  ["OMP_NUM_THREADS", "8"],
  ["TEAM", field.team],
].map(([name, value]) => ({ name, value }));
