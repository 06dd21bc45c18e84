import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { byKind, watchedKindNames, watchedKinds } from "../../../exporter/sources/kubernetes/kinds.ts";
import {
  createKubernetesSource,
  type KubernetesSource,
} from "../../../exporter/sources/kubernetes/kubernetesSource.ts";
import { createFakeClock, type FakeClock } from "./fakeClock.ts";
import { answer, type Call, eventLine, listOf, type ScriptedApi, settled, startScriptedApi } from "./scriptedApi.ts";

/** What the API server has: plurals by group and version. */
type Served = Map<string, readonly string[]>;

let clock: FakeClock;
let api: ScriptedApi;
let source: KubernetesSource;
let served: Served;
let forbidden: RegExp | null;
let items: Map<string, readonly object[]>;
let lists: string[];
let watches: Call[];

const kueue = ["clusterqueues", "localqueues", "cohorts", "resourceflavors", "workloads", "workloadpriorityclasses"];

async function serve(): Promise<void> {
  for (;;) {
    const call = await api.next();
    const [, , group, version, resource] = call.path.split("/");
    const isCore =
      call.path.startsWith("/api/v1/") || group === "policy" || (group === "scheduling.k8s.io" && version === "v1");
    const resources = served.get(`${group}/${version}`);
    if (!isCore && resources === undefined) answer(call, 404, "404 page not found");
    else if (!isCore && resource === undefined) {
      answer(call, 200, { resources: resources?.map((name) => ({ name, kind: name, namespaced: true })) });
    } else if (forbidden?.test(call.path)) answer(call, 403, { kind: "Status", message: `${call.path} is forbidden` });
    else if (!isCore && !resources?.includes(resource ?? "")) answer(call, 404, "404 page not found");
    else if (call.query.has("watch")) {
      watches.push(call);
      call.response.writeHead(200);
      call.response.flushHeaders();
    } else {
      lists.push(call.path);
      answer(call, 200, listOf("10", items.get(call.path) ?? []));
    }
  }
}

async function start(): Promise<void> {
  void serve();
  source = createKubernetesSource({
    client: api.client,
    exporters: [],
    gpuResources: [],
    maxAgeSeconds: 90,
    clock,
    random: () => 0,
  });
  await source.start();
}

beforeEach(async () => {
  clock = createFakeClock();
  api = await startScriptedApi(clock);
  served = new Map();
  forbidden = null;
  items = new Map();
  lists = [];
  watches = [];
});

afterEach(async () => {
  await source.stop();
  await api.close();
});

const clusterQueue = (name: string, spec: object): object => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: "9" },
  spec,
});

