import fc from "fast-check";
import type { ClusterState, OwnerObject } from "../../../exporter/model/cluster.ts";
import type { ClusterNode } from "../../../exporter/model/node.ts";
import type { Pod } from "../../../exporter/model/pod.ts";
import { noQueueObjects, type QueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import type { DeviceReading } from "../../../exporter/model/telemetry.ts";
import { account, listed } from "../../analysis/prices/priceBuilder.ts";
import { kaiGroup, kaiQueue, volcanoGroup, volcanoQueue } from "../../queues/groupRows.ts";
import { admission, clusterQueue, flavor, localQueue, podSet, quota, workload } from "../../queues/kueueRows.ts";
import {
  bareReading,
  claimant,
  cluster,
  gpuNode,
  gpuPod,
  namespace,
  node,
  now,
  owner,
  ownerRef,
  page,
  pod,
} from "../clusterBuilder.ts";

/** Whose queues the cluster has; `none`: teams are the queues. */
export type QueueSystemName = "kueue" | "kai" | "volcano" | "none";

const tenants = ["alpha", "beta"] as const;
const units = 10;
const gpuResource = "nvidia.com/gpu";

/** What is generated of a cluster that two honest teams share. */
const choices = fc.record({
  system: fc.constantFrom<QueueSystemName>("kueue", "kai", "volcano", "none"),
  nodes: fc.array(
    fc.record({
      physicalGpus: fc.constantFrom(2, 4),
      isShared: fc.boolean(),
      page: fc.constantFrom("named", "bare", "none"),
    }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  jobs: fc.array(
    fc.record({
      tenant: fc.constantFrom(...tenants),
      node: fc.nat(2),
      gpus: fc.integer({ min: 1, max: 3 }),
      activity: fc.constantFrom(0, 0.4, 1),
      isFraction: fc.boolean(),
    }),
    { maxLength: 6 },
  ),
  waiting: fc.array(fc.record({ tenant: fc.constantFrom(...tenants), gpus: fc.integer({ min: 1, max: 4 }) }), {
    maxLength: 3,
  }),
  quotas: fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 })),
});

type Choices = typeof choices extends fc.Arbitrary<infer T> ? T : never;

/** A cluster of honest teams, and what a tenant may see or guess of it. */
export interface SharedCluster {
  readonly system: QueueSystemName;
  readonly state: ClusterState;
  /** Units of `nvidia.com/gpu` that nobody has requested, by node. */
  readonly free: ReadonlyMap<string, number>;
  /** UUIDs of GPUs that nobody has anything of, by node. */
  readonly freeGpus: ReadonlyMap<string, readonly string[]>;
  /** Nodes whose GPUs HAMi shares. */
  readonly shared: ReadonlySet<string>;
  readonly uuids: readonly string[];
  readonly queues: readonly string[];
  readonly groups: readonly string[];
  readonly jobs: readonly OwnerObject[];
}

const uuidOf = (at: number, physicalGpu: number): string => `GPU-0000000${at}-000${physicalGpu}`;

function nodeOf({ isShared, physicalGpus }: Choices["nodes"][number], at: number): ClusterNode {
  const name = `n${at}`;
  if (!isShared) return gpuNode(name, physicalGpus);
  const register = Array.from(
    { length: physicalGpus },
    (_, physicalGpu) => `${uuidOf(at, physicalGpu)},${units},81920,100,NVIDIA-H100,0,true:`,
  );
  return node(name, {
    capacity: { [gpuResource]: physicalGpus * units },
    labels: { "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3" },
    annotations: { "hami.io/node-nvidia-register": register.join("") },
  });
}

/** Who places honest pods. */
export const schedulers = {
  kueue: "default-scheduler",
  none: "default-scheduler",
  kai: "kai-scheduler",
  volcano: "volcano",
} as const;

