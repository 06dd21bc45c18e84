import { describe, expect, it } from "vitest";
import {
  decodeNamespace,
  decodeNode,
  decodePodDisruptionBudget,
  decodePriorityClass,
} from "../../../exporter/sources/kubernetes/decodeCluster.ts";
import {
  decodeDeviceTaintRule,
  decodeResourceClaim,
  decodeResourceSlice,
} from "../../../exporter/sources/kubernetes/decodeDevices.ts";
import type { Decoded } from "../../../exporter/sources/kubernetes/decoded.ts";

/** The record as plain JSON: maps without prototype compare like others. */
function record(decoded: Decoded<unknown>): unknown {
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return JSON.parse(JSON.stringify(decoded.value));
}

describe("a node", () => {
  it("keeps extended resources, readiness, taints and the annotation of HAMi", () => {
    const node = {
      metadata: {
        name: "n",
        uid: "u",
        creationTimestamp: "2026-01-01T00:00:00Z",
        labels: { "nvidia.com/gpu.count": "8" },
        annotations: { "hami.io/node-nvidia-register": "GPU-1,10,...", "other/annotation": "x" },
      },
      spec: {
        unschedulable: true,
        taints: [
          { key: "nvidia.com/gpu", effect: "NoSchedule" },
          { key: "odd", effect: "Sometimes" },
        ],
      },
      status: {
        capacity: { cpu: "96", "nvidia.com/gpu": "8", "hugepages-2Mi": "0" },
        allocatable: { cpu: "95500m", memory: "1000Mi", "nvidia.com/gpu": "7" },
        nodeInfo: { bootID: "boot" },
        conditions: [
          { type: "MemoryPressure", status: "False" },
          { type: "Ready", status: "Unknown", lastTransitionTime: "2026-01-01T01:00:00Z" },
        ],
      },
    };
    expect(record(decodeNode(node))).toEqual({
      name: "n",
      uid: "u",
      bootId: "boot",
      createdAt: Date.UTC(2026, 0, 1) / 1000,
      labels: { "nvidia.com/gpu.count": "8" },
      annotations: { "hami.io/node-nvidia-register": "GPU-1,10,..." },
      taints: [{ key: "nvidia.com/gpu", value: "", effect: "NoSchedule" }],
      unschedulable: true,
      ready: false,
      readyChangedAt: Date.UTC(2026, 0, 1, 1) / 1000,
      capacity: { "nvidia.com/gpu": 8 },
      allocatable: { "nvidia.com/gpu": 7 },
      allocatableCpuMilli: 95500,
      allocatableMemoryBytes: 1000 * 2 ** 20,
      providerId: "",
    });
  });

  it("without status has unknown readiness and allocatable", () => {
    expect(record(decodeNode({ metadata: { name: "n" } }))).toMatchObject({
      uid: "/n",
      ready: null,
      readyChangedAt: null,
      allocatable: null,
      createdAt: null,
    });
  });
});

describe("a namespace", () => {
  it("keeps labels and annotations within limits, without what kubectl applied", () => {
    const annotations = {
      team: "vision",
      big: "x".repeat(3000),
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
    };
    const kept = record(decodeNamespace({ metadata: { name: "ns", labels: { a: "b" }, annotations } }));
    expect(kept).toEqual({ name: "ns", labels: { a: "b" }, annotations: { team: "vision", big: "x".repeat(1024) } });
  });
});

describe("a priority class", () => {
  it("has its value and whether it is the default", () => {
    const value = { metadata: { name: "high" }, value: -5, globalDefault: true };
    expect(record(decodePriorityClass(value))).toEqual({ name: "high", value: -5, globalDefault: true });
  });
});

describe("a pod disruption budget", () => {
  const budget = (spec: object, status: object): unknown =>
    record(decodePodDisruptionBudget({ metadata: { name: "b", namespace: "ns" }, spec, status }));

  it("keeps its selector", () => {
    const matchExpressions = [{ key: "tier", operator: "In", values: ["a", "b"] }];
    const spec = { selector: { matchLabels: { app: "x" }, matchExpressions } };
    expect(budget(spec, { observedGeneration: 1, disruptionsAllowed: 2 })).toEqual({
      namespace: "ns",
      name: "b",
      matchLabels: { app: "x" },
      matchExpressions,
      disruptionsAllowed: 2,
    });
  });

  it("selects everything by an empty selector, and nothing without one", () => {
    expect(budget({ selector: {} }, {})).toMatchObject({ matchLabels: {}, matchExpressions: [] });
    expect(budget({}, {})).toMatchObject({ matchExpressions: [{ operator: "In", values: [] }] });
  });

  it("does not know what is allowed before the controller has looked", () => {
    expect(budget({ selector: {} }, { disruptionsAllowed: 0 })).toMatchObject({ disruptionsAllowed: null });
  });
});

