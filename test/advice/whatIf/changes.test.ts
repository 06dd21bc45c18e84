import { describe, expect, it } from "vitest";
import type { Plan } from "../../../exporter/advice/whatIf/plan.ts";
import { createTrial } from "../../../exporter/advice/whatIf/trial.ts";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";
import { noQueueObjects } from "../../../exporter/model/queues/queueObjects.ts";
import { chainName, kaiChain } from "../../analysis/queueChains.ts";
import { cluster, gfdLabels, gpuNode, gpuPod, instance, node, now, page, reading } from "../../join/clusterBuilder.ts";
import * as kueue from "../../queues/kueueRows.ts";
import { analysisOf } from "./generatedMoments.ts";

const momentOf = (parts: Partial<ClusterState>): Analysis => analysisOf(cluster(parts));

const podIndex = ({ snapshot }: Analysis, name: string): number => snapshot.pods.findIndex((pod) => pod.name === name);
const nodeIndex = ({ snapshot }: Analysis, name: string): number =>
  snapshot.nodes.findIndex((one) => one.name === name);
const gangIndex = ({ snapshot }: Analysis, name: string): number =>
  snapshot.queueing.gangs.findIndex((gang) => gang.name === name);
const workloadIndex = ({ snapshot }: Analysis, name: string): number =>
  snapshot.workloads.findIndex((workload) => workload.name === name);

const pods = (prefix: string, on: string, ...sizes: readonly number[]) =>
  sizes.map((gpus, i) => gpuPod(`${prefix}${i}`, on, gpus));

