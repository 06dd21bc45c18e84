import { describe, expect, it } from "vitest";
import { gpuNode } from "../../../simulator/scenarios/parts.ts";
import type { Simulator } from "../../../simulator/simulator.ts";
import type { SeenObject } from "../apiClient.ts";
import { contentionScenario } from "../scenarios/contention.ts";
import { one, smallCluster, withSimulator } from "../smallCluster.ts";
import { merge, objectAt, objectsOf, send, strategic } from "../writeClient.ts";

const pods = (simulator: Simulator): Promise<readonly SeenObject[]> =>
  objectsOf(simulator, "/api/v1/namespaces/team/pods");
const allocatedOf = (simulator: Simulator): number =>
  simulator
    .truth()
    .physicalGpus.reduce((sum, { holders }) => sum + holders.reduce((gpus, { share }) => gpus + share, 0), 0);
const queueOf = (simulator: Simulator, queue: string) => simulator.truth().queues.find((each) => each.queue === queue);

/** The path of the only object of a collection. */
async function pathIn(simulator: Simulator, collection: string): Promise<string> {
  const [object] = await objectsOf(simulator, collection);
  const cut = collection.lastIndexOf("/");
  return `${collection.slice(0, cut)}/namespaces/team${collection.slice(cut)}/${object?.metadata.name}`;
}

describe("owners do what is written into them", () => {
  it.each([
    ["Job", "/apis/batch/v1/jobs", { spec: { suspend: true } }, { spec: { suspend: false } }],
    ["JobSet", "/apis/jobset.x-k8s.io/v1alpha2/jobsets", { spec: { suspend: true } }, { spec: { suspend: false } }],
    [
      "PyTorchJob",
      "/apis/kubeflow.org/v1/pytorchjobs",
      { spec: { runPolicy: { suspend: true } } },
      { spec: { runPolicy: { suspend: false } } },
    ],
    ["Deployment", "/apis/apps/v1/deployments", { spec: { replicas: 0 } }, { spec: { replicas: 2 } }],
    ["StatefulSet", "/apis/apps/v1/statefulsets", { spec: { replicas: 0 } }, { spec: { replicas: 2 } }],
    [
      "LeaderWorkerSet",
      "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
      { spec: { replicas: 0 } },
      { spec: { replicas: 1 } },
    ],
    [
      "Notebook",
      "/apis/kubeflow.org/v1/notebooks",
      { metadata: { annotations: { "kubeflow-resource-stopped": "2026-11-21T00:00:00Z" } } },
      { metadata: { annotations: { "kubeflow-resource-stopped": null } } },
    ],
  ] as const)("%s gives its GPUs back and takes them again", (kind, collection, stop, start) =>
    withSimulator(smallCluster([one(kind, 2)]), async (simulator) => {
      const path = await pathIn(simulator, collection);
      expect(allocatedOf(simulator)).toBe(2);
      expect((await send(simulator, "PATCH", path, stop, merge)).code).toBe(200);
      simulator.advance(60);
      expect([allocatedOf(simulator), (await pods(simulator)).length, simulator.truth().pending]).toEqual([0, 0, []]);
      expect(await objectAt(simulator, path)).toMatchObject(stop);
      expect((await send(simulator, "PATCH", path, start, merge)).code).toBe(200);
      simulator.advance(60);
      expect(allocatedOf(simulator)).toBe(2);
    }),
  );

  it("scales in part", () =>
    withSimulator(smallCluster([one("StatefulSet", 4)]), async (simulator) => {
      const path = await pathIn(simulator, "/apis/apps/v1/statefulsets");
      await send(simulator, "PATCH", `${path}/scale`, { spec: { replicas: 1 } }, merge);
      simulator.advance(60);
      expect((await pods(simulator)).map(({ metadata }) => metadata.name)).toEqual([expect.stringMatching(/-0$/)]);
      await send(simulator, "PATCH", `${path}/scale`, { spec: { replicas: 6 } }, merge);
      simulator.advance(60);
      expect(allocatedOf(simulator)).toBe(6);
    }));

  it("makes pods of a new template, with what they ask for then", () =>
    withSimulator(
      smallCluster([one("Deployment", 1, { request: { kind: "physicalGpus", count: 4 } })]),
      async (simulator) => {
        const path = await pathIn(simulator, "/apis/apps/v1/deployments");
        const amounts = { "nvidia.com/gpu": "1" };
        const containers = [{ name: "server", resources: { limits: amounts, requests: amounts } }];
        await send(simulator, "PATCH", path, { spec: { template: { spec: { containers } } } }, strategic);
        simulator.advance(60);
        expect(allocatedOf(simulator)).toBe(1);
        const [pod] = await pods(simulator);
        expect(JSON.stringify(pod?.spec)).toContain('"nvidia.com/gpu":"1"');
        expect(JSON.stringify((await objectAt(simulator, path)).spec)).toContain('"nvidia.com/gpu":"1"');
        // What the old pods had taken is free again: GPUs, CPU and memory.
        await send(simulator, "PATCH", `${path}/scale`, { spec: { replicas: 7 } }, merge);
        simulator.advance(60);
        expect(allocatedOf(simulator)).toBe(7);
      },
    ));

  it("lets pods ask for MIG instances instead of GPUs", () => {
    const layouts = [["1g.10gb", "1g.10gb", "1g.10gb"]];
    const nodes = [
      gpuNode("n1", "A100", 1, { kind: "whole" }),
      gpuNode("n2", "A100", 1, { kind: "mig-mixed", layouts }),
    ];
    return withSimulator(smallCluster([one("Deployment", 1)], { nodes }), async (simulator) => {
      const path = await pathIn(simulator, "/apis/apps/v1/deployments");
      const amounts = { "nvidia.com/gpu": null, "nvidia.com/mig-1g.10gb": "1" };
      const containers = [{ name: "server", resources: { limits: amounts, requests: amounts } }];
      await send(simulator, "PATCH", path, { spec: { template: { spec: { containers } } } }, strategic);
      simulator.advance(60);
      expect(allocatedOf(simulator)).toBeCloseTo(1 / 7, 9);
    });
  });

  it("custom resources take no strategic merge patch", () =>
    withSimulator(smallCluster([one("Notebook", 1)]), async (simulator) => {
      const path = await pathIn(simulator, "/apis/kubeflow.org/v1/notebooks");
      expect((await send(simulator, "PATCH", path, {}, strategic)).code).toBe(415);
    }));
});

