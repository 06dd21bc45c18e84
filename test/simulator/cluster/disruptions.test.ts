import { describe, expect, it } from "vitest";
import { gpuNode, karpenterLabels } from "../../../simulator/scenarios/parts.ts";
import type { Simulator } from "../../../simulator/simulator.ts";
import type { SeenObject } from "../apiClient.ts";
import { getText } from "../apiClient.ts";
import { one, smallCluster, withSimulator } from "../smallCluster.ts";
import { evict, merge, objectAt, objectsOf, send } from "../writeClient.ts";

const podsPath = "/api/v1/namespaces/team/pods";
const podsOf = (simulator: Simulator): Promise<readonly SeenObject[]> => objectsOf(simulator, podsPath);
const uidsOf = (pods: readonly SeenObject[]): readonly string[] => pods.map(({ metadata }) => metadata.uid ?? "");
const allocatedOf = (simulator: Simulator): number =>
  simulator.truth().physicalGpus.reduce((sum, { holders }) => sum + holders.length, 0);
function first(objects: readonly SeenObject[]): SeenObject {
  const [object] = objects;
  if (object === undefined) throw new Error("there is no object");
  return object;
}

describe("the owner of an evicted pod", () => {
  it.each(["Deployment", "StatefulSet", "Notebook"] as const)(
    "%s makes a new one, which the scheduler places",
    (kind) =>
      withSimulator(smallCluster([one(kind, 1)]), async (simulator) => {
        const before = first(await podsOf(simulator));
        expect((await evict(simulator, before)).code).toBe(201);
        expect([allocatedOf(simulator), (await podsOf(simulator)).length]).toEqual([0, 0]);
        simulator.advance(60);
        const after = first(await podsOf(simulator));
        expect(after.metadata.uid).not.toBe(before.metadata.uid);
        expect(after.status).toMatchObject({ phase: "Running" });
        expect(allocatedOf(simulator)).toBe(1);
        // Services have no progress to lose.
        expect(simulator.truth().lostGpuSeconds).toBe(0);
      }),
  );

  it.each(["LeaderWorkerSet", "JobSet", "PyTorchJob"] as const)("%s restarts the whole group", (kind) =>
    withSimulator(smallCluster([one(kind, 3)]), async (simulator) => {
      const before = await podsOf(simulator);
      await evict(simulator, first(before));
      simulator.advance(60);
      const after = await podsOf(simulator);
      expect(after).toHaveLength(3);
      expect(uidsOf(after).filter((uid) => uidsOf(before).includes(uid))).toEqual([]);
      expect(allocatedOf(simulator)).toBe(3);
    }),
  );

  it.each(["Pod", "PodGroup"] as const)("bare pods (%s) do not come back", (kind) =>
    withSimulator(smallCluster([one(kind, 2)]), async (simulator) => {
      const [pod, other] = await podsOf(simulator);
      await evict(simulator, first([...(pod === undefined ? [] : [pod])]));
      simulator.advance(60);
      expect(uidsOf(await podsOf(simulator))).toEqual([other?.metadata.uid]);
    }),
  );

  it("a Job counts failures, replaces the pod until its limit, and then fails", () =>
    withSimulator(
      smallCluster([one("Job", 2, { backoffLimit: 1 }, { runSeconds: [9000, 9000] })]),
      async (simulator) => {
        const [job] = await objectsOf(simulator, "/apis/batch/v1/jobs");
        const path = `/apis/batch/v1/namespaces/team/jobs/${job?.metadata.name}`;
        const before = await podsOf(simulator);
        await evict(simulator, first(before));
        simulator.advance(60);
        expect((await objectAt(simulator, path)).status).toMatchObject({ failed: 1, active: 2 });
        const again = await podsOf(simulator);
        // The other pod ran on.
        expect(uidsOf(again).filter((uid) => uidsOf(before).includes(uid))).toHaveLength(1);
        await evict(simulator, first(again));
        simulator.advance(60);
        expect((await objectAt(simulator, path)).status).toMatchObject({
          failed: 2,
          conditions: [{ type: "Failed", status: "True", reason: "BackoffLimitExceeded" }],
        });
        expect(allocatedOf(simulator)).toBe(0);
      },
    ));

  it.each([
    ["Ignore", 0, 1],
    ["FailJob", 1, 0],
  ] as const)("a Job whose podFailurePolicy says %s", (onDisruption, failed, allocated) =>
    withSimulator(smallCluster([one("Job", 1, { onDisruption })]), async (simulator) => {
      await evict(simulator, first(await podsOf(simulator)));
      simulator.advance(60);
      const job = first(await objectsOf(simulator, "/apis/batch/v1/jobs"));
      expect(job.status).toEqual(failed === 0 ? {} : expect.objectContaining({ failed }));
      expect(allocatedOf(simulator)).toBe(allocated);
    }),
  );

  it("new pods are behind those that waited already", () => {
    const rivals = [one("Deployment", 8), { ...one("Deployment", 1), name: "waits" }];
    return withSimulator(smallCluster(rivals), async (simulator) => {
      const pods = await podsOf(simulator);
      const running = pods.filter(({ metadata }) => metadata.name.startsWith("deployment"));
      await evict(simulator, first(running));
      simulator.advance(60);
      const waiting = simulator.truth().pending.map(({ workload }) => workload);
      expect(waiting).toHaveLength(1);
      expect(waiting[0]).toMatch(/^deployment-/);
    });
  });
});

