import fc from "fast-check";
import type { ClusterState, ResourceClaim, ResourceSlice } from "../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../exporter/model/node.ts";
import type { Pod } from "../../exporter/model/pod.ts";
import type { DeviceReading, TelemetryPage } from "../../exporter/model/telemetry.ts";
import {
  allocated,
  bareReading,
  claim,
  claimant,
  cluster,
  gfdLabels,
  gpuPod,
  instance,
  namespace,
  node,
  now,
  page,
  pod,
  slice,
  sliceGpu,
  sliceMig,
} from "./clusterBuilder.ts";

/** What a generated node and everything about it add to a cluster. */
interface Part {
  readonly node: ClusterNode;
  readonly pods: readonly Pod[];
  readonly rows: readonly DeviceReading[];
  readonly claims: readonly ResourceClaim[];
  readonly slices: readonly ResourceSlice[];
}

/** The random choices for one node; every mode takes what it needs from them. */
interface Choices {
  readonly name: string;
  readonly physicalGpus: number;
  readonly replicas: number;
  readonly amounts: readonly number[];
  readonly activities: readonly (number | null)[];
  /** By row: which pods it names, with slots; an index beyond the pods is a ghost. */
  readonly labels: readonly (readonly number[])[];
  readonly phases: readonly Pod["phase"][];
  readonly annotated: boolean;
}

const ratio = fc.oneof(fc.constantFrom(0, 0.05, 0.051, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const profiles = ["1g.10gb", "2g.20gb", "3g.40gb"] as const;
const product = "NVIDIA-A100-SXM4-80GB";
const podCount = 5;

const choices = (name: string): fc.Arbitrary<Choices> =>
  fc.record({
    name: fc.constant(name),
    physicalGpus: fc.integer({ min: 1, max: 4 }),
    replicas: fc.constantFrom(2, 3, 4),
    amounts: fc.oneof(
      { weight: 3, arbitrary: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: podCount, maxLength: podCount }) },
      { weight: 1, arbitrary: fc.constant([0, 0, 0, 0, 0]) },
    ),
    activities: fc.array(fc.option(ratio), { minLength: 12, maxLength: 12 }),
    labels: fc.array(fc.array(fc.integer({ min: 0, max: podCount + 1 }), { maxLength: 3 }), {
      minLength: 12,
      maxLength: 12,
    }),
    phases: fc.array(fc.constantFrom("Running", "Running", "Running", "Pending", "Succeeded", "Failed"), {
      minLength: podCount,
      maxLength: podCount,
    }),
    annotated: fc.boolean(),
  });

const podName = (c: Choices, i: number): string => `${c.name}-p${i}`;
const uuidOf = (c: Choices, physicalGpu: number): string => `GPU-${c.name.slice(1).padStart(8, "0")}-000${physicalGpu}`;

function labelled(c: Choices, row: DeviceReading, index: number): DeviceReading {
  const activity = c.activities[index % 12] ?? null;
  const pods = [...new Set(c.labels[index % 12] ?? [])];
  const signals =
    row.gpuInstance === null ? { smActive: activity, gpuUtil: activity } : { grEngineActive: activity, gpuUtil: null };
  return { ...row, ...signals, claimants: pods.map((i) => claimant(podName(c, i), { slots: 1 + (i % 2) })) };
}

function wholeRows(c: Choices): readonly DeviceReading[] {
  return Array.from({ length: c.physicalGpus }, (_, physicalGpu) =>
    labelled(c, bareReading(uuidOf(c, physicalGpu)), physicalGpu),
  );
}

function migRows(c: Choices): readonly DeviceReading[] {
  return Array.from({ length: c.physicalGpus }, (_, physicalGpu) => [
    labelled(c, instance(uuidOf(c, physicalGpu), "1", "3g.40gb", 0), 3 * physicalGpu),
    labelled(c, instance(uuidOf(c, physicalGpu), "2", "1g.10gb", 0), 3 * physicalGpu + 1),
    labelled(c, instance(uuidOf(c, physicalGpu), "3", "2g.20gb", 0), 3 * physicalGpu + 2),
  ]).flat();
}

function requesting(c: Choices, resourceOf: (i: number) => string): readonly Pod[] {
  return c.amounts
    .map((amount, i) => gpuPod(podName(c, i), c.name, amount, { phase: c.phases[i] ?? "Running" }, resourceOf(i)))
    .filter((_, i) => (c.amounts[i] ?? 0) > 0);
}

const nothing = { claims: [], slices: [] } as const;

