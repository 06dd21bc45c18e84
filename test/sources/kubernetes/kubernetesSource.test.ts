import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createKubernetesSource,
  type KubernetesSource,
} from "../../../exporter/sources/kubernetes/kubernetesSource.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import { answer, type Call, eventLine, listOf, type ScriptedApi, settled, startScriptedApi } from "./scriptedApi.ts";

let clock: FakeClock;
let api: ScriptedApi;
let source: KubernetesSource;
let isDown: boolean;
let isMute: boolean;
let open: Call[];

/** Kinds that this cluster has and lets Fairlead read. */
const watchedHere = 8;
const absentGroups =
  /^\/apis\/(resource\.k8s\.io|kueue\.x-k8s\.io|scheduling\.run\.ai|scheduling\.x-k8s\.io|kai\.scheduler|scheduling\.volcano\.sh|topology\.volcano\.sh|karpenter\.sh|autoscaling|autoscaling\.k8s\.io|keda\.sh)\/|^\/apis\/scheduling\.k8s\.io\/v1(alpha|beta)/;

/** A cluster of one pod with GPUs and its Job, without optional kinds and without permission for budgets. */
async function serve(): Promise<void> {
  for (;;) {
    const call = await api.next();
    if (isMute) continue;
    if (isDown) answer(call, 503, { kind: "Status", message: "down" });
    else if (absentGroups.test(call.path)) answer(call, 404, "404 page not found");
    else if (call.path.endsWith("/poddisruptionbudgets")) answer(call, 403, { kind: "Status", message: "forbidden" });
    else if (call.path.endsWith("/jobs/j")) answer(call, 200, { metadata: { name: "j", namespace: "ns", uid: "j1" } });
    else if (call.query.has("watch")) {
      open.push(call);
      call.response.writeHead(200);
      call.response.flushHeaders();
    } else answer(call, 200, listOf("10", call.path === "/api/v1/pods" ? [trainingPod] : []));
  }
}

const trainingPod = {
  metadata: {
    name: "p",
    namespace: "ns",
    uid: "p1",
    resourceVersion: "9",
    ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid: "j1", controller: true }],
  },
  spec: { nodeName: "n", containers: [{ name: "c", resources: { limits: { "nvidia.com/gpu": "1", cpu: "4" } } }] },
  status: { phase: "Running" },
};

beforeEach(async () => {
  clock = createFakeClock();
  api = await startScriptedApi(clock);
  isDown = false;
  isMute = false;
  open = [];
  void serve();
  source = createKubernetesSource({
    client: api.client,
    exporters: [{ namespaces: ["gpu-operator"], matchLabels: { app: "in (" } }],
    gpuResources: [],
    maxAgeSeconds: 90,
    clock,
    random: () => 0,
  });
  await source.start();
  await settled("all watches are open", () => open.length === watchedHere);
});

afterEach(async () => {
  await source.stop();
  await api.close();
});

describe("the Kubernetes source", () => {
  it("knows what it could read; an absent kind is known to be empty, a forbidden one is not known", async () => {
    clock.advance(2);
    const state = source.read();
    expect([...state.known].sort()).toEqual([
      "coschedulingPodGroups",
      "deviceTaintRules",
      "horizontalPodAutoscalers",
      "kaiPodGroups",
      "kaiQueues",
      "kaiSchedulingShards",
      "kaiTopologies",
      "karpenterNodePools",
      "kueueAdmissionChecks",
      "kueueClusterQueues",
      "kueueCohorts",
      "kueueLocalQueues",
      "kueueResourceFlavors",
      "kueueTopologies",
      "kueueWorkloadPriorityClasses",
      "kueueWorkloads",
      "limitRanges",
      "namespaces",
      "nativePodGroups",
      "nativeWorkloads",
      "nodes",
      "owners",
      "persistentVolumeClaims",
      "persistentVolumes",
      "pods",
      "priorityClasses",
      "resourceClaims",
      "resourceQuotas",
      "resourceSlices",
      "scaledObjects",
      "verticalPodAutoscalers",
      "volcanoHyperNodes",
      "volcanoPodGroups",
      "volcanoQueues",
    ]);
    // What is absent has no age: nobody's numbers rest on it.
    const parts = source.freshness().map(({ part }) => part);
    expect(parts).toEqual(expect.arrayContaining(["nodes", "pods", "podDisruptionBudgets"]));
    expect(parts).not.toContain("kueueClusterQueues");
    expect(state.pods.map(({ name }) => name)).toEqual(["p"]);
    expect(state.owners.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["Job/j"]);
    expect(state.podCount).toBe(1);
    expect(state.resourceVersions.pods).toBe("10");
    expect(source.requestsByNode()?.get("n")).toEqual({ pods: 1, cpuMilli: 4000, memoryBytes: 0 });
  });

  it("reports what is wrong, and nothing else", () => {
    expect(source.problems().map(({ code, subject }) => [code, subject])).toEqual([
      ["bad-selector", "app=in ("],
      ["forbidden", "poddisruptionbudgets.policy"],
    ]);
  });

  it("gives the same arrays while nothing changes", () => {
    const [one, other] = [source.read(), source.read()];
    for (const kind of ["nodes", "pods", "namespaces", "owners", "exporterPods"] as const) {
      expect(other[kind]).toBe(one[kind]);
    }
  });

  it("gives the same records when all is listed anew and nothing has changed", async () => {
    const before = source.read();
    const watch = open.find(({ path }) => path === "/api/v1/pods");
    watch?.response.end(eventLine("ERROR", { kind: "Status", code: 410, message: "too old resource version" }));
    await settled("the watch has ended", () => clock.timers().some((left) => left > 0 && left <= 1));
    clock.advance(1);
    await settled("pods are listed anew", () => source.status().pods.lists === 2);
    expect(before.pods).toHaveLength(1);
    expect(source.read().pods).toBe(before.pods);
  });

  it("does not doubt a quiet kind while its watch is opened anew", async () => {
    const before = open.length;
    clock.advance(72);
    expect(source.read().known.has("pods")).toBe(true);
    await settled("all watches are open again", () => open.length === before + watchedHere);
    await settled("the age is 0 again", () => source.status().pods.ageSeconds === 0);
    expect(source.status().pods).toMatchObject({ state: "synced", lists: 1, watches: 2 });
  });

  it("never takes a dead connection at its word for longer than the age limit", async () => {
    isMute = true;
    clock.advance(71);
    expect(source.read().known.has("pods")).toBe(true);
    clock.advance(19);
    expect(source.read().known.has("pods")).toBe(true);
    clock.advance(1);
    expect(source.read().known.has("pods")).toBe(false);
  });

  it("uses the last good state up to its age, and says that reading fails", async () => {
    isDown = true;
    for (const { response } of open) response.destroy();
    await settled("the cut is noticed", () => source.status().pods.state === "failing");
    clock.advance(60);
    expect(source.read().pods).toHaveLength(1);
    expect(source.problems().find(({ subject }) => subject === "pods")).toMatchObject({ severity: "warning" });
    clock.advance(31);
    const state = source.read();
    expect(state.known.has("pods")).toBe(false);
    expect(state.known.has("owners")).toBe(false);
    expect([state.pods, state.owners, state.podCount]).toEqual([[], [], 0]);
    expect(source.requestsByNode()).toBeNull();
    expect(source.problems().find(({ subject }) => subject === "pods")).toMatchObject({
      severity: "error",
      message: expect.stringContaining("last right 91 s ago"),
    });
    expect(source.freshness().find(({ part }) => part === "pods")).toMatchObject({ fresh: false });
  });
});
