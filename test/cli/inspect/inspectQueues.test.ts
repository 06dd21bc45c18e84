import { describe, expect, it } from "vitest";
import { readDump } from "../../../cli/inspect/readDump.ts";
import type { DumpFile } from "../../../cli/inspect/readFiles.ts";
import { readDumpFiles } from "../../../cli/inspect/readFiles.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import type { Config } from "../../../exporter/config/schema.ts";
import type { ClusterState } from "../../../exporter/model/cluster.ts";

const captured = new URL("../../captured/queues/", import.meta.url).pathname;
const at = 1_790_000_000;

/** The state that `inspect` makes of captured files. */
async function stateOf(folder: string, only: RegExp): Promise<ClusterState> {
  const read = await readDumpFiles(`${captured}${folder}`);
  const files = (read?.files ?? []).filter(({ path, kind }) => kind === "objects" && only.test(path));
  expect(files.length).toBeGreaterThan(0);
  return readDump({ files, problems: [] }, defaultConfig, at).state;
}

function stateFrom(objects: readonly object[], config: Config = defaultConfig): ClusterState {
  const bytes = Buffer.from(JSON.stringify({ kind: "List", apiVersion: "v1", items: objects }));
  const file: DumpFile = { path: "dump.json", stem: "dump", kind: "objects", bytes, modifiedAt: at };
  return readDump({ files: [file], problems: [] }, config, at).state;
}

const plain = /\/[a-zA-Z]+\.json$/;

describe("inspect of a captured cluster with queues", () => {
  it("reads Kueue's objects, and the evictions that they report", async () => {
    const { queues, known, evictions, problems, requestsByNode, pods } = await stateOf("kueue-0.19", plain);
    expect(queues.kueueClusterQueues.length).toBeGreaterThan(2);
    expect(queues.kueueLocalQueues.length).toBeGreaterThan(2);
    expect(queues.kueueWorkloads.length).toBeGreaterThan(5);
    expect(queues.kueueCohorts.length + queues.kueueResourceFlavors.length).toBe(4);
    expect(queues.kaiQueues.length + queues.volcanoQueues.length).toBe(0);
    expect(known.has("kueueWorkloads")).toBe(true);
    expect(known.has("kaiQueues")).toBe(false);
    expect(evictions).toMatchObject([{ scheduler: "kueue", queue: "vision", reason: "InCohortReclamation" }]);
    expect(problems).toEqual([]);
    expect(pods.length).toBeGreaterThan(0);
    expect([...(requestsByNode?.values() ?? [])].reduce((sum, node) => sum + node.pods, 0)).toBeGreaterThan(0);
  });

  it("keeps the queues and groups of KAI and of Volcano apart", async () => {
    const kai = await stateOf("kai-0.12", /\/(queues|podGroups|schedulingShards)\.json$/);
    expect(kai.queues.kaiQueues.length).toBeGreaterThan(0);
    expect(kai.queues.kaiPodGroups.length).toBeGreaterThan(0);
    expect(kai.queues.kaiSchedulingShards).toHaveLength(1);
    expect(kai.queues.volcanoQueues.length + kai.queues.volcanoPodGroups.length).toBe(0);
    const volcano = await stateOf("volcano-1.15/capacity", /\/(queues|podGroups)\.json$/);
    expect(volcano.queues.volcanoQueues.length).toBeGreaterThan(0);
    expect(volcano.queues.volcanoPodGroups.length).toBeGreaterThan(0);
    expect(volcano.queues.kaiQueues.length + volcano.queues.kaiPodGroups.length).toBe(0);
    expect(volcano.known.has("volcanoQueues")).toBe(true);
    expect(volcano.known.has("kaiQueues")).toBe(false);
  });
});

const meta = (name: string, namespace = "ns"): object => ({ name, namespace, uid: `uid-${name}` });
const volcanoConfigMap = (name: string, plugin: string, key = "volcano-scheduler.conf"): object => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: meta(name, "volcano-system"),
  data: { [key]: `tiers:\n- plugins:\n  - name: ${plugin}\n` },
});
const kueueConfigMap = {
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: meta("kueue-manager-config", "kueue-system"),
  data: {
    "controller_manager_config.yaml":
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}\n",
  },
};