describe("moving pods", () => {
  /** Three nodes with 1, 2 and 1 free GPUs, and a job that needs 4 on one node (volcano issue 3948). */
  const scattered = momentOf({
    nodes: ["a", "b", "c"].map((name) => gpuNode(name, 8)),
    pods: [...pods("a", "a", 7), ...pods("b", "b", 4, 1, 1), ...pods("c", "c", 7), gpuPod("job", null, 4)],
  });
  const moving = (avoid: readonly string[]): Plan => ({
    changes: [
      {
        kind: "move",
        pods: [podIndex(scattered, "b1"), podIndex(scattered, "b2")],
        avoid: avoid.map((name) => nodeIndex(scattered, name)),
      },
    ],
    starts: [gangIndex(scattered, "job")],
  });

  it("makes room for a job that needs more than any node has free", () => {
    const trial = createTrial({ analysis: scattered });
    const plan = moving(["b"]);
    for (const rule of ["mostAllocated", "leastAllocated"] as const) {
      const { moved, started, measures, released } = trial.outcome(plan, rule);
      expect(moved.map(({ to }) => scattered.snapshot.nodes[to ?? -1]?.name)).toEqual(["a", "c"]);
      expect(started).toEqual(plan.starts);
      expect(measures).toMatchObject({ blockedGpus: 0, pendingGpus: 0, freeGpus: 0 });
      expect([...released]).toEqual([]);
    }
    expect(trial.before(plan)).toMatchObject({ blockedGpus: 4, pendingGpus: 4, freeGpus: 4 });
  });

  it("is tried once for each rule, whoever asks for the outcome", () => {
    const trial = createTrial({ analysis: scattered });
    const plan = moving(["b"]);
    const first = trial.outcome(plan, "mostAllocated");
    expect(trial.effort()).toBe(1);
    expect(trial.outcome(plan, "mostAllocated")).toBe(first);
    expect(trial.effort()).toBe(1);
    expect(trial.outcome(moving(["b"]), "mostAllocated").moved).toEqual(first.moved);
    expect(trial.effort()).toBe(2);
  });

  it("says where a pod goes by the rule, not where a plan would like it", () => {
    const trial = createTrial({ analysis: scattered });
    const most = trial.outcome(moving([]), "mostAllocated");
    expect(most.moved.map(({ to }) => to)).toEqual([nodeIndex(scattered, "a"), nodeIndex(scattered, "c")]);
    const least = trial.outcome(moving([]), "leastAllocated");
    expect(least.moved.map(({ to }) => to)).toEqual([nodeIndex(scattered, "b"), nodeIndex(scattered, "b")]);
    expect(least.started).toEqual([]);
  });

  it("lets wait what no node takes, and says so", () => {
    const trial = createTrial({ analysis: scattered });
    const large = podIndex(scattered, "a0");
    const plan: Plan = { changes: [{ kind: "move", pods: [large], avoid: [nodeIndex(scattered, "a")] }], starts: [] };
    const { moved, snapshot, measures, released } = trial.outcome(plan, "mostAllocated");
    expect(moved).toEqual([{ pod: large, from: nodeIndex(scattered, "a"), to: null }]);
    expect(snapshot.pods[large]).toMatchObject({ status: "pending", node: null });
    expect(measures.pendingGpus - trial.before(plan).pendingGpus).toBe(7);
    expect([...released.values()]).toEqual([7]);
  });

  it("honours selectors, taints, CPU and the kind of GPU", () => {
    const mig = { ...gfdLabels(1, "NVIDIA-A100-SXM4-80GB"), "nvidia.com/gpu.replicas": "0" };
    const dedicated = [{ key: "team", value: "x", effect: "NoSchedule" as const }];
    const analysis = momentOf({
      nodes: [
        gpuNode("full", 8, { labels: { ...gfdLabels(8), zone: "z" } }),
        gpuNode("tainted", 8, { labels: { ...gfdLabels(8), zone: "z" }, taints: dedicated }),
        gpuNode("elsewhere", 8),
        gpuNode("small", 8, { labels: { ...gfdLabels(8), zone: "z" }, allocatableCpuMilli: 500 }),
        gpuNode("right", 8, { labels: { ...gfdLabels(8), zone: "z" } }),
        node("mig", { capacity: { "nvidia.com/mig-1g.10gb": 2 }, labels: mig }),
        node("mig2", { capacity: { "nvidia.com/mig-1g.10gb": 2 }, labels: mig }),
      ],
      telemetry: ["mig", "mig2"].map((name) =>
        page(
          name,
          ["1", "2"].map((id) => instance(`GPU-${name}`, id, "1g.10gb", 0)),
        ),
      ),
      requestsByNode: new Map(),
      pods: [
        gpuPod("picky", "full", 1, { nodeSelector: { zone: "z" }, tolerations: [] }),
        gpuPod("part", "mig", 2, {}, "nvidia.com/mig-1g.10gb"),
      ],
    });
    const of = (name: string, from: string): Plan => ({
      changes: [{ kind: "move", pods: [podIndex(analysis, name)], avoid: [nodeIndex(analysis, from)] }],
      starts: [],
    });
    const trial = createTrial({ analysis });
    for (const rule of ["mostAllocated", "leastAllocated"] as const) {
      const whole = trial.outcome(of("picky", "full"), rule);
      expect(whole.moved.map(({ to }) => analysis.snapshot.nodes[to ?? -1]?.name)).toEqual(["right"]);
      const part = trial.outcome(of("part", "mig"), rule);
      expect(part.moved.map(({ to }) => analysis.snapshot.nodes[to ?? -1]?.name)).toEqual(["mig2"]);
      const allocated = part.snapshot.devices.filter(({ holders }) =>
        holders.some(({ pod }) => pod === podIndex(analysis, "part")),
      );
      expect(allocated.map(({ node: on }) => on)).toEqual(["mig2", "mig2"]);
    }
  });
});