/** What KAI's users and its binder write: a part, memory in each spelling, and memory that no GPU has. */
function kaiAnnotations(amount: number, uuid: string): Record<string, string> {
  const ofContainer = "nvidia.com/container.main.";
  if (amount === 4) return { "gpu-memory": "20480" };
  if (amount === 3) return { [`${ofContainer}gpu-memory.limit`]: "1000Gi" };
  const fraction = String(amount / 8 || 0.3333335);
  if (amount !== 2) return { "gpu-fraction": fraction };
  return {
    [`${ofContainer}gpu-memory.request`]: "20Gi",
    [`${ofContainer}gpu-compute.portion`]: fraction,
    [`${ofContainer}gpus.devices`]: uuid,
  };
}

const modes: readonly ((c: Choices) => Part)[] = [
  (c) => {
    const object = node(c.name, {
      capacity: { "nvidia.com/gpu": c.physicalGpus },
      labels: gfdLabels(c.physicalGpus, product),
    });
    return { node: object, pods: requesting(c, () => "nvidia.com/gpu"), rows: wholeRows(c), ...nothing };
  },
  (c) => {
    const name = c.annotated ? "nvidia.com/gpu.shared" : "nvidia.com/gpu";
    const labels = { ...gfdLabels(c.physicalGpus, product), "nvidia.com/gpu.replicas": String(c.replicas) };
    const object = node(c.name, { capacity: { [name]: c.physicalGpus * c.replicas }, labels });
    return { node: object, pods: requesting(c, () => name), rows: wholeRows(c), ...nothing };
  },
  (c) => {
    const labels = { ...gfdLabels(7 * c.physicalGpus, `${product}-MIG-1g.10gb`), "nvidia.com/mig.strategy": "single" };
    const object = node(c.name, { capacity: { "nvidia.com/gpu": 7 * c.physicalGpus }, labels });
    const rows = Array.from({ length: 7 * c.physicalGpus }, (_, i) =>
      labelled(c, instance(uuidOf(c, Math.floor(i / 7)), String(i % 7), "1g.10gb", 0), i),
    );
    return { node: object, pods: requesting(c, () => "nvidia.com/gpu"), rows, ...nothing };
  },
  (c) => {
    const capacity = Object.fromEntries(profiles.map((profile) => [`nvidia.com/mig-${profile}`, c.physicalGpus]));
    const labels = { ...gfdLabels(c.physicalGpus, product), "nvidia.com/gpu.replicas": "0" };
    const pods = requesting(c, (i) => `nvidia.com/mig-${profiles[i % 3]}`);
    return { node: node(c.name, { capacity, labels }), pods, rows: migRows(c), ...nothing };
  },
  (c) => {
    const devices = Array.from({ length: c.physicalGpus }, (_, i) => sliceGpu(`gpu-${i}`, uuidOf(c, i)));
    const migs = c.annotated ? [sliceMig("gpu-0-mig-1g10gb-19-0", uuidOf(c, 0), "1g.10gb")] : [];
    const claims = c.amounts.map((amount, i) => {
      const device = c.annotated && i === 0 ? "gpu-0-mig-1g10gb-19-0" : `gpu-${c.annotated ? 1 + (i % 3) : i}`;
      const pods = amount > 2 ? [podName(c, i), podName(c, (i + 1) % podCount)] : [podName(c, i)];
      return claim(`${c.name}-c${i}`, [allocated(c.name, device, { adminAccess: amount === 0 })], pods);
    });
    const pods = c.phases.map((phase, i) =>
      pod(podName(c, i), c.name, { phase, gpu: { claims: [{ claimName: `${c.name}-c${i}` }] } }),
    );
    return { node: node(c.name), pods, rows: wholeRows(c), claims, slices: [slice(c.name, [...devices, ...migs])] };
  },
  (c) => {
    const object = node(c.name, {
      capacity: { "nvidia.com/gpu": c.physicalGpus },
      labels: gfdLabels(c.physicalGpus, product),
    });
    const reservation = gpuPod(`r-${c.name}`, c.name, 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": `g-${c.name}` },
      annotations: c.annotated ? { "run.ai/reserve_for_gpu_index": uuidOf(c, 0) } : {},
    });
    const fractions = c.amounts.map((amount, i) =>
      pod(podName(c, i), c.name, {
        phase: c.phases[i] ?? "Running",
        labels: { "runai-gpu-group": `g-${c.name}` },
        annotations: kaiAnnotations(amount, uuidOf(c, i)),
      }),
    );
    return { node: object, pods: [reservation, ...fractions], rows: wholeRows(c), ...nothing };
  },
  (c) => {
    const physicalGpus = Array.from(
      { length: c.physicalGpus },
      (_, i) => `${uuidOf(c, i)},10,81920,100,NVIDIA-A100,0,true:`,
    );
    const annotations = { "hami.io/node-nvidia-register": physicalGpus.join("") };
    const object = node(c.name, {
      capacity: { "nvidia.com/gpu": 10 * c.physicalGpus },
      labels: gfdLabels(c.physicalGpus, product),
      annotations,
    });
    const pods = c.amounts.map((amount, i) =>
      gpuPod(podName(c, i), c.name, 1, {
        phase: c.phases[i] ?? "Running",
        annotations: {
          "hami.io/vgpu-devices-allocated": `${uuidOf(c, i % 4)},NVIDIA,${amount * 4096},${amount * 20}:;`,
        },
      }),
    );
    return { node: object, pods, rows: wholeRows(c), ...nothing };
  },
  (c) => {
    const object = node(c.name, {
      capacity: { "nvidia.com/gpu": c.physicalGpus + 1 },
      labels: gfdLabels(c.physicalGpus, product),
    });
    const other = { ...bareReading(`GPU-${c.name}-other`), modelName: "Tesla T4" };
    return {
      node: object,
      pods: requesting(c, () => "nvidia.com/gpu"),
      rows: [...wholeRows(c), labelled(c, other, 9)],
      ...nothing,
    };
  },
];

