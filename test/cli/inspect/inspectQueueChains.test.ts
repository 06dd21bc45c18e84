import { describe, expect, it } from "vitest";
import { type ChainShape, chainOf } from "../../analysis/queueChains.ts";
import { fairlead } from "../adviseAgainst.ts";
import { createDumps, documentOfDump } from "../dumpFolder.ts";

const gpu = "nvidia.com/gpu";
const dumpOf = createDumps();

const metadata = (name: string) => ({ name, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z" });

const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { ...metadata("n"), labels: { [`${gpu}.count`]: "8", [`${gpu}.product`]: "NVIDIA-H100-80GB-HBM3" } },
  status: {
    capacity: { [gpu]: "8" },
    allocatable: { [gpu]: "8" },
    conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2026-06-01T00:00:00Z" }],
  },
};

/** A pod with 4 GPUs. */
const podIn = (label: string, queue: string, schedulerName = "default-scheduler") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { ...metadata(`pod-of-${queue}`), namespace: "research", labels: { [label]: queue } },
  spec: { nodeName: "n", schedulerName, containers: [{ name: "main", resources: { requests: { [gpu]: "4" } } }] },
  status: { phase: "Running" },
});

const quota = { name: "h100", resources: [{ name: gpu, nominalQuota: 4 }] };
const resourceGroups = [{ coveredResources: [gpu], flavors: [quota] }];

/** Each with a queue `healthy` beside the chain that holds 4 GPUs and is sure of 4. */
const dumps = {
  kueue: (shape: ChainShape, length: number): readonly object[] => [
    ...chainOf(shape, length).map(({ name, parent }) => ({
      apiVersion: "kueue.x-k8s.io/v1beta2",
      kind: "Cohort",
      metadata: metadata(name),
      spec: { parentName: parent ?? undefined },
    })),
    { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "ResourceFlavor", metadata: metadata("h100"), spec: {} },
    ...[
      ["team", `q-${length - 1}`],
      ["healthy", "small"],
    ].map(([name = "", cohortName]) => ({
      apiVersion: "kueue.x-k8s.io/v1beta2",
      kind: "ClusterQueue",
      metadata: metadata(name),
      spec: { cohortName, namespaceSelector: {}, resourceGroups },
    })),
    {
      apiVersion: "kueue.x-k8s.io/v1beta2",
      kind: "LocalQueue",
      metadata: { ...metadata("main"), namespace: "research" },
      spec: { clusterQueue: "healthy" },
    },
    podIn("kueue.x-k8s.io/cluster-queue-name", "healthy"),
  ],
  kai: (shape: ChainShape, length: number): readonly object[] => [
    ...[...chainOf(shape, length), { name: "healthy", parent: null }].map(({ name, parent }) => ({
      apiVersion: "scheduling.run.ai/v2",
      kind: "Queue",
      metadata: metadata(name),
      spec: { parentQueue: parent ?? undefined, resources: { gpu: { quota: 4, limit: -1, overQuotaWeight: 1 } } },
    })),
    podIn("kai.scheduler/queue", "healthy", "kai-scheduler"),
  ],
  volcano: (shape: ChainShape, length: number): readonly object[] => [
    ...[...chainOf(shape, length), { name: "healthy", parent: null }].map(({ name, parent }) => ({
      apiVersion: "scheduling.volcano.sh/v1beta1",
      kind: "Queue",
      metadata: metadata(name),
      spec: { weight: 1, parent: parent ?? undefined, guarantee: { resource: { [gpu]: "4" } } },
    })),
    podIn("volcano.sh/queue-name", "healthy", "volcano"),
  ],
};

describe.each(Object.entries(dumps))("inspect of a dump of %s", (_, objects) => {
  it.each<ChainShape>(["chain", "circle"])("answers with 2,500 queues in a %s", async (shape) => {
    const { queues } = await documentOfDump(dumpOf({ "dump.json": [node, ...objects(shape, 2500)] }));
    expect(queues.find(({ name }) => name === "healthy")).toMatchObject({ allocated: 4, entitled: 4 });
  });
});

it("answers with 20,000 Cohorts in a chain, and says that it is one", async () => {
  const objects = dumps.kueue("chain", 20_000);
  const { code, out } = await fairlead("inspect", dumpOf({ "dump.json": [node, ...objects] }));
  expect(code).toBe(0);
  expect(out).toMatch(/research +4\.0 +4\.0~/);
  expect(out).toContain("Cohort q-50 of kueue is on level 51 of its tree, the deepest on level 20001");
});