/** What honest work of a system says about its queue. */
function wordsOf(
  system: QueueSystemName,
  tenant: string,
  name: string,
): Pick<Pod, "labels" | "annotations" | "schedulerName"> {
  const schedulerName = schedulers[system];
  if (system === "kueue")
    return {
      schedulerName,
      labels: { "kueue.x-k8s.io/cluster-queue-name": `${tenant}-q` },
      annotations: { "kueue.x-k8s.io/workload": name },
    };
  if (system === "kai")
    return { schedulerName, labels: { "kai.scheduler/queue": `${tenant}-q` }, annotations: { "pod-group-name": name } };
  if (system === "volcano") return { schedulerName, labels: {}, annotations: { "scheduling.k8s.io/group-name": name } };
  return { schedulerName, labels: {}, annotations: {} };
}

interface Placed {
  readonly name: string;
  readonly tenant: string;
  readonly gpus: number;
  readonly job: OwnerObject;
  readonly pods: readonly Pod[];
}

function build(chosen: Choices): SharedCluster {
  const { system } = chosen;
  const nodes = chosen.nodes.map(nodeOf);
  const free: number[] = chosen.nodes.map(({ physicalGpus }) => physicalGpus);
  const rows: DeviceReading[][] = chosen.nodes.map(() => []);
  const groups: string[] = [];
  const placed = chosen.jobs.flatMap((one, i): readonly Placed[] => {
    const at = one.node % nodes.length;
    const name = `job-${i}`;
    const { tenant } = one;
    const isShared = chosen.nodes[at]?.isShared === true;
    const isFraction = one.isFraction && system === "kai" && !isShared;
    const gpus = isFraction ? 1 : one.gpus;
    if ((free[at] ?? 0) < gpus) return [];
    const first = (chosen.nodes[at]?.physicalGpus ?? 0) - (free[at] ?? 0);
    free[at] = (free[at] ?? 0) - gpus;
    const taken = Array.from({ length: gpus }, (_, k) => uuidOf(at, first + k));
    const job = owner("Job", name, null, { namespace: tenant, apiVersion: "batch/v1" });
    const words = wordsOf(system, tenant, name);
    const parts = { namespace: tenant, owner: ownerRef(job), ...words };
    const hami = { "hami.io/vgpu-devices-allocated": `${taken.map((uuid) => `${uuid},NVIDIA,81920,0`).join(":")}:;` };
    const named = (podName: string, of: string): void => {
      for (const uuid of taken)
        rows[at]?.push(
          bareReading(uuid, { smActive: one.activity, claimants: [claimant(podName, { namespace: of })] }),
        );
    };
    if (!isFraction) {
      named(name, tenant);
      const annotations = isShared ? { ...words.annotations, ...hami } : words.annotations;
      return [{ name, tenant, gpus, job, pods: [gpuPod(name, `n${at}`, gpus, { ...parts, annotations })] }];
    }
    const group = `group-${i}`;
    groups.push(group);
    const labels = { ...words.labels, "runai-gpu-group": group };
    const reservation = gpuPod(`gpu-reservation-${i}`, `n${at}`, 1, {
      namespace: "kai-resource-reservation",
      labels: { "runai-gpu-group": group },
      annotations: { "run.ai/reserve_for_gpu_index": taken[0] ?? "" },
    });
    named(reservation.name, reservation.namespace);
    const annotations = { ...words.annotations, "gpu-fraction": "0.5" };
    const fractions = [`${name}-a`, `${name}-b`].map((podName) =>
      pod(podName, `n${at}`, { ...parts, labels, annotations }),
    );
    return [{ name, tenant, gpus, job, pods: [reservation, ...fractions] }];
  });
  const telemetry = chosen.nodes.flatMap(({ page: kind, physicalGpus }, at) => {
    if (kind === "none") return [];
    const known = new Map((rows[at] ?? []).map((row) => [row.uuid, row] as const));
    const all = Array.from({ length: physicalGpus }, (_, physicalGpu) => {
      const row = known.get(uuidOf(at, physicalGpu)) ?? bareReading(uuidOf(at, physicalGpu), { smActive: 0 });
      return kind === "bare" ? { ...row, claimants: [] } : row;
    });
    return [page(`n${at}`, all)];
  });
  return {
    system,
    state: cluster({
      nodes,
      telemetry,
      pods: placed.flatMap(({ pods }) => pods),
      owners: placed.map(({ job }) => job),
      namespaces: [...tenants, "evil"].map((name) => namespace(name, { team: name })),
      queues: queuesOf(chosen, placed),
      prices: account([listed()]),
    }),
    free: new Map(
      chosen.nodes.map(({ isShared, physicalGpus }, at) => [
        `n${at}`,
        isShared ? physicalGpus * units - (physicalGpus - (free[at] ?? 0)) : (free[at] ?? 0),
      ]),
    ),
    freeGpus: new Map(
      chosen.nodes.map(({ physicalGpus }, at) => [
        `n${at}`,
        Array.from({ length: free[at] ?? 0 }, (_, i) => uuidOf(at, physicalGpus - (free[at] ?? 0) + i)),
      ]),
    ),
    shared: new Set(chosen.nodes.flatMap(({ isShared }, at) => (isShared ? [`n${at}`] : []))),
    uuids: chosen.nodes.flatMap(({ physicalGpus }, at) =>
      Array.from({ length: physicalGpus }, (_, physicalGpu) => uuidOf(at, physicalGpu)),
    ),
    queues: tenants.map((name) => `${name}-q`),
    groups,
    jobs: placed.map(({ job }) => job),
  };
}

