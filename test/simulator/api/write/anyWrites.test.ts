import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import type { SeenObject } from "../../apiClient.ts";
import { generatedScenario } from "../../scenarios/generated.ts";
import { evict, merge, objectsOf, send } from "../../writeClient.ts";

const deed = fc.record({
  kind: fc.constantFrom(
    "evict",
    "delete-pod",
    "cordon",
    "uncordon",
    "scale",
    "suspend",
    "resume",
    "stop",
    "delete-node",
  ),
  nth: fc.nat(1000),
  seconds: fc.constantFrom(0, 10, 60),
});

/** The collection and the patch of deeds that are patches. */
const patches = {
  cordon: ["/api/v1/nodes", { spec: { unschedulable: true } }],
  uncordon: ["/api/v1/nodes", { spec: { unschedulable: null } }],
  scale: ["/apis/apps/v1/deployments", { spec: { replicas: 3 } }],
  suspend: ["/apis/batch/v1/jobs", { spec: { suspend: true } }],
  resume: ["/apis/batch/v1/jobs", { spec: { suspend: false } }],
  stop: ["/apis/kubeflow.org/v1/notebooks", { metadata: { annotations: { "kubeflow-resource-stopped": "now" } } }],
} as const;

function pathOf(collection: string, { metadata }: SeenObject): string {
  const cut = collection.lastIndexOf("/");
  const scope = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${collection.slice(0, cut)}${scope}${collection.slice(cut)}/${metadata.name}`;
}

async function act(
  simulator: Simulator,
  { kind, nth }: { readonly kind: string; readonly nth: number },
): Promise<number> {
  const patch = Object.entries(patches).find(([name]) => name === kind)?.[1];
  const collection = patch?.[0] ?? (kind === "delete-node" ? "/api/v1/nodes" : "/api/v1/pods");
  const objects = await objectsOf(simulator, collection);
  const object = objects[nth % Math.max(1, objects.length)];
  if (object === undefined) return 0;
  const path = pathOf(collection, object);
  if (patch !== undefined) return (await send(simulator, "PATCH", path, patch[1], merge)).code;
  if (kind === "evict") return (await evict(simulator, object)).code;
  // The last node stays, so that there is a cluster.
  return kind === "delete-node" && objects.length < 2 ? 0 : (await send(simulator, "DELETE", path)).code;
}

/** Truth and API must say the same story, and nothing may be given out twice or be lost. */
async function check(simulator: Simulator): Promise<void> {
  const truth = simulator.truth();
  const pods = new Map(
    (await objectsOf(simulator, "/api/v1/pods")).map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]),
  );
  for (const physicalGpu of truth.physicalGpus) {
    const allocated = physicalGpu.holders.reduce((sum, { share }) => sum + share, 0);
    expect(allocated).toBeLessThanOrEqual(1 + 1e-9);
    for (const { namespace, pod } of physicalGpu.holders) {
      expect(pods.get(`${namespace}/${pod}`)?.spec?.nodeName).toBe(physicalGpu.node);
    }
  }
  const nodes = (await objectsOf(simulator, "/api/v1/nodes")).map(({ metadata }) => metadata.name);
  expect([...truth.nodes.map(({ name }) => name)].sort()).toEqual(nodes);
  for (const { namespace, pod } of truth.pending) {
    expect(pods.has(`${namespace}/${pod}`)).toBe(true);
    expect(pods.get(`${namespace}/${pod}`)?.spec?.nodeName).toBeUndefined();
  }
  expect(truth.lostGpuSeconds).toBeGreaterThanOrEqual(0);
}

describe("whatever is written into the simulated cluster", () => {
  it("its truth and its objects agree, and no GPU is given out twice", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), fc.array(deed, { minLength: 1, maxLength: 12 }), async (seed, deeds) => {
        const simulator = await startSimulator({ scenario: generatedScenario(seed, 4), seed, startAt: 1_795_000_000 });
        try {
          for (const each of deeds) {
            expect([0, 200, 201, 429, 500]).toContain(await act(simulator, each));
            await check(simulator);
            simulator.advance(each.seconds);
            await check(simulator);
          }
        } finally {
          await simulator.stop();
        }
      }),
      { numRuns: 25, seed: 20261121 },
    );
  });
});
