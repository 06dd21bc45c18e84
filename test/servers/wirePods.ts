/** Pods with every field that Fairlead reads and oddities that the API allows. */

/** An object to make: where, what, and the status that is set afterwards. */
export interface WireObject {
  readonly collection: string;
  readonly body: {
    readonly metadata: { readonly name: string; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
  readonly status?: object;
}

const started = "2026-01-02T03:04:05Z";

const running = (name: string): object => ({
  name,
  ready: true,
  started: true,
  restartCount: 0,
  image: `registry.example/${name}:1.0`,
  imageID: `registry.example/${name}@sha256:${"ab".repeat(32)}`,
  containerID: `containerd://${"cd".repeat(32)}`,
  state: { running: { startedAt: started } },
});

const runningStatus = (ip: string, ...containers: readonly string[]): object => ({
  phase: "Running",
  podIP: ip,
  podIPs: [{ ip }],
  hostIP: "10.0.0.1",
  hostIPs: [{ ip: "10.0.0.1" }],
  startTime: started,
  conditions: ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: "True",
    lastTransitionTime: "2026-01-02T03:04:07Z",
  })),
  containerStatuses: containers.map(running),
});

const variables = Array.from({ length: 12 }, (_, index) => ({ name: `VARIABLE_${index}`, value: `value-${index}` }));
const probe = { httpGet: { path: "/healthz", port: 8080 }, initialDelaySeconds: 5, periodSeconds: 10 };
const token = {
  name: "kube-api-access",
  projected: {
    sources: [
      { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    ],
  },
};

function container(name: string, resources: object, more: object = {}): object {
  const volumeMounts = [{ name: "kube-api-access", mountPath: "/var/run/secrets", readOnly: true }];
  const ports = [{ name: "http", containerPort: 8080, protocol: "TCP" }];
  const image = `registry.example/${name}:1.0`;
  return { name, image, args: ["--verbose"], env: variables, ports, volumeMounts, resources, ...more };
}

function pod(namespace: string, name: string, metadata: object, spec: object, status?: object): WireObject {
  return {
    collection: `/api/v1/namespaces/${namespace}/pods`,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, ...metadata },
      spec: { nodeName: "node-0000", volumes: [token], ...spec },
    },
    ...(status === undefined ? {} : { status }),
  };
}

const workloadLabels = {
  app: "web-frontend",
  "app.kubernetes.io/name": "web-frontend",
  "app.kubernetes.io/instance": "web-frontend-production",
  "pod-template-hash": "7d4b9c8f6d",
  team: "vision",
};
const ownedBy = (apiVersion: string, kind: string, name: string): object => ({
  ownerReferences: [
    { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "00000000-0000-4000-8000-000000000001" },
    { apiVersion, kind, name, uid: "00000000-0000-4000-8000-000000000002", controller: true, blockOwnerDeletion: true },
  ],
});
const requests = { cpu: "250m", memory: "256Mi" };
const limits = { cpu: "1", memory: "1Gi" };
const gpus = (count: string): object => ({ limits: { "nvidia.com/gpu": count, cpu: "8", memory: "64Gi" } });

const requirement = (key: string, operator: string, ...values: readonly string[]): object =>
  values.length === 0 ? { key, operator } : { key, operator, values };
const required = (...nodeSelectorTerms: readonly object[]): object => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [requirement("zone", "In", "a")] } },
    ],
  },
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "web-frontend" } } },
    ],
  },
});
const gpuTaint = { key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" };

const around = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "zone", namespaces: ["team-001", "team-000"], labelSelector: { matchLabels: { tier: "cache" } } },
      { topologyKey: "rack", namespaceSelector: {}, labelSelector: {} },
    ],
  },
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        topologyKey: "host",
        labelSelector: { matchExpressions: [requirement("app", "NotIn", "a", "b")] },
        matchLabelKeys: ["team"],
      },
      { topologyKey: "host" },
    ],
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { app: "x" } } } },
    ],
  },
};
const hostPorts = [
  { name: "http", containerPort: 8080 },
  { name: "metrics", containerPort: 9100, hostPort: 9100, hostIP: "10.0.0.1" },
  { name: "dns", containerPort: 53, hostPort: 53, protocol: "UDP" },
];
const volumeClaimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** The pods that a benchmark multiplies. */
export const templatePods = { plain: "plain-000000", gpu: "train-000000" } as const;

