import { describe, expect, it } from "vitest";
import type { AdviceKind } from "../../../../exporter/model/recommendation.ts";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import type { SeenObject } from "../../apiClient.ts";
import { getText } from "../../apiClient.ts";
import { evict, merge, objectsOf, send, strategic } from "../../writeClient.ts";
import { adviceScenarios } from "./byKind.ts";

const patch = async (simulator: Simulator, path: string, body: object, type = merge): Promise<void> => {
  expect((await send(simulator, "PATCH", path, body, type)).code).toBe(200);
};
const podsIn = (simulator: Simulator, namespace: string): Promise<readonly SeenObject[]> =>
  objectsOf(simulator, `/api/v1/namespaces/${namespace}/pods`);
const runningOf = ({ physicalGpus }: ReturnType<Simulator["truth"]>, namespace: string): number =>
  physicalGpus.filter(({ holders }) => holders.some((holder) => holder.namespace === namespace)).length;
const busy = (simulator: Simulator): number =>
  simulator.truth().physicalGpus.reduce((sum, { activity }) => sum + activity, 0);

/** Asks another amount of GPUs for the pods of all Deployments whose name begins so. */
async function reask(simulator: Simulator, namespace: string, prefix: string, amounts: object): Promise<void> {
  const collection = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  for (const { metadata } of await objectsOf(simulator, collection)) {
    if (!metadata.name.startsWith(prefix)) continue;
    const containers = [{ name: "server", resources: { limits: amounts, requests: amounts } }];
    await patch(
      simulator,
      `${collection}/${metadata.name}`,
      { spec: { template: { spec: { containers } } } },
      strategic,
    );
  }
}

/** What a platform engineer would do, and by how many GPUs who is helped must be better off after an hour. */
interface Remedy {
  act(simulator: Simulator): Promise<void>;
  gauge(simulator: Simulator): number;
  readonly gain: number;
}

