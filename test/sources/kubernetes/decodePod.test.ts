import { describe, expect, it } from "vitest";
import { type DecodedPod, decodePod, type PodProjection } from "../../../exporter/sources/kubernetes/decodePod.ts";
import { selectorProblems } from "../../../exporter/sources/kubernetes/exporterPods.ts";

const gpu = (count: string): object => ({ limits: { "nvidia.com/gpu": count } });

function decoded(parts: { metadata?: object; spec?: object; status?: object }, projection?: PodProjection): DecodedPod {
  const metadata = { name: "p", namespace: "ns", uid: "u", ...parts.metadata };
  const result = decodePod({ metadata, spec: parts.spec ?? {}, status: parts.status ?? {} }, projection);
  if (!result.ok) throw new Error(result.problem.message);
  return result.value;
}

const gpusOf = (spec: object): unknown => ({ ...decoded({ spec }).gpuPod?.gpu.resources });

describe("a pod's effective request", () => {
  it("sums containers, and takes limits where requests are missing", () => {
    const containers = [
      { name: "a", resources: { limits: { "nvidia.com/gpu": "2", cpu: "2" }, requests: { cpu: "500m" } } },
      { name: "b", resources: { requests: { "nvidia.com/gpu": "1", memory: "1Gi" } } },
    ];
    const { gpuPod } = decoded({ spec: { containers } });
    expect({ ...gpuPod?.gpu.resources }).toEqual({ "nvidia.com/gpu": 3 });
    expect(gpuPod).toMatchObject({ cpuMilli: 500, memoryBytes: 2 ** 30 });
  });

  it("is the larger of what runs and what an init container needs with the sidecars before it", () => {
    const sidecar = { name: "s", restartPolicy: "Always", resources: gpu("1") };
    const init = { name: "i", resources: gpu("4") };
    const containers = [{ name: "c", resources: gpu("2") }];
    expect(gpusOf({ initContainers: [sidecar, init], containers })).toEqual({ "nvidia.com/gpu": 5 });
    expect(gpusOf({ initContainers: [init, sidecar], containers })).toEqual({ "nvidia.com/gpu": 4 });
    expect(gpusOf({ initContainers: [sidecar], containers })).toEqual({ "nvidia.com/gpu": 3 });
  });

  it("adds overhead, and takes requests of the whole pod instead of the containers'", () => {
    const containers = [{ name: "c", resources: { requests: { cpu: "1", memory: "1Gi" } } }];
    const overhead = { cpu: "250m", memory: "1Mi" };
    const { pod } = decoded({ spec: { containers, overhead, resources: { requests: { cpu: "3" } } } });
    expect(pod).toMatchObject({ cpuMilli: 3250, memoryBytes: 2 ** 30 + 2 ** 20 });
  });
});