describe("the kinds of queue systems", () => {
  it("are named once each, in the order of the table", async () => {
    await start();
    expect(watchedKindNames).toEqual(Object.keys(watchedKinds));
    expect(byKind((kind) => kind)).toMatchObject({ kaiQueues: "kaiQueues", volcanoQueues: "volcanoQueues" });
  });

  it("are known and empty, and no problem, in a cluster without any", async () => {
    await start();
    const { known, queues } = source.read();
    expect(watchedKindNames.filter((kind) => !known.has(kind))).toEqual([]);
    expect(Object.values(queues).flat()).toEqual([]);
    expect(source.problems()).toEqual([]);
    expect(source.status().volcanoQueues.state).toBe("absent");
  });

  it("are read in v1beta2 where the API server has it", async () => {
    served.set("kueue.x-k8s.io/v1beta2", kueue).set("kueue.x-k8s.io/v1beta1", kueue);
    items.set("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", [clusterQueue("q", { cohortName: "new" })]);
    items.set("/apis/kueue.x-k8s.io/v1beta1/clusterqueues", [clusterQueue("q", { cohort: "old" })]);
    await start();
    expect(source.read().queues.kueueClusterQueues.map(({ cohort }) => cohort)).toEqual(["new"]);
    expect(lists.filter((path) => path.includes("v1beta1"))).toEqual([]);
  });

  it("are read in v1beta1 by an older Kueue, and cohorts in v1alpha1 by one still older", async () => {
    served.set(
      "kueue.x-k8s.io/v1beta1",
      kueue.filter((name) => name !== "cohorts"),
    );
    served.set("kueue.x-k8s.io/v1alpha1", ["cohorts"]);
    items.set("/apis/kueue.x-k8s.io/v1beta1/clusterqueues", [clusterQueue("q", { cohort: "old" })]);
    items.set("/apis/kueue.x-k8s.io/v1alpha1/cohorts", [clusterQueue("old", { parent: "root" })]);
    await start();
    const { queues } = source.read();
    expect(queues.kueueClusterQueues.map(({ cohort }) => cohort)).toEqual(["old"]);
    expect(queues.kueueCohorts.map(({ parent }) => parent)).toEqual(["root"]);
  });

  it.each([
    ["1.35", ["v1alpha1"], ["workloads"], "v1alpha1"],
    ["1.36", ["v1alpha2"], ["workloads", "podgroups"], "v1alpha2"],
    ["1.37", ["v1beta1", "v1alpha3"], ["workloads", "podgroups"], "v1beta1"],
    ["1.37 with the alpha version alone", ["v1alpha3"], ["workloads", "podgroups"], "v1alpha3"],
  ])("are Kubernetes' own in the best version of %s", async (_, versions, resources, best) => {
    for (const version of versions) served.set(`scheduling.k8s.io/${version}`, resources);
    items.set(`/apis/scheduling.k8s.io/${best}/workloads`, [clusterQueue("w", {})]);
    await start();
    const { queues } = source.read();
    expect(queues.nativeWorkloads.map(({ name }) => name)).toEqual(["w"]);
    expect(source.status().nativePodGroups.state).toBe(resources.includes("podgroups") ? "synced" : "absent");
    expect(source.problems()).toEqual([]);
  });

  it("are picked up when they appear later, and followed", async () => {
    await start();
    served.set("scheduling.volcano.sh/v1beta1", ["queues", "podgroups"]);
    const path = "/apis/scheduling.volcano.sh/v1beta1/queues";
    items.set(path, [clusterQueue("batch", { weight: 3 })]);
    clock.advance(61);
    await settled("queues are read", () => source.read().queues.volcanoQueues.length === 1);
    expect(source.status().volcanoQueues.state).toBe("synced");
    await settled("queues are watched", () => watches.some((call) => call.path === path));
    const added = { metadata: { name: "more", uid: "uid-more", resourceVersion: "11" }, spec: { weight: 5 } };
    watches.find((call) => call.path === path)?.response.write(eventLine("ADDED", added));
    await settled("the new queue is there", () => source.read().queues.volcanoQueues.length === 2);
    expect(source.read().queues.volcanoQueues.map(({ weight }) => weight)).toEqual([3, 5]);
  });

  it("are empty again when they are taken away", async () => {
    served.set("scheduling.volcano.sh/v1beta1", ["queues", "podgroups"]);
    const path = "/apis/scheduling.volcano.sh/v1beta1/queues";
    items.set(path, [clusterQueue("batch", {})]);
    await start();
    await settled("queues are watched", () => watches.some((call) => call.path === path));
    served.clear();
    const gone = { kind: "Status", code: 410, message: "gone" };
    watches.find((call) => call.path === path)?.response.end(eventLine("ERROR", gone));
    await settled("the watch has ended", () => clock.timers().some((left) => left > 0 && left <= 1));
    clock.advance(1);
    await settled("queues are absent", () => source.status().volcanoQueues.state === "absent");
    expect(source.read().queues.volcanoQueues).toEqual([]);
    expect(source.read().known.has("volcanoQueues")).toBe(true);
  });

  it("that may not be read are a problem by name, and others go on", async () => {
    served.set("kueue.x-k8s.io/v1beta2", kueue);
    served.set("scheduling.run.ai/v2", ["queues"]);
    forbidden = /workloads$|run\.ai\/v2\/queues$|resourcequotas$/;
    items.set("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", [clusterQueue("q", {})]);
    await start();
    const { known, queues } = source.read();
    expect(queues.kueueClusterQueues).toHaveLength(1);
    expect(known.has("kueueWorkloads")).toBe(false);
    expect(source.problems().map(({ code, subject, nextStep }) => [code, subject, nextStep])).toEqual(
      [
        ["workloads.kueue.x-k8s.io", "the Helm value rbac.optional.kueue=true does"],
        ["queues.scheduling.run.ai", "the Helm value rbac.optional.kai=true does"],
        ["resourcequotas", "the ClusterRole that comes with it does"],
      ].map(([kind, how]) => [
        "forbidden",
        kind,
        expect.stringContaining(`Grant list and watch on ${kind} to Fairlead's service account: ${how}`),
      ]),
    );
  });

  it("that may not be read and are not there are no problem", async () => {
    forbidden = /scheduling\.run\.ai|volcano/;
    await start();
    expect(source.problems()).toEqual([]);
    expect(source.read().known.has("kaiQueues")).toBe(true);
  });

  it("are asked for in JSON", async () => {
    served.set("kueue.x-k8s.io/v1beta2", kueue);
    await start();
    await settled("workloads are watched", () => watches.some(({ path }) => path.endsWith("/workloads")));
    expect(watches.find(({ path }) => path.endsWith("/workloads"))?.accept).toBe("application/json");
  });

  it("report an eviction that comes and goes between two reads", async () => {
    served.set("kueue.x-k8s.io/v1beta2", kueue);
    const path = "/apis/kueue.x-k8s.io/v1beta2/workloads";
    const workload = (version: string, evicted: object): object => ({
      metadata: { name: "w", namespace: "ns", uid: "w1", resourceVersion: version },
      status: {
        admission: { clusterQueue: "q", podSetAssignments: [{ name: "m", count: 1, resourceUsage: { cpu: "2" } }] },
        conditions: [
          { type: "Admitted", status: "True", lastTransitionTime: "2026-11-20T10:00:00Z" },
          { type: "Evicted", ...evicted },
        ],
      },
    });
    const isFalse = { status: "False", reason: "None" };
    const isTrue = { status: "True", reason: "NodeFailures", lastTransitionTime: "2026-11-20T11:00:00Z" };
    items.set(path, [workload("9", isFalse)]);
    await start();
    expect(source.read().evictions).toEqual([]);
    await settled("workloads are watched", () => watches.some((call) => call.path === path));
    watches
      .find((call) => call.path === path)
      ?.response.write(eventLine("MODIFIED", workload("11", isTrue)) + eventLine("MODIFIED", workload("12", isFalse)));
    await settled("both events are read", () => source.read().resourceVersions.kueueWorkloads === "12");
    expect(source.read().evictions).toMatchObject([
      {
        name: "w",
        reason: "NodeFailures",
        isPreemption: false,
        allocated: { cpu: 2 },
        at: Date.parse("2026-11-20T11:00Z") / 1000,
      },
    ]);
  });
});