describe("starting gangs", () => {
  const halves = momentOf({
    nodes: [gpuNode("a", 8), gpuNode("b", 8)],
    pods: [...pods("a", "a", 4), ...pods("b", "b", 6)],
    queues: {
      ...noQueueObjects,
      kueueResourceFlavors: [kueue.flavor("any")],
      kueueClusterQueues: [
        kueue.clusterQueue("a", [kueue.quota("any", 8, { borrowingLimit: 0 })], { cohort: "all" }),
        kueue.clusterQueue("b", [kueue.quota("any", 8)], { cohort: "all" }),
      ],
      kueueLocalQueues: [kueue.localQueue("a", "a"), kueue.localQueue("b", "b")],
      kueueWorkloads: [
        kueue.workload("pair", [kueue.podSet(2, 4)], { localQueue: "a" }),
        kueue.workload("single", [kueue.podSet(1, 4)], { localQueue: "a" }),
        kueue.workload("large", [kueue.podSet(3, 4)], { localQueue: "a" }),
      ],
    },
  });

  it("starts one whole or not at all", () => {
    const trial = createTrial({ analysis: halves });
    const [pair, single] = [gangIndex(halves, "pair"), gangIndex(halves, "single")];
    const { started, snapshot } = trial.outcome({ changes: [], starts: [pair, single] }, "mostAllocated");
    expect(started).toEqual([single]);
    expect(snapshot.queueing.gangs[pair]).toBe(halves.snapshot.queueing.gangs[pair]);
    expect(snapshot.queueing.gangs[single]).toMatchObject({ pods: 0, gpus: 0, parts: [], bound: 1 });
    expect(snapshot.pods.at(-1)).toMatchObject({ name: "single-1", status: "allocated", node: "a", starting: true });
    expect(snapshot.queueing.queues.find(({ name }) => name === "a")).toMatchObject({ allocated: 4, pending: 8 });
  });

  it("holds to the limits of queues, and to new ones", () => {
    const limited = createTrial({ analysis: halves });
    const [pair, large] = [gangIndex(halves, "pair"), gangIndex(halves, "large")];
    const queue = halves.snapshot.queueing.queues.findIndex(({ name }) => name === "a");
    const stop = ["a0", "b0"].map((name) => ({ kind: "stop" as const, workload: workloadIndex(halves, name) }));
    expect(limited.started({ changes: stop, starts: [large, pair] }, "mostAllocated")).toEqual([pair]);
    const raised = [...stop, { kind: "setQueue" as const, queue, limit: 16 }];
    expect(limited.started({ changes: raised, starts: [large, pair] }, "mostAllocated")).toEqual([large]);
    const lowered = [...stop, { kind: "setQueue" as const, queue, limit: 7 }];
    expect(limited.started({ changes: lowered, starts: [pair] }, "mostAllocated")).toEqual([]);
  });
});