describe("inspect of a dump", () => {
  it("reads quotas, and settings of schedulers from ConfigMaps with known keys", () => {
    const quota = {
      kind: "ResourceQuota",
      apiVersion: "v1",
      metadata: meta("gpus"),
      spec: { hard: { "requests.nvidia.com/gpu": "8" } },
    };
    const { queues, schedulerSettings, problems } = stateFrom([
      quota,
      kueueConfigMap,
      volcanoConfigMap("volcano-scheduler-configmap", "capacity"),
      { kind: "ConfigMap", apiVersion: "v1", metadata: meta("other"), data: { a: "b" } },
    ]);
    expect(queues.resourceQuotas).toMatchObject([{ name: "gpus", hard: { "nvidia.com/gpu": 8 } }]);
    expect(schedulerSettings).toEqual({
      kueue: { fairSharing: true, admissionFairSharing: null },
      volcano: { plugin: "capacity" },
    });
    expect(problems).toEqual([]);
  });

  it("takes the plugin that the configuration names, and reads the ConfigMap that it names", () => {
    const volcano = { ...defaultConfig.queues.volcano, plugin: "proportion" as const };
    const fixed: Config = { ...defaultConfig, queues: { ...defaultConfig.queues, volcano } };
    const objects = [volcanoConfigMap("c", "capacity", "my.conf")];
    expect(stateFrom(objects, fixed).schedulerSettings.volcano).toEqual({ plugin: "proportion" });
    expect(stateFrom(objects).schedulerSettings.volcano).toBeNull();
    const configMap = { namespace: "volcano-system", name: "c" };
    const named = { ...defaultConfig.queues, volcano: { ...defaultConfig.queues.volcano, configMap } };
    expect(stateFrom(objects, { ...defaultConfig, queues: named }).schedulerSettings.volcano).toEqual({
      plugin: "capacity",
    });
  });

  it("says what is odd about a scheduler's ConfigMap", () => {
    const { problems } = stateFrom([volcanoConfigMap("c", "drf")]);
    expect(problems).toMatchObject([{ code: "scheduler-settings", source: "inspect", subject: "dump.json" }]);
  });

  it("leaves a Queue of a system that it does not know alone", () => {
    const { queues, known } = stateFrom([{ kind: "Queue", apiVersion: "example.com/v1", metadata: meta("q") }]);
    expect(Object.values(queues).flat()).toEqual([]);
    expect([...known]).toEqual([]);
  });

  it("sums the requests of all bound pods by node, GPUs or not", () => {
    const pod = (name: string, nodeName: string | undefined, phase: string): object => ({
      kind: "Pod",
      apiVersion: "v1",
      metadata: meta(name),
      spec: { nodeName, containers: [{ name: "c", resources: { requests: { cpu: "500m", memory: "1Gi" } } }] },
      status: { phase },
    });
    const { requestsByNode } = stateFrom([
      pod("a", "n1", "Running"),
      pod("b", "n1", "Pending"),
      pod("c", "n1", "Succeeded"),
      pod("d", undefined, "Pending"),
    ]);
    expect(Object.fromEntries(requestsByNode ?? [])).toEqual({
      n1: { pods: 2, cpuMilli: 1000, memoryBytes: 2 * 2 ** 30 },
    });
    expect(stateFrom([kueueConfigMap]).requestsByNode).toBeNull();
  });

  it("leaves a malformed queue object out, and says which field", () => {
    const { queues, problems } = stateFrom([
      { kind: "ClusterQueue", apiVersion: "kueue.x-k8s.io/v1beta2", metadata: meta("good", "") },
      {
        kind: "ClusterQueue",
        apiVersion: "kueue.x-k8s.io/v1beta2",
        metadata: meta("bad", ""),
        spec: { cohortName: 3 },
      },
    ]);
    expect(queues.kueueClusterQueues.map(({ name }) => name)).toEqual(["good"]);
    expect(problems[0]?.message).toBe("dump.json: ClusterQueue bad is left out: spec.cohortName is 3, expected text.");
  });
});