describe("work that is lost", () => {
  const job = (checkpointSeconds?: number) =>
    one("PyTorchJob", 2, checkpointSeconds === undefined ? {} : { checkpointSeconds }, { runSeconds: [7200, 7200] });
  const ended = (simulator: Simulator): boolean =>
    simulator.truth().physicalGpus.every(({ holders }) => holders.length === 0);

  it("is all since the start without checkpoints, and is done again", () =>
    withSimulator(smallCluster([job()], { warmupSeconds: 20 }), async (simulator) => {
      simulator.advance(3600);
      await evict(simulator, first(await podsOf(simulator)));
      simulator.advance(10);
      const { lostGpuSeconds, lostByWorkload } = simulator.truth();
      expect(lostGpuSeconds).toBeGreaterThan(2 * 3550);
      expect(lostGpuSeconds).toBeLessThanOrEqual(2 * 3620);
      expect([...lostByWorkload.keys()]).toEqual([expect.stringMatching(/^team\/pytorchjob-/)]);
      simulator.advance(7000);
      expect(ended(simulator)).toBe(false);
      simulator.advance(400);
      expect(ended(simulator)).toBe(true);
    }));

  it("is what came after the last checkpoint, which the pod's annotation names", () =>
    withSimulator(smallCluster([job(600)], { warmupSeconds: 20 }), async (simulator) => {
      expect(first(await podsOf(simulator)).metadata.annotations).toBeUndefined();
      simulator.advance(1500);
      const pod = first(await podsOf(simulator));
      const saved = Date.parse(pod.metadata.annotations?.["fairlead.dev/checkpointed-at"] ?? "") / 1000;
      expect(simulator.now() - saved).toBeGreaterThanOrEqual(0);
      expect(simulator.now() - saved).toBeLessThan(600);
      await evict(simulator, pod);
      simulator.advance(10);
      expect(simulator.truth().lostGpuSeconds).toBeLessThan(2 * 600);
      simulator.advance(5900);
      expect(ended(simulator)).toBe(false);
      simulator.advance(500);
      expect(ended(simulator)).toBe(true);
    }));

  it("says why a pod was taken before it is gone", () =>
    withSimulator(smallCluster([one("Deployment", 1)]), async (simulator) => {
      const response = await fetch(
        `${simulator.apiUrl}${podsPath}?watch=1&resourceVersion=${simulator.resourceVersion()}&timeoutSeconds=1`,
      );
      await evict(simulator, first(await podsOf(simulator)));
      const text = await response.text();
      expect(text).toContain('"reason":"EvictionByEvictionAPI"');
      expect(text.indexOf("EvictionByEvictionAPI")).toBeLessThan(text.indexOf('"type":"DELETED"'));
    }));
});