describe("other changes", () => {
  const idle = reading("GPU-0", 0, "x0");
  const busy = reading("GPU-1", 0.9, "x0");
  const mixed = analysisOf(
    cluster({
      nodes: [gpuNode("a", 2), gpuNode("b", 2)],
      pods: [gpuPod("x0", "a", 2)],
      telemetry: [page("a", [idle, busy])],
      requestsByNode: new Map([["a", { pods: 1, cpuMilli: 1000, memoryBytes: 2 ** 30 }]]),
    }),
    new Map([["unallocated/b", now - 3 * 3600]]),
  );

  it("stops work: what it held is free, and it does not wait", () => {
    const trial = createTrial({ analysis: mixed });
    const plan: Plan = { changes: [{ kind: "stop", workload: 0 }], starts: [] };
    const { measures, released, snapshot } = trial.outcome(plan, "mostAllocated");
    expect([...released]).toEqual([[0, 2]]);
    expect(trial.before(plan)).toMatchObject({ freeGpus: 2, wholeFreeNodes: 1, pendingGpus: 0 });
    expect(measures).toMatchObject({ freeGpus: 4, wholeFreeNodes: 2, pendingGpus: 0 });
    expect(snapshot.requestsByNode?.get("a")).toMatchObject({ pods: 0, cpuMilli: 0 });
  });

  it("removes a node with what it costs", () => {
    const trial = createTrial({ analysis: mixed });
    const plan: Plan = { changes: [{ kind: "removeNode", node: nodeIndex(mixed, "b") }], starts: [] };
    const { measures } = trial.outcome(plan, "mostAllocated");
    expect(trial.before(plan)).toMatchObject({
      freeGpus: 2,
      idleNodeHoursPerWeek: 3,
      costPerWeek: [{ currency: "USD", amount: 4 * 10 * 168 }],
    });
    expect(measures).toMatchObject({
      freeGpus: 0,
      idleNodeHoursPerWeek: 0,
      costPerWeek: [{ currency: "USD", amount: 2 * 10 * 168 }],
    });
  });

  it("lets a pod that needs less keep the GPU that it uses", () => {
    const { snapshot, released } = createTrial({ analysis: mixed }).outcome(
      { changes: [{ kind: "shrink", workload: 0, gpusPerPod: 1 }], starts: [] },
      "mostAllocated",
    );
    expect([...released]).toEqual([[0, 1]]);
    expect(snapshot.devices.filter(({ holders }) => holders.length > 0).map(({ uuid }) => uuid)).toEqual(["GPU-1"]);
    expect(snapshot.pods[0]).toMatchObject({ gpus: 1, needs: { requests: { "nvidia.com/gpu": 1 } } });
  });

  it("observes a node again, and calls nothing idle that nobody has seen", () => {
    const dark = momentOf({
      nodes: [gpuNode("a", 2), gpuNode("seen", 1)],
      pods: [gpuPod("x0", "a", 2)],
      telemetry: [page("seen", [reading("GPU-9", 0)])],
    });
    const trial = createTrial({ analysis: dark });
    const plan: Plan = { changes: [{ kind: "observe", node: nodeIndex(dark, "a") }], starts: [] };
    expect(trial.before(plan)).toMatchObject({ unobservedGpus: 2, idleGpus: 0 });
    expect(trial.outcome(plan, "mostAllocated").measures).toMatchObject({ unobservedGpus: 0, idleGpus: 0 });
  });

  it("says what a guarantee changes in the deviation of both queues", () => {
    const queue = (name: string, nominal: number) =>
      kueue.clusterQueue(name, [kueue.quota("any", nominal)], { cohort: "all" });
    const allocated = Array.from({ length: 4 }, (_, i) =>
      gpuPod(`h${i}`, "a", 2, { annotations: { "kueue.x-k8s.io/workload": `h${i}` }, createdAt: now - 100 * i }),
    );
    const analysis = momentOf({
      nodes: [gpuNode("a", 8)],
      pods: allocated,
      queues: {
        ...noQueueObjects,
        kueueResourceFlavors: [kueue.flavor("any")],
        kueueClusterQueues: [queue("a", 2), queue("b", 4)],
        kueueCohorts: [kueue.cohort("all", null, [kueue.quota("any", 2)])],
        kueueLocalQueues: [kueue.localQueue("a", "a"), kueue.localQueue("b", "b")],
        kueueWorkloads: [
          ...allocated.map(({ name }) => kueue.workload(name, [kueue.podSet(1, 2)], kueue.admission("b", "any", 1, 2))),
          kueue.workload("w", [kueue.podSet(1, 8)], { localQueue: "a" }),
        ],
      },
    });
    const at = analysis.snapshot.queueing.queues.findIndex(({ name }) => name === "a");
    const trial = createTrial({ analysis });
    const plan: Plan = { changes: [{ kind: "setQueue", queue: at, guaranteed: 4 }], starts: [] };
    const side = ({ deviations }: { readonly deviations: readonly { queue: string; gpus: number }[] }) =>
      deviations.map(({ queue: name, gpus }) => [name, gpus]);
    expect(side(trial.before(plan))).toEqual([
      ["a", -3],
      ["b", 3],
    ]);
    expect(side(trial.outcome(plan, "mostAllocated").measures)).toEqual([
      ["a", -4],
      ["b", 4],
    ]);
  });

  it("gives a queue more that has thousands below it", () => {
    const analysis = momentOf(kaiChain("chain", 20_000));
    const at = analysis.snapshot.queueing.queues.findIndex(({ name }) => name === chainName(0));
    const plan: Plan = { changes: [{ kind: "setQueue", queue: at, guaranteed: 6 }], starts: [] };
    const { snapshot } = createTrial({ analysis }).outcome(plan, "mostAllocated");
    expect(snapshot.queueing.queues[at]).toMatchObject({ name: chainName(0), guaranteed: 6, allocated: 4 });
  });
});