describe("queue systems go by what is written", () => {
  const queues = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues";
  const starving = contentionScenario("kueue", false);

  it("Kueue takes back what was borrowed once a queue may reclaim", () =>
    withSimulator(starving, async (simulator) => {
      simulator.advance(3600);
      expect(queueOf(simulator, "blue")?.allocated).toBe(0);
      const preemption = { reclaimWithinCohort: "Any" };
      expect((await send(simulator, "PATCH", `${queues}/blue`, { spec: { preemption } }, merge)).code).toBe(200);
      simulator.advance(600);
      expect(queueOf(simulator, "blue")?.allocated).toBe(16);
      expect((await objectAt(simulator, `${queues}/blue`)).spec).toMatchObject({ preemption });
      expect(simulator.truth().lostGpuSeconds).toBeGreaterThan(0);
    }));

  it("Kueue's Workload that is switched off gives its quota back, and waits again once it is switched on", () =>
    withSimulator(starving, async (simulator) => {
      simulator.advance(3600);
      const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/red-train/workloads";
      const admitted = (await objectsOf(simulator, workloads)).filter(({ status }) =>
        JSON.stringify(status).includes("admission"),
      );
      const path = `${workloads}/${admitted[0]?.metadata.name}`;
      await send(simulator, "PATCH", path, { spec: { active: false } }, merge);
      expect(queueOf(simulator, "red")?.allocated).toBe(24);
      const off = await objectAt(simulator, path);
      expect(off.spec).toMatchObject({ active: false });
      expect(off.status).toMatchObject({
        conditions: expect.arrayContaining([
          expect.objectContaining({ type: "Evicted", status: "True", reason: "Deactivated" }),
          expect.objectContaining({ type: "QuotaReserved", status: "False" }),
        ]),
      });
      simulator.advance(600);
      // Both queues have the same priority: the oldest of the waiting is next, and that is not what was switched off.
      expect((queueOf(simulator, "red")?.allocated ?? 0) + (queueOf(simulator, "blue")?.allocated ?? 0)).toBe(32);
      await send(simulator, "PATCH", path, { spec: { active: true } }, merge);
      simulator.advance(60);
      expect((await objectAt(simulator, path)).spec).toMatchObject({ active: true });
    }));

  it("Kueue lets the work go first whose priority is boosted", () =>
    withSimulator(starving, async (simulator) => {
      simulator.advance(3600);
      const all = await objectsOf(simulator, "/apis/kueue.x-k8s.io/v1beta2/workloads");
      const isAdmitted = ({ status }: SeenObject): boolean => JSON.stringify(status).includes('"admission"');
      const pathOf = ({ metadata }: SeenObject): string =>
        `/apis/kueue.x-k8s.io/v1beta2/namespaces/${metadata.namespace}/workloads/${metadata.name}`;
      // Both are of one queue: what would have to borrow goes after what need not, whatever its priority.
      const waiting = all.filter(
        (each) => !isAdmitted(each) && JSON.stringify(each.spec).includes('"queueName":"blue"'),
      );
      const created = ({ metadata }: SeenObject): string => String(metadata.creationTimestamp);
      const youngest = waiting.toSorted((a, b) => created(b).localeCompare(created(a)))[0];
      const admitted = all.find(isAdmitted);
      if (waiting.length < 2 || youngest === undefined || admitted === undefined) throw new Error("nothing waits");
      const annotations = { "kueue.x-k8s.io/priority-boost": "5" };
      await send(simulator, "PATCH", pathOf(youngest), { metadata: { annotations } }, merge);
      await send(simulator, "PATCH", pathOf(admitted), { spec: { active: false } }, merge);
      simulator.advance(30);
      expect(isAdmitted(await objectAt(simulator, pathOf(youngest)))).toBe(true);
    }));

  it("Kueue admits by the quota that is written now", () =>
    withSimulator(starving, async (simulator) => {
      const before = await objectAt(simulator, `${queues}/red`);
      const limited = JSON.stringify(before.spec).replace(
        '"nominalQuota":"16"',
        '"nominalQuota":"8","borrowingLimit":"0"',
      );
      await send(simulator, "PATCH", `${queues}/red`, { spec: JSON.parse(limited) }, merge);
      simulator.advance(43_200);
      expect(queueOf(simulator, "red")?.allocated).toBeLessThanOrEqual(8);
      // There are 32 GPUs and much that waits, but quota for 24.
      expect((queueOf(simulator, "red")?.allocated ?? 0) + (queueOf(simulator, "blue")?.allocated ?? 0)).toBe(24);
    }));

  it("KAI gives a queue no more than the limit that is written now", () =>
    withSimulator(contentionScenario("kai", true), async (simulator) => {
      const path = "/apis/scheduling.run.ai/v2/queues/blue";
      await send(simulator, "PATCH", path, { spec: { resources: { gpu: { quota: 8, limit: 8 } } } }, merge);
      simulator.advance(7200);
      expect(queueOf(simulator, "blue")?.allocated).toBe(8);
      expect((await objectAt(simulator, path)).spec).toMatchObject({ resources: { gpu: { quota: 8, limit: 8 } } });
    }));

  it("Volcano takes back what others have above their share once their queue is reclaimable", () =>
    withSimulator(contentionScenario("volcano", false), async (simulator) => {
      simulator.advance(3600);
      expect(queueOf(simulator, "blue")?.allocated).toBe(0);
      await send(
        simulator,
        "PATCH",
        "/apis/scheduling.volcano.sh/v1beta1/queues/red",
        { spec: { reclaimable: true } },
        merge,
      );
      simulator.advance(600);
      expect(queueOf(simulator, "blue")?.allocated).toBeGreaterThan(0);
    }));
});

describe("pods that need each other and are bound one by one", () => {
  it("starve each other, compute nothing, and go on once one of the groups is gone", () => {
    const nodes = [gpuNode("n1", "A100", 6, { kind: "whole" })];
    const group = one("LeaderWorkerSet", 4, { needsAll: true });
    return withSimulator(
      smallCluster(
        [
          { ...group, name: "a" },
          { ...group, name: "b" },
        ],
        { nodes },
      ),
      async (simulator) => {
        expect(allocatedOf(simulator)).toBe(6);
        expect(simulator.truth().physicalGpus.every(({ activity }) => activity === 0)).toBe(true);
        const [set] = await objectsOf(simulator, "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets");
        const path = `/apis/leaderworkerset.x-k8s.io/v1/namespaces/team/leaderworkersets/${set?.metadata.name}`;
        await send(simulator, "PATCH", `${path}/scale`, { spec: { replicas: 0 } }, merge);
        simulator.advance(60);
        expect(simulator.truth().physicalGpus.filter(({ activity }) => activity > 0)).toHaveLength(4);
      },
    );
  });
});