describe("a resource claim", () => {
  it("keeps what is allocated, for whom and where", () => {
    const results = [
      {
        request: "r",
        driver: "gpu.nvidia.com",
        pool: "n",
        device: "gpu-0",
        shareID: "s",
        consumedCapacity: { memory: "10Gi" },
      },
      { request: "r", driver: "gpu.nvidia.com", pool: "n", device: "gpu-1", adminAccess: true },
    ];
    const matchFields = [{ key: "metadata.name", operator: "In", values: ["node-a"] }];
    const claim = {
      metadata: { name: "c", namespace: "ns", uid: "u" },
      status: {
        allocation: { devices: { results }, nodeSelector: { nodeSelectorTerms: [{ matchFields }] } },
        reservedFor: [
          { resource: "pods", name: "p", uid: "p1" },
          { resource: "podgroups", apiGroup: "scheduling.k8s.io", name: "g", uid: "g1" },
        ],
      },
    };
    expect(record(decodeResourceClaim(claim))).toMatchObject({
      allocated: [
        { device: "gpu-0", adminAccess: false, shareId: "s", consumedCapacity: { memory: 10 * 2 ** 30 } },
        { device: "gpu-1", adminAccess: true, shareId: null, consumedCapacity: {} },
      ],
      reservedForPods: ["p1"],
      nodeName: "node-a",
    });
  });

  it("asks for devices in each version's own way", () => {
    const requests = [
      { name: "one", exactly: { deviceClassName: "gpu.nvidia.com", allocationMode: "ExactCount", count: 2 } },
      { name: "all", exactly: { deviceClassName: "gpu.nvidia.com", allocationMode: "All", adminAccess: true } },
      { name: "old", deviceClassName: "mig.nvidia.com" },
      {
        name: "any",
        firstAvailable: [
          { deviceClassName: "a", count: 1 },
          { deviceClassName: "b", count: 2 },
        ],
      },
      { name: "part", exactly: { deviceClassName: "gpu.nvidia.com", capacity: { requests: { memory: "10Gi" } } } },
    ];
    const claim = { metadata: { name: "c" }, spec: { devices: { requests } } };
    expect(record(decodeResourceClaim(claim))).toMatchObject({
      requests: [
        { deviceClasses: ["gpu.nvidia.com"], count: 2, adminAccess: false },
        { deviceClasses: ["gpu.nvidia.com"], count: null, adminAccess: true },
        { deviceClasses: ["mig.nvidia.com"], count: 1, adminAccess: false },
        { deviceClasses: ["a", "b"], count: null, adminAccess: false },
        // A part of one device: how large a part, only its slice says.
        { deviceClasses: ["gpu.nvidia.com"], count: null, adminAccess: false },
      ],
    });
  });

  it("not allocated yet has nothing", () => {
    const empty = { allocated: [], reservedForPods: [], nodeName: null };
    expect(record(decodeResourceClaim({ metadata: { name: "c" }, status: {} }))).toMatchObject(empty);
  });
});

describe("a resource slice", () => {
  const slice = (devices: readonly object[]): unknown =>
    record(
      decodeResourceSlice({
        metadata: { name: "s" },
        spec: {
          driver: "gpu.nvidia.com",
          nodeName: "n",
          pool: { name: "n", generation: 3, resourceSliceCount: 2 },
          devices,
        },
      }),
    );
  const attributes = {
    uuid: { string: "GPU-1" },
    "gpu.nvidia.com/index": { int: 0 },
    healthy: { bool: false },
    driverVersion: { version: "580.1.2" },
    "resource.kubernetes.io/pciBusID": { string: "0000:00:04.0" },
  };
  const expected = {
    name: "gpu-0",
    attributes: {
      uuid: "GPU-1",
      index: 0,
      healthy: false,
      driverVersion: "580.1.2",
      "resource.kubernetes.io/pciBusID": "0000:00:04.0",
    },
    capacity: { memory: 80 * 2 ** 30 },
    taints: [],
  };

  it.each([
    ["v1 and v1beta2", { name: "gpu-0", attributes, capacity: { memory: { value: "80Gi" } } }],
    ["v1beta1", { name: "gpu-0", basic: { attributes, capacity: { memory: { value: "80Gi" } } } }],
    ["the oldest form", { name: "gpu-0", basic: { attributes, capacity: { memory: "80Gi" } } }],
  ])("reads a device of %s", (_, device) => {
    expect(slice([device])).toMatchObject({
      driver: "gpu.nvidia.com",
      poolGeneration: 3,
      poolSliceCount: 2,
      devices: [expected],
    });
  });

  it("keeps taints that keep pods away, and of a node only the name", () => {
    const taints = [
      { key: "unhealthy", value: "xid", effect: "NoExecute", timeAdded: "2026-01-01T00:00:00Z" },
      { key: "info", effect: "None" },
    ];
    expect(slice([{ name: "gpu-0", taints }])).toMatchObject({
      nodeName: "n",
      devices: [{ taints: [{ key: "unhealthy", value: "xid", effect: "NoExecute" }] }],
    });
  });

  it("with a capacity that is no quantity is malformed", () => {
    const spec = { devices: [{ name: "d", capacity: { memory: { value: "much" } } }] };
    const decoded = decodeResourceSlice({ metadata: { name: "s" }, spec });
    expect(decoded).toMatchObject({ ok: false, problem: { subject: "ResourceSlice s" } });
  });
});

describe("a rule that taints devices", () => {
  const rule = (spec: object) => record(decodeDeviceTaintRule({ metadata: { name: "r" }, spec }));
  const taint = { key: "repair", value: "yes", effect: "NoExecute" };

  it("says what it selects, any where it names none", () => {
    expect(rule({ deviceSelector: { driver: "gpu.nvidia.com", pool: "n", device: "gpu-0" }, taint })).toEqual({
      name: "r",
      driver: "gpu.nvidia.com",
      pool: "n",
      device: "gpu-0",
      taint,
    });
    expect(rule({ taint })).toMatchObject({ driver: null, pool: null, device: null, taint });
  });

  it("keeps nothing away with effect None, or where expressions select", () => {
    expect(rule({ taint: { ...taint, effect: "None" } })).toMatchObject({ taint: null });
    expect(rule({ deviceSelector: { selectors: [{ cel: { expression: "true" } }] }, taint })).toMatchObject({
      taint: null,
    });
  });
});