const kueue = "/apis/kueue.x-k8s.io/v1beta2";
const remedies: Readonly<Record<AdviceKind, Remedy>> = {
  reclaim: {
    gain: 16,
    gauge: (simulator) => runningOf(simulator.truth(), "search"),
    async act(simulator) {
      const workloads = `${kueue}/namespaces/ads/workloads`;
      const admitted = (await objectsOf(simulator, workloads)).filter(({ status }) =>
        JSON.stringify(status).includes('"admission"'),
      );
      for (const { metadata } of admitted.slice(0, 2)) {
        await patch(simulator, `${workloads}/${metadata.name}`, { spec: { active: false } });
        await patch(simulator, `${workloads}/${metadata.name}`, { spec: { active: true } });
      }
    },
  },
  defragment: {
    gain: 8,
    gauge: (simulator) => runningOf(simulator.truth(), "vision"),
    async act(simulator) {
      // Of the nodes without training that with the fewest pods.
      const all = await objectsOf(simulator, "/api/v1/pods");
      const on = (node: string): readonly SeenObject[] =>
        all.filter(({ metadata, spec }) => metadata.namespace !== "gpu-operator" && spec?.nodeName === node);
      const [node] = simulator
        .truth()
        .nodes.map(({ name }) => name)
        .filter((name) => on(name).every(({ metadata }) => metadata.namespace === "inference"))
        .sort((a, b) => on(a).length - on(b).length);
      const path = `/api/v1/nodes/${node}`;
      await patch(simulator, path, { spec: { unschedulable: true } });
      for (const pod of on(node ?? "")) {
        expect((await evict(simulator, pod)).code).toBe(201);
        simulator.advance(60);
      }
      await patch(simulator, path, { spec: { unschedulable: null } });
    },
  },
  release_idle: {
    gain: 4,
    gauge: (simulator) => runningOf(simulator.truth(), "speech"),
    async act(simulator) {
      const collection = "/apis/kubeflow.org/v1/namespaces/notebooks/notebooks";
      for (const { metadata } of await objectsOf(simulator, collection)) {
        if (!metadata.name.startsWith("forgotten")) continue;
        const annotations = { "kubeflow-resource-stopped": "2026-11-21T00:00:00Z" };
        await patch(simulator, `${collection}/${metadata.name}`, { metadata: { annotations } });
      }
    },
  },
  scale_in: {
    gain: 16,
    gauge: (simulator) => -simulator.truth().physicalGpus.length,
    async act(simulator) {
      const { nodes, physicalGpus } = simulator.truth();
      const empty = nodes.filter(({ name }) =>
        physicalGpus.every(({ node, holders }) => node !== name || holders.length === 0),
      );
      for (const { name } of empty.slice(0, 2)) {
        await patch(simulator, `/api/v1/nodes/${name}`, { spec: { unschedulable: true } });
      }
    },
  },
  change_quota: {
    gain: 8,
    gauge: (simulator) => runningOf(simulator.truth(), "blue"),
    async act(simulator) {
      for (const [name, nominal] of [
        ["red", "20"],
        ["blue", "20"],
      ] as const) {
        const path = `${kueue}/clusterqueues/${name}`;
        const [queue] = (await objectsOf(simulator, `${kueue}/clusterqueues`)).filter(
          ({ metadata }) => metadata.name === name,
        );
        const spec: object = JSON.parse(
          JSON.stringify(queue?.spec).replace(/"nominalQuota":"\d+"/, `"nominalQuota":"${nominal}"`),
        );
        await patch(simulator, path, { spec });
      }
    },
  },
  share_gpu: {
    gain: 8,
    gauge: (simulator) => runningOf(simulator.truth(), "vision"),
    act: (simulator) =>
      reask(simulator, "tools", "reranker", { "nvidia.com/gpu": null, "nvidia.com/mig-1g.10gb": "1" }),
  },
  right_size: {
    gain: 8,
    gauge: (simulator) => runningOf(simulator.truth(), "vision"),
    act: (simulator) => reask(simulator, "assistants", "oversized", { "nvidia.com/gpu": "1" }),
  },
  unblock_gang: {
    gain: 8,
    gauge: busy,
    async act(simulator) {
      for (const pod of await podsIn(simulator, "agents")) await evict(simulator, pod);
    },
  },
  drain_node: {
    gain: 1,
    gauge: (simulator) =>
      simulator.truth().physicalGpus.filter(({ healthy, holders }) => healthy && holders.length > 0).length,
    async act(simulator) {
      await patch(simulator, "/api/v1/nodes/h100-01", { spec: { unschedulable: true } });
      const sick = simulator.truth().physicalGpus.find(({ healthy }) => !healthy)?.holders[0];
      const pod = (await podsIn(simulator, "search")).find(({ metadata }) => metadata.name === sick?.pod);
      if (pod === undefined) throw new Error("nobody holds the GPU");
      await evict(simulator, pod);
    },
  },
  fix_scheduler: {
    gain: 16,
    gauge: (simulator) => runningOf(simulator.truth(), "search"),
    act: (simulator) =>
      patch(simulator, `${kueue}/clusterqueues/search`, { spec: { preemption: { reclaimWithinCohort: "Any" } } }),
  },
  fix_source: {
    gain: 8,
    gauge: (simulator) => simulator.truth().physicalGpus.length,
    async act(simulator) {
      const exporters = await podsIn(simulator, "gpu-operator");
      const pod = exporters.find(({ spec }) => spec?.nodeName === "a100-02");
      if (pod === undefined) throw new Error("there is no exporter");
      const url = simulator.metricsUrls.get("a100-02") ?? "";
      expect(await getText(url)).toBe("");
      await evict(simulator, pod);
      expect(await getText(url)).toContain("DCGM_FI_DEV_GPU_UTIL");
    },
  },
};

describe("good advice helps", () => {
  it.each(Object.keys(adviceScenarios).filter((kind) => kind !== "fix_source"))("%s", async (kind) => {
    const found = Object.entries(remedies).find(([name]) => name === kind)?.[1];
    const scenario = Object.entries(adviceScenarios).find(([name]) => name === kind)?.[1]();
    if (found === undefined || scenario === undefined) throw new Error(kind);
    const play = async (helped: boolean): Promise<number> => {
      const simulator = await startSimulator({ scenario, seed: 11, startAt: 1_795_000_000 });
      try {
        simulator.advance(7200);
        if (helped) await found.act(simulator);
        simulator.advance(1_795_000_000 + 10_800 - simulator.now());
        return found.gauge(simulator);
      } finally {
        await simulator.stop();
      }
    };
    expect((await play(true)) - (await play(false))).toBeGreaterThanOrEqual(found.gain);
  });

  it("fix_source", async () => {
    const scenario = adviceScenarios.fix_source();
    const simulator = await startSimulator({ scenario, seed: 11, startAt: 1_795_000_000 });
    simulator.advance(7200);
    await remedies.fix_source.act(simulator);
    await simulator.stop();
  });
});