function queuesOf({ system, quotas, waiting }: Choices, placed: readonly Placed[]): QueueObjects {
  const named = tenants.map((tenant, i) => ({ tenant, name: `${tenant}-q`, quota: quotas[i] ?? 0 }));
  if (system === "kueue") {
    const preemption = { reclaimWithinCohort: "Any", withinClusterQueue: "Never", borrowWithinCohort: "Never" };
    return {
      ...noQueueObjects,
      kueueResourceFlavors: [flavor("any")],
      kueueClusterQueues: named.map(({ name, quota: own }) =>
        clusterQueue(name, [quota("any", own)], { cohort: "all", preemption }),
      ),
      kueueLocalQueues: named.map(({ tenant, name }) => localQueue("main", name, { namespace: tenant })),
      kueueWorkloads: [
        ...placed.map(({ name, tenant, gpus, job }) =>
          workload(name, [podSet(1, gpus)], {
            namespace: tenant,
            localQueue: "main",
            owner: ownerRef(job),
            ...admission(`${tenant}-q`, "any", 1, gpus),
          }),
        ),
        ...waiting.map(({ tenant, gpus }, i) =>
          workload(`waits-${i}`, [podSet(1, gpus)], {
            namespace: tenant,
            localQueue: "main",
            createdAt: now - 900 - i,
          }),
        ),
      ],
    };
  }
  if (system === "kai")
    return {
      ...noQueueObjects,
      kaiQueues: named.map(({ name, quota: own }) =>
        kaiQueue(name, { gpu: { quota: own, overQuotaWeight: 1, limit: -1 } }),
      ),
      kaiPodGroups: [
        ...placed.map(({ name, tenant, job }) =>
          kaiGroup(name, `${tenant}-q`, { namespace: tenant, uid: `uid-${name}`, minMember: 1, owner: ownerRef(job) }),
        ),
        ...waiting.map(({ tenant, gpus }, i) =>
          kaiGroup(`waits-${i}`, `${tenant}-q`, {
            namespace: tenant,
            minMember: 1,
            owner: null,
            requested: { [gpuResource]: gpus },
          }),
        ),
      ],
    };
  if (system === "none") return noQueueObjects;
  return {
    ...noQueueObjects,
    volcanoQueues: named.map(({ name, quota: own }) => volcanoQueue(name, { weight: 1 + own })),
    volcanoPodGroups: [
      ...placed.map(({ name, tenant, gpus, job }) =>
        volcanoGroup(name, `${tenant}-q`, {
          namespace: tenant,
          uid: `uid-${name}`,
          minMember: 1,
          owner: ownerRef(job),
          phase: "Running",
          running: 1,
          minResources: { [gpuResource]: gpus },
        }),
      ),
      ...waiting.map(({ tenant, gpus }, i) =>
        volcanoGroup(`waits-${i}`, `${tenant}-q`, {
          namespace: tenant,
          minMember: 1,
          owner: null,
          minResources: { [gpuResource]: gpus },
        }),
      ),
    ],
  };
}

/** Clusters that two honest teams share, of every queue system, with plain nodes and nodes that HAMi shares. */
export const anySharedCluster: fc.Arbitrary<SharedCluster> = choices.map(build);