describe("nodes", () => {
  it("take no pods while they are cordoned or tainted, and take them again afterwards", () =>
    withSimulator(smallCluster([one("Deployment", 1)]), async (simulator) => {
      const nodeOf = async (): Promise<unknown> => first(await podsOf(simulator)).spec?.nodeName;
      const node = await nodeOf();
      await send(simulator, "PATCH", `/api/v1/nodes/${node}`, { spec: { unschedulable: true } }, merge);
      expect((await objectAt(simulator, `/api/v1/nodes/${node}`)).spec).toMatchObject({
        unschedulable: true,
        taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" }],
      });
      await evict(simulator, first(await podsOf(simulator)));
      simulator.advance(60);
      const elsewhere = await nodeOf();
      expect(elsewhere).not.toBe(node);
      await send(simulator, "PATCH", `/api/v1/nodes/${node}`, { spec: { unschedulable: null } }, merge);
      expect((await objectAt(simulator, `/api/v1/nodes/${node}`)).spec).not.toHaveProperty("taints");
      const taints = [{ key: "let-it-drain", effect: "NoSchedule" }];
      await send(simulator, "PATCH", `/api/v1/nodes/${elsewhere}`, { spec: { taints } }, merge);
      await evict(simulator, first(await podsOf(simulator)));
      simulator.advance(60);
      expect(await nodeOf()).toBe(node);
    }));

  it("go with their pods and GPUs when they are deleted", () =>
    withSimulator(smallCluster([one("Deployment", 1)]), async (simulator) => {
      const pod = first(await podsOf(simulator));
      const node = String(pod.spec?.nodeName);
      expect((await send(simulator, "DELETE", `/api/v1/nodes/${node}`)).code).toBe(200);
      expect(simulator.truth().nodes.map(({ name }) => name)).not.toContain(node);
      expect([...simulator.metricsUrls.keys()]).not.toContain(node);
      simulator.advance(60);
      expect(first(await podsOf(simulator)).spec?.nodeName).not.toBe(node);
      expect(await objectsOf(simulator, "/api/v1/nodes")).toHaveLength(1);
      expect(await objectsOf(simulator, "/api/v1/namespaces/gpu-operator/pods")).toHaveLength(1);
    }));

  it("of an autoscaled pool are removed a minute after they are cordoned and empty", () => {
    const labels = karpenterLabels("pool", "on-demand");
    const nodes = [
      gpuNode("n1", "A100", 4, { kind: "whole" }),
      gpuNode("n2", "A100", 4, { kind: "whole" }, { labels }),
    ];
    return withSimulator(smallCluster([], { nodes, autoscaledPools: ["pool"] }), async (simulator) => {
      for (const name of ["n1", "n2"]) {
        await send(simulator, "PATCH", `/api/v1/nodes/${name}`, { spec: { unschedulable: true } }, merge);
      }
      simulator.advance(60);
      expect(simulator.truth().nodes).toHaveLength(2);
      simulator.advance(30);
      expect(simulator.truth().nodes.map(({ name }) => name)).toEqual(["n1"]);
    });
  });

  it("of an autoscaled pool come back for pods that wait", () => {
    const labels = karpenterLabels("pool", "on-demand");
    const nodes = [gpuNode("n1", "A100", 4, { kind: "whole" }, { labels })];
    const later = one("Deployment", 1, {}, { initial: 0, everySeconds: 100, maxWaiting: 1 });
    return withSimulator(
      smallCluster([later], { nodes, autoscaledPools: ["pool"], warmupSeconds: 0 }),
      async (simulator) => {
        const before = await objectAt(simulator, "/api/v1/nodes/n1");
        await send(simulator, "PATCH", "/api/v1/nodes/n1", { spec: { unschedulable: true } }, merge);
        simulator.advance(80);
        expect(simulator.truth().nodes).toEqual([]);
        simulator.advance(3600);
        expect(allocatedOf(simulator)).toBeGreaterThan(0);
        const after = await objectAt(simulator, "/api/v1/nodes/n1");
        expect(after.metadata.uid).not.toBe(before.metadata.uid);
        expect(await getText(simulator.metricsUrls.get("n1") ?? "")).toContain("DCGM_FI_DEV_GPU_UTIL");
      },
    );
  });
});

describe("a node whose label asks for MIG", () => {
  it("is cut once it is empty", () => {
    const nodes = [gpuNode("n1", "A100", 2, { kind: "whole" })];
    const habits = [one("StatefulSet", 1)];
    return withSimulator(smallCluster(habits, { nodes }), async (simulator) => {
      const config = { metadata: { labels: { "nvidia.com/mig.config": "all-1g.10gb" } } };
      await send(simulator, "PATCH", "/api/v1/nodes/n1", config, merge);
      simulator.advance(300);
      expect(allocatedOf(simulator)).toBe(1);
      const [set] = await objectsOf(simulator, "/apis/apps/v1/statefulsets");
      const scale = `/apis/apps/v1/namespaces/team/statefulsets/${set?.metadata.name}/scale`;
      await send(simulator, "PATCH", scale, { spec: { replicas: 0 } }, merge);
      simulator.advance(60);
      const node = await objectAt(simulator, "/api/v1/nodes/n1");
      expect(node.status).toMatchObject({ allocatable: { "nvidia.com/mig-1g.10gb": "14", "nvidia.com/gpu": "0" } });
      expect(node.metadata.labels).toMatchObject({ "nvidia.com/mig.config": "all-1g.10gb" });
      expect(simulator.truth().physicalGpus.map(({ migInstances }) => migInstances.length)).toEqual([7, 7]);
    });
  });
});

describe("an exporter's pod", () => {
  const stuck = { kind: "exporter-empty", target: { node: "n1" } } as const;
  const pageOf = (simulator: Simulator): Promise<string> => getText(simulator.metricsUrls.get("n1") ?? "");

  it("is made anew when it is evicted, which ends the faults that a restart fixes", () =>
    withSimulator(
      smallCluster([], { laterFaults: [{ afterSeconds: 60, fault: { ...stuck, endsWithRestart: true } }] }),
      async (simulator) => {
        expect(await pageOf(simulator)).not.toBe("");
        simulator.advance(60);
        expect(await pageOf(simulator)).toBe("");
        const exporters = await objectsOf(
          simulator,
          "/api/v1/namespaces/gpu-operator/pods?fieldSelector=spec.nodeName%3Dn1",
        );
        expect((await evict(simulator, first(exporters))).code).toBe(201);
        expect(await pageOf(simulator)).not.toBe("");
        const after = await objectsOf(
          simulator,
          "/api/v1/namespaces/gpu-operator/pods?fieldSelector=spec.nodeName%3Dn1",
        );
        expect(after).toHaveLength(1);
        expect(uidsOf(after)).not.toEqual(uidsOf(exporters));
      },
    ));

  it("does not end the faults that it does not fix", () =>
    withSimulator(smallCluster([], { faults: [stuck] }), async (simulator) => {
      await evict(
        simulator,
        first(await objectsOf(simulator, "/api/v1/namespaces/gpu-operator/pods?fieldSelector=spec.nodeName%3Dn1")),
      );
      expect(await pageOf(simulator)).toBe("");
    }));
});