export const wirePods: readonly WireObject[] = [
  pod(
    "team-000",
    templatePods.plain,
    {
      labels: workloadLabels,
      annotations: { "example.com/checksum": "a".repeat(64) },
      ...ownedBy("apps/v1", "ReplicaSet", "web"),
    },
    {
      containers: [
        container("main", { requests, limits }, { livenessProbe: probe, readinessProbe: probe }),
        container("log", { requests }),
      ],
      tolerations: [
        { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
      ],
    },
    runningStatus("10.1.0.1", "main", "log"),
  ),
  pod(
    "team-000",
    templatePods.gpu,
    {
      labels: { ...workloadLabels, "kueue.x-k8s.io/queue-name": "research", "batch.kubernetes.io/job-name": "train" },
      annotations: { "kueue.x-k8s.io/pod-group-total-count": "4", "example.com/unread": "b".repeat(200) },
      ...ownedBy("batch/v1", "Job", "train"),
    },
    {
      priorityClassName: "batch-low",
      schedulerName: "kai-scheduler",
      nodeSelector: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", zone: "" },
      containers: [container("trainer", gpus("8"))],
    },
    runningStatus("10.1.0.2", "trainer"),
  ),
  pod(
    "team-000",
    "init-and-sidecar",
    {},
    {
      initContainers: [
        container("setup", { requests: { cpu: "4", memory: "100M" } }),
        container("mesh", { requests: { cpu: "100m", memory: "0.5Gi" } }, { restartPolicy: "Always" }),
        container("late", { requests: { cpu: "1500m", memory: "1e9" } }),
      ],
      containers: [container("main", { limits: { cpu: "0.5", memory: "512Mi", "ephemeral-storage": "1Gi" } })],
    },
  ),
  pod(
    "team-000",
    "odd-quantities",
    {},
    {
      containers: [
        container("a", {
          limits: { cpu: "1.5", memory: "128974848" },
          requests: { cpu: "1e-1", memory: "123456789500m" },
        }),
        container("b", { limits: { memory: "1Ti", cpu: "12345678" } }),
        container("c", {
          requests: { "hugepages-2Mi": "4Mi", cpu: "1n", memory: "1Ki" },
          limits: { "hugepages-2Mi": "4Mi" },
        }),
      ],
    },
  ),
  pod(
    "team-000",
    "pod-level",
    {},
    {
      resources: { requests: { cpu: "3", memory: "3Gi" } },
      containers: [container("main", { requests: { cpu: "1", memory: "1Gi" } })],
    },
  ),
  pod(
    "team-000",
    "with-overhead",
    {},
    { runtimeClassName: "sandboxed", containers: [container("main", { requests })] },
  ),
  pod(
    "team-000",
    "best-effort",
    { labels: { empty: "" } },
    { containers: [container("main", {})] },
    { phase: "Succeeded" },
  ),
  pod(
    "team-000",
    "gated",
    {},
    {
      nodeName: undefined,
      schedulingGates: [{ name: "kueue.x-k8s.io/admission" }],
      containers: [container("main", gpus("1"))],
    },
  ),
  pod(
    "team-000",
    "gpu-in-init",
    {},
    {
      initContainers: [container("warm-up", { limits: { "nvidia.com/mig-1g.10gb": "2" } })],
      containers: [container("main", { requests })],
    },
  ),
  pod(
    "team-000",
    "never-started",
    { annotations: { "fairlead.dev/note": "größer 日本 🚢", "hami.io/vgpu-node": "node-0000" } },
    { containers: [container("main", gpus("1")), container("other", {})] },
    {
      phase: "Pending",
      startTime: started,
      containerStatuses: [
        {
          ...running("main"),
          state: { terminated: { exitCode: 128, startedAt: "1970-01-01T00:00:00Z", reason: "StartError" } },
        },
        {
          ...running("other"),
          state: { waiting: { reason: "ContainerCreating" } },
          lastState: { terminated: { exitCode: 1 } },
        },
      ],
    },
  ),
  pod(
    "team-000",
    "fraction",
    { annotations: { "gpu-fraction": "0.5", "gpu-memory": "" } },
    { containers: [container("main", { requests })] },
  ),
  pod(
    "team-000",
    "chosen-nodes",
    {},
    {
      nodeName: undefined,
      affinity: required(
        {
          matchExpressions: [
            requirement("nvidia.com/gpu.product", "In", "NVIDIA-H100-80GB-HBM3", "NVIDIA-H200"),
            requirement("example.com/generation", "Gt", "3"),
            requirement("example.com/broken", "DoesNotExist"),
          ],
          matchFields: [requirement("metadata.name", "NotIn", "node-0001")],
        },
        { matchExpressions: [requirement("zone", "Exists")] },
      ),
      tolerations: [
        gpuTaint,
        { key: "team", value: "vision" },
        { key: "team", operator: "Equal", value: "Speech_2.b", effect: "NoExecute", tolerationSeconds: 7 },
        { operator: "Exists", effect: "PreferNoSchedule" },
      ],
      containers: [container("main", gpus("1"))],
    },
  ),
  pod(
    "team-000",
    "named-node",
    {},
    {
      affinity: required({ matchFields: [requirement("metadata.name", "In", "node-0000")] }),
      tolerations: [{ operator: "Exists" }],
      containers: [container("main", gpus("1"))],
    },
  ),
  pod(
    "team-000",
    "disks",
    { annotations: { "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "scratch,socket" } },
    {
      containers: [container("main", gpus("1"))],
      volumes: [
        token,
        { name: "scratch", emptyDir: { sizeLimit: "1Gi" } },
        { name: "shm", emptyDir: { medium: "Memory", sizeLimit: "8Gi" } },
        { name: "settings", configMap: { name: "settings" } },
        { name: "models", persistentVolumeClaim: { claimName: "models" } },
        { name: "data", hostPath: { path: "/data", type: "Directory" } },
      ],
    },
  ),
  pod(
    "team-000",
    "no-disks",
    {
      annotations: {
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "scratch,socket",
        "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
        "descheduler.alpha.kubernetes.io/prefer-no-eviction": "",
        "karpenter.sh/do-not-disrupt": "true",
        "fairlead.dev/do-not-disrupt": "true",
        "fairlead.dev/checkpointed-at": "2026-01-02T03:04:05Z",
        "volcano.sh/last-checkpoint-time": "2026-01-02T03:04:05Z",
      },
    },
    {
      containers: [container("main", gpus("1"))],
      volumes: [
        token,
        { name: "shm", emptyDir: { medium: "Memory" } },
        { name: "scratch", emptyDir: {} },
        { name: "socket", hostPath: { path: "/run/socket" } },
      ],
    },
  ),
  pod(
    "team-000",
    "apart",
    { labels: workloadLabels },
    { affinity: around, containers: [container("main", gpus("1"))] },
  ),
  pod(
    "team-000",
    "apart-without-gpus",
    { labels: { ...workloadLabels, "apps.kubernetes.io/pod-index": "3" } },
    { affinity: around, containers: [container("main", { requests })] },
  ),
  pod(
    "team-000",
    "spread",
    { labels: workloadLabels },
    {
      topologySpreadConstraints: [
        {
          maxSkew: 2,
          minDomains: 3,
          topologyKey: "zone",
          whenUnsatisfiable: "DoNotSchedule",
          nodeAffinityPolicy: "Ignore",
          nodeTaintsPolicy: "Honor",
          matchLabelKeys: ["pod-template-hash"],
          labelSelector: { matchLabels: { app: "web-frontend" }, matchExpressions: [requirement("team", "Exists")] },
        },
        { maxSkew: 1, topologyKey: "host", whenUnsatisfiable: "DoNotSchedule" },
        { maxSkew: 1, topologyKey: "host", whenUnsatisfiable: "ScheduleAnyway", labelSelector: {} },
      ],
      containers: [container("main", gpus("1"))],
    },
  ),
  pod("team-000", "host-ports", {}, { containers: [container("main", gpus("1"), { ports: hostPorts })] }),
  pod(
    "team-000",
    "host-ports-without-gpus",
    {},
    { containers: [container("main", { requests }, { ports: hostPorts })] },
  ),
  pod(
    "team-000",
    "own-volumes",
    {},
    {
      containers: [container("main", gpus("1"))],
      volumes: [
        token,
        { name: "models", persistentVolumeClaim: { claimName: "models", readOnly: true } },
        { name: "again", persistentVolumeClaim: { claimName: "models" } },
        { name: "keys", csi: { driver: "secrets-store.csi.k8s.io", readOnly: true } },
        { name: "cache", csi: { driver: "cache.example.com" } },
        { name: "made", ephemeral: { volumeClaimTemplate: { spec: volumeClaimSpec } } },
        { name: "old", iscsi: { targetPortal: "10.0.0.9:3260", iqn: "iqn.2001-04.com.example:disk", lun: 0 } },
      ],
    },
  ),
  pod(
    "team-000",
    "claims-of-volumes",
    {},
    {
      containers: [container("main", gpus("1"))],
      volumes: [token, { name: "models", persistentVolumeClaim: { claimName: "models" } }],
    },
  ),
  pod(
    "team-000",
    "claimed-and-disk",
    {},
    {
      volumes: [token, { name: "scratch", emptyDir: {} }, { name: "shm", emptyDir: { medium: "Memory" } }],
      resourceClaims: [{ name: "own", resourceClaimName: "claim-a" }],
      containers: [container("main", { claims: [{ name: "own" }] })],
    },
  ),
  pod("kai-resource-reservation", "gpu-reservation", {}, { containers: [container("main", { requests })] }),
  pod(
    "team-000",
    "claims",
    {},
    {
      affinity: required({ matchExpressions: [requirement("zone", "NotIn", "b")] }),
      tolerations: [gpuTaint],
      resourceClaims: [
        { name: "own", resourceClaimName: "claim-a" },
        { name: "made", resourceClaimTemplateName: "template" },
        { name: "not-yet", resourceClaimTemplateName: "template" },
      ],
      containers: [container("main", { claims: [{ name: "own" }], limits: { "example.com/gpu": "1" } })],
    },
    {
      ...runningStatus("10.1.0.3", "main"),
      resourceClaimStatuses: [{ name: "made", resourceClaimName: "claims-made-x7k2p" }, { name: "not-yet" }],
      extendedResourceClaimStatus: {
        resourceClaimName: "claims-extended",
        requestMappings: [
          { containerName: "main", resourceName: "example.com/gpu", requestName: "container-0-request-0" },
        ],
      },
    },
  ),
  pod(
    "gpu-operator",
    "nvidia-dcgm-exporter-abcde",
    { labels: { app: "nvidia-dcgm-exporter" } },
    {
      containers: [
        container("exporter", {}, { ports: [{ name: "metrics", containerPort: 9400 }, { containerPort: 1 }] }),
      ],
    },
    runningStatus("10.1.0.4", "exporter"),
  ),
  pod(
    "gpu-operator",
    "nvidia-device-plugin-abcde",
    { labels: { app: "plugin" } },
    { containers: [container("main", {})] },
  ),
];