describe("a pod with GPUs", () => {
  it.each([
    ["a GPU resource", { spec: { containers: [{ name: "c", resources: gpu("1") }] } }],
    [
      "a MIG resource",
      { spec: { containers: [{ name: "c", resources: { limits: { "nvidia.com/mig-1g.10gb": 1 } } }] } },
    ],
    ["a claim", { spec: { resourceClaims: [{ name: "gpu", resourceClaimName: "x" }] } }],
    ["an extended resource claim", { status: { extendedResourceClaimStatus: { resourceClaimName: "x" } } }],
    ["a fraction by KAI", { metadata: { annotations: { "gpu-fraction": "0.5" } } }],
    ["memory by KAI", { metadata: { annotations: { "gpu-memory": "2000" } } }],
    [
      "memory of a container by KAI",
      { metadata: { annotations: { "nvidia.com/container.main.gpu-memory.limit": "8Gi" } } },
    ],
    [
      "an allocation by HAMi",
      { metadata: { annotations: { "hami.io/vgpu-devices-allocated": "GPU-1,NVIDIA,1,1:;" } } },
    ],
    ["a place among reservations", { metadata: { namespace: "kai-resource-reservation" } }],
  ])("is known by %s", (_, parts) => {
    expect(decoded(parts).gpuPod).not.toBeNull();
  });

  it("is not one that asks for none, for memory only, or for another vendor's unknown resource", () => {
    for (const limits of [{ "nvidia.com/gpu": "0" }, { "nvidia.com/gpumem": "3000" }, { "example.com/gpu": "1" }]) {
      expect(decoded({ spec: { containers: [{ name: "c", resources: { limits } }] } }).gpuPod).toBeNull();
    }
  });

  it("is one that asks for a resource which configuration names", () => {
    const projection = { gpuResources: new Set(["example.com/gpu"]), exporters: [] };
    const spec = { containers: [{ name: "c", resources: { limits: { "example.com/gpu": "2" } } }] };
    expect({ ...decoded({ spec }, projection).gpuPod?.gpu.resources }).toEqual({ "example.com/gpu": 2 });
  });

  it("keeps what Fairlead uses of a running training pod", () => {
    const { pod, gpuPod } = decoded({
      metadata: {
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { "kueue.x-k8s.io/queue-name": "q" },
        annotations: { "fairlead.dev/progress-units": "7", "other.dev/secret": "x", "gpu-fraction": "y".repeat(5000) },
        ownerReferences: [
          { apiVersion: "v1", kind: "Extra", name: "e", uid: "e" },
          { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j1", controller: true },
        ],
      },
      spec: {
        nodeName: "node-a",
        priority: 100,
        priorityClassName: "high",
        schedulerName: "kai-scheduler",
        containers: [{ name: "main", resources: gpu("8") }],
        initContainers: [{ name: "side", restartPolicy: "Always" }, { name: "once" }],
        resourceClaims: [
          { name: "own", resourceClaimName: "shared" },
          { name: "made", resourceClaimTemplateName: "t" },
          { name: "unmade", resourceClaimTemplateName: "t" },
        ],
      },
      status: {
        phase: "Running",
        startTime: "2026-01-01T00:05:00Z",
        conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "2026-01-01T00:04:00Z" }],
        containerStatuses: [{ name: "main", state: { running: { startedAt: "2026-01-01T00:06:00Z" } } }],
        initContainerStatuses: [{ name: "side", state: { running: {} } }],
        resourceClaimStatuses: [{ name: "made", resourceClaimName: "p-made-abc" }],
      },
    });
    expect(pod).toEqual({
      uid: "u",
      namespace: "ns",
      nodeName: "node-a",
      phase: "Running",
      cpuMilli: 0,
      memoryBytes: 0,
      labels: "",
      placement: null,
    });
    expect(gpuPod).toMatchObject({
      createdAt: Date.UTC(2026, 0, 1) / 1000,
      scheduledAt: Date.UTC(2026, 0, 1, 0, 4) / 1000,
      allContainersStarted: true,
      gated: false,
      priority: 100,
      priorityClassName: "high",
      schedulerName: "kai-scheduler",
      nodeSelector: {},
      owner: { apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j1" },
      gpu: {
        claims: [{ claimName: "shared" }, { claimName: "p-made-abc" }, { claimName: null }],
        extendedResourceClaim: null,
      },
    });
    expect(Object.keys(gpuPod?.annotations ?? {}).sort()).toEqual(["fairlead.dev/progress-units", "gpu-fraction"]);
    expect(gpuPod?.annotations["gpu-fraction"]).toHaveLength(4096);
  });

  it.each([
    ["is waiting", { waiting: { reason: "ContainerCreating" } }, false],
    ["could not be started", { terminated: { startedAt: "1970-01-01T00:00:00Z", reason: "StartError" } }, false],
    ["has ended", { terminated: { startedAt: "2026-01-01T00:00:00Z" } }, true],
  ])("whose container %s", (_, state, started) => {
    const spec = { containers: [{ name: "c", resources: gpu("1") }], schedulingGates: [{ name: "g" }] };
    const { gpuPod } = decoded({ spec, status: { containerStatuses: [{ name: "c", state }] } });
    expect(gpuPod).toMatchObject({ allContainersStarted: started, gated: true, phase: "Pending", scheduledAt: null });
  });

  it("cannot smuggle a prototype in by a label", () => {
    const labels = JSON.parse('{"__proto__": "x", "constructor": "y"}');
    const { gpuPod } = decoded({ metadata: { labels }, spec: { resourceClaims: [{ name: "c" }] } });
    expect(Object.keys(gpuPod?.labels ?? {})).toEqual(["constructor"]);
    expect(gpuPod?.labels.toString).toBeUndefined();
  });
});