/** What can be wrong with a node or its page. */
const faults = fc.record({
  ready: fc.constantFrom(true, true, true, false, null),
  unschedulable: fc.boolean(),
  lostResources: fc.integer({ min: 0, max: 8 }),
  young: fc.boolean(),
  page: fc.constantFrom("fresh", "fresh", "fresh", "missing", "twice", "short"),
});

function suffer(
  part: Part,
  fault: typeof faults extends fc.Arbitrary<infer T> ? T : never,
): Part & { readonly pages: readonly TelemetryPage[] } {
  const { capacity } = part.node;
  const lost = fault.lostResources === 8 ? 1 : 0;
  const allocatable = Object.fromEntries(Object.entries(capacity).map(([name, n]) => [name, Math.max(0, n - lost)]));
  const { ready, unschedulable } = fault;
  const object = {
    ...part.node,
    ready,
    unschedulable,
    allocatable,
    createdAt: fault.young ? now - 60 : part.node.createdAt,
  };
  const rows = fault.page === "short" ? part.rows.slice(1) : part.rows;
  const whole = page(object.name, rows);
  const again = page(object.name, [...rows].reverse(), { target: "http://second/metrics", receivedAt: now - 20 });
  const pages = fault.page === "missing" ? [] : fault.page === "twice" ? [whole, again] : [whole];
  return { ...part, node: object, pages };
}

const nodePart = (index: number) =>
  fc
    .tuple(choices(`n${index}`), fc.constantFrom(...modes), faults)
    .map(([chosen, mode, fault]) => suffer(mode(chosen), fault));

const waitingPods = fc
  .array(fc.integer({ min: 1, max: 8 }), { maxLength: 3 })
  .map((amounts) => amounts.map((amount, i) => gpuPod(`waiting-${i}`, null, amount)));

type Kind = "nodes" | "pods" | "namespaces" | "resourceClaims" | "resourceSlices";

/** A kind that was not read is empty and not known. */
function without(state: ClusterState, kinds: readonly Kind[]): ClusterState {
  const emptied = Object.fromEntries(kinds.map((kind) => [kind, []]));
  return { ...state, ...emptied, known: new Set([...state.known].filter((kind) => !kinds.some((k) => k === kind))) };
}

const unread: fc.Arbitrary<readonly Kind[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.subarray<Kind>(["nodes", "pods", "namespaces", "resourceClaims", "resourceSlices"]) },
);

/** Clusters of up to five nodes in any mix of modes, with faults, stale labels, and pods in every phase; now and then without kinds that could not be read. */
export const anyCluster: fc.Arbitrary<ClusterState> = fc
  .tuple(fc.integer({ min: 1, max: 5 }), waitingPods, unread)
  .chain(([count, waiting, kinds]) =>
    fc.tuple(...Array.from({ length: count }, (_, i) => nodePart(i))).map((parts) =>
      without(
        cluster({
          nodes: parts.map((part) => part.node),
          pods: [...parts.flatMap((part) => part.pods), ...waiting],
          namespaces: [namespace("research", { team: "vision" })],
          resourceClaims: parts.flatMap((part) => part.claims),
          resourceSlices: parts.flatMap((part) => part.slices),
          telemetry: parts.flatMap((part) => part.pages),
        }),
        kinds,
      ),
    ),
  );