describe("a malformed pod", () => {
  it.each([
    [{ spec: 7 }, "spec is 7, expected an object"],
    [
      { spec: { containers: [{ resources: { limits: { "nvidia.com/gpu": "many" } } }] } },
      /spec\.containers\[0\]\.resources\.limits\["nvidia.com\/gpu"\] is "many"/,
    ],
    [{ spec: { containers: {} } }, "spec.containers is an object, expected a list"],
    [
      { spec: { nodeName: 1, resourceClaims: [{ name: "x" }], priority: "high" } },
      /spec\.nodeName is 1.*spec\.priority is "high"/,
    ],
  ])("gives a problem that names it and the place: %j", (parts, expected) => {
    const result = decodePod({ metadata: { name: "p", namespace: "ns" }, ...parts });
    if (result.ok) throw new Error("it was taken");
    expect(result.problem).toMatchObject({ code: "malformed-object", subject: "Pod ns/p" });
    expect(result.problem.message).toMatch(expected);
  });

  it.each([[null], [7], ["pod"], [[]], [{}], [{ metadata: { name: 7 } }]])("%j is no pod", (value) => {
    expect(decodePod(value).ok).toBe(false);
  });
});

describe("an exporter pod", () => {
  const projection = {
    gpuResources: new Set<string>(),
    exporters: [{ namespaces: ["gpu-operator"], matchLabels: { app: "nvidia-dcgm-exporter" } }],
  };
  const parts = {
    metadata: { namespace: "gpu-operator", labels: { app: "nvidia-dcgm-exporter" } },
    spec: { nodeName: "node-a", containers: [{ name: "c", ports: [{ name: "metrics", containerPort: 9400 }] }] },
    status: { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "True" }] },
  };

  it("is found by label in the namespaces named, with its ports", () => {
    const { exporterPod } = decoded(parts, projection);
    expect(exporterPod).toMatchObject({ nodeName: "node-a", podIp: "10.0.0.7", ready: true });
    expect({ ...exporterPod?.ports }).toEqual({ metrics: 9400 });
  });

  it("is not taken by a selector without labels, which would take every pod", () => {
    const all = { ...projection, exporters: [{ namespaces: ["gpu-operator"], matchLabels: {} }] };
    expect(decoded(parts, all).exporterPod).toBeNull();
    expect(selectorProblems(all.exporters).map(({ code }) => code)).toEqual(["bad-selector"]);
    expect(selectorProblems(projection.exporters)).toEqual([]);
  });

  it("says whether it is one of devices, or of what processes of pods use", () => {
    const ofProcesses = {
      ...projection,
      exporters: projection.exporters.map((one) => ({ ...one, isOfProcesses: true })),
    };
    expect(decoded(parts, projection).exporterPod).not.toHaveProperty("isOfProcesses");
    expect(decoded(parts, ofProcesses).exporterPod).toMatchObject({ isOfProcesses: true });
  });

  it("is matched by the selector of its own namespace only", () => {
    const other = { namespaces: ["user"], matchLabels: { app: "other" } };
    const both = { ...projection, exporters: [...projection.exporters, other] };
    const inUser = { ...parts, metadata: { ...parts.metadata, namespace: "user" } };
    expect(decoded(inUser, both).exporterPod).toBeNull();
    expect(
      decoded({ ...inUser, metadata: { namespace: "user", labels: { app: "other" } } }, both).exporterPod,
    ).not.toBeNull();
  });

  it.each([
    ["in another namespace", { metadata: { ...parts.metadata, namespace: "user" } }],
    ["with another label", { metadata: { ...parts.metadata, labels: { app: "x" } } }],
    ["without an address", { status: { phase: "Pending" } }],
    ["that has ended", { status: { ...parts.status, phase: "Failed" } }],
    ["that is being deleted", { metadata: { ...parts.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ])("is none %s", (_, other) => {
    expect(decoded({ ...parts, ...other }, projection).exporterPod).toBeNull();
  });
});

describe("GPUs that the kubelet reports as unhealthy", () => {
  const reported = (resources: readonly object[], name = "nvidia.com/gpu"): unknown =>
    decoded({
      spec: { containers: [{ name: "c", resources: gpu("2") }] },
      status: { containerStatuses: [{ name: "c", allocatedResourcesStatus: [{ name, resources }] }] },
    }).gpuPod?.gpu.unhealthy;

  it("are those with this health, once each, and replicas by the UUID of their GPU", () => {
    expect(
      reported([
        { resourceID: "GPU-1", health: "Unhealthy", message: "XID 94" },
        { resourceID: "GPU-1::3", health: "Unhealthy" },
        { resourceID: "GPU-2", health: "Healthy" },
      ]),
    ).toEqual(["GPU-1"]);
  });

  it("are MIG instances by their own UUID", () => {
    expect(reported([{ resourceID: "MIG-1", health: "Unhealthy" }], "nvidia.com/mig-1g.10gb")).toEqual(["MIG-1"]);
  });

  it("are claimed devices by the name that the kubelet has for them", () => {
    const cdi = "k8s.gpu.nvidia.com/claim=dab5ab50-d59a-42a6-af16-cfd4628c0f7a-gpu-0";
    const resources = [
      { resourceID: cdi, health: "Unhealthy" },
      { resourceID: "gpu.nvidia.com/node/a/gpu-1", health: "Unhealthy" },
      { resourceID: "gpu.nvidia.com/n/gpu-2", health: "Healthy" },
      { resourceID: "gpu.nvidia.com/n/gpu-3", health: "Unknown" },
      { resourceID: "gpu.nvidia.com/n/gpu 4\n", health: "Unhealthy" },
      { resourceID: `gpu.nvidia.com/${"n".repeat(700)}`, health: "Unhealthy" },
    ];
    expect(reported(resources, "claim:gpu/one")).toEqual([cdi, "gpu.nvidia.com/node/a/gpu-1"]);
  });

  it.each([
    ["Unknown says that nobody reports", [{ resourceID: "GPU-1", health: "Unknown" }]],
    ["no health at all", [{ resourceID: "GPU-1" }]],
    ["a device that is no GPU by its name", [{ resourceID: "claim=1-gpu-0", health: "Unhealthy" }]],
    ["a claimed device under the name of a resource", [{ resourceID: "gpu.nvidia.com/n/gpu-0", health: "Unhealthy" }]],
    ["text that is no name", [{ resourceID: "GPU-1\nGPU-2", health: "Unhealthy" }]],
    ["nothing", []],
  ])("are none: %s", (_why, resources) => {
    expect(reported(resources)).toBeUndefined();
  });
});

describe("the address of a pod with GPUs", () => {
  const projection: PodProjection = {
    gpuResources: new Set(),
    exporters: [],
    servers: [{ namespaces: ["chat"], matchLabels: { app: "vllm" } }],
  };
  const parts = {
    metadata: {
      namespace: "chat",
      labels: { app: "vllm" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8000", "prometheus.io/path": "/metrics" },
    },
    spec: {
      nodeName: "n",
      containers: [{ name: "c", resources: gpu("1"), ports: [{ name: "http", containerPort: 8000 }] }],
    },
    status: { phase: "Running", podIP: "10.1.2.3" },
  };
  const addressOf = (changes: object, by: PodProjection = projection) =>
    decoded({ ...parts, ...changes }, by).gpuPod?.address;

  it("is kept where its server is asked for metrics, with its ports and what its annotations say", () => {
    const { gpuPod } = decoded(parts, projection);
    expect(gpuPod?.address?.ip).toBe("10.1.2.3");
    expect({ ...gpuPod?.address?.ports }).toEqual({ http: 8000 });
    expect({ ...gpuPod?.annotations }).toEqual(parts.metadata.annotations);
  });

  it("is kept of every pod with GPUs of a namespace whose rule asks for no label", () => {
    const all = { ...projection, servers: [{ namespaces: ["chat"], matchLabels: {} }] };
    expect(addressOf({ metadata: { namespace: "chat" } }, all)?.ip).toBe("10.1.2.3");
  });

  it.each<readonly [string, object]>([
    ["in another namespace", { metadata: { ...parts.metadata, namespace: "train" } }],
    ["with other labels", { metadata: { ...parts.metadata, labels: { app: "web" } } }],
    ["that does not run", { status: { ...parts.status, phase: "Succeeded" } }],
    ["without an address", { status: { phase: "Running" } }],
    ["that is being deleted", { metadata: { ...parts.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }],
  ])("is not kept of a pod %s", (_case, changes) => {
    expect(addressOf(changes)).toBeUndefined();
  });

  it("is not kept of anything by default", () => {
    expect(addressOf({}, { gpuResources: new Set(), exporters: [] })).toBeUndefined();
  });
});
