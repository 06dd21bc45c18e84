import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createSchedulerSettings,
  readKueueSettings,
  readVolcanoSettings,
  type SettingsPlaces,
} from "../../../../exporter/sources/kubernetes/queues/schedulerSettings.ts";
import { createFakeClock, type FakeClock } from "../fakeClock.ts";
import { answer, type ScriptedApi, settled, startScriptedApi } from "../scriptedApi.ts";

/** As Volcano's own manifests write it (installer/volcano-development.yaml, v1.15). */
const volcanoConf = `actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
`;

const kueueConfig = (version: string, sections: string): object => ({
  "controller_manager_config.yaml": `apiVersion: config.kueue.x-k8s.io/${version}\nkind: Configuration\n${sections}`,
});
const kueueSettings = (version: string, sections: string) => readKueueSettings({ ...kueueConfig(version, sections) });

describe("the configuration of Kueue", () => {
  it("has fair sharing on in v1beta2 where its section is there, in v1beta1 where it is enabled", () => {
    const on = "fairSharing:\n  preemptionStrategies: [LessThanOrEqualToFinalShare]\n";
    expect(kueueSettings("v1beta2", on).settings?.fairSharing).toBe(true);
    expect(kueueSettings("v1beta2", "metrics: {}\n").settings?.fairSharing).toBe(false);
    expect(kueueSettings("v1beta1", "fairSharing: {enable: false}\n").settings?.fairSharing).toBe(false);
    expect(kueueSettings("v1beta1", "fairSharing: {enable: true}\n").settings?.fairSharing).toBe(true);
  });

  it("has admission fair sharing with its weights", () => {
    const sections = `admissionFairSharing:
  usageHalfLifeTime: "168h"
  usageSamplingInterval: "5m"
  resourceWeights: { cpu: 0, memory: 0, nvidia.com/gpu: 100 }
`;
    expect(kueueSettings("v1beta2", sections)).toEqual({
      settings: {
        fairSharing: false,
        admissionFairSharing: {
          halfLifeSeconds: 604_800,
          samplingIntervalSeconds: 300,
          resourceWeights: { cpu: 0, memory: 0, "nvidia.com/gpu": 100 },
        },
      },
      odd: null,
    });
  });

  it("has the gate of priority boosts on or off where it names any gates; else flags may set it", () => {
    const gateOf = (sections: string) => kueueSettings("v1beta2", sections).settings?.priorityBoost;
    expect(gateOf("featureGates: { PriorityBoost: true }\n")).toBe(true);
    expect(gateOf("featureGates: { PriorityBoost: false }\n")).toBe(false);
    expect(gateOf("featureGates: { TopologyAwareScheduling: true }\n")).toBe(false);
    expect(gateOf("featureGates: {}\n")).toBeUndefined();
    expect(gateOf("metrics: {}\n")).toBeUndefined();
  });

  it("has a half-life of 0 where none is set, which switches all history off", () => {
    const { settings } = kueueSettings("v1beta2", "admissionFairSharing: {}\n");
    expect(settings?.admissionFairSharing).toMatchObject({ halfLifeSeconds: 0, samplingIntervalSeconds: 300 });
  });

  it.each([
    ["no key", {}, "has no key controller_manager_config.yaml"],
    ["something else", { "controller_manager_config.yaml": "kind: Other" }, "has no Configuration of Kueue"],
    ["no YAML", { "controller_manager_config.yaml": "a: [1" }, "has no Configuration of Kueue"],
    ["a bomb", { "controller_manager_config.yaml": bomb() }, "has no Configuration of Kueue"],
  ])("with %s says so", (_, data, odd) => {
    const reading = readKueueSettings(data);
    expect(reading.settings).toBeNull();
    expect(reading.odd).toContain(odd);
  });
});

function bomb(): string {
  const levels = Array.from({ length: 12 }, (_, level) => `l${level}: &l${level} [${`*l${level - 1},`.repeat(9)}]`);
  return `kind: Configuration\nl: &l-1 [x]\n${levels.join("\n")}`;
}

describe("the configuration of Volcano's scheduler", () => {
  it("names the plugin that gives queues their share", () => {
    expect(readVolcanoSettings({ "volcano-scheduler.conf": volcanoConf })).toEqual({
      settings: { plugin: "proportion" },
      odd: null,
    });
    const capacity = volcanoConf.replace("proportion", "capacity");
    expect(readVolcanoSettings({ "my-scheduler.conf": capacity }).settings).toEqual({ plugin: "capacity" });
  });

  it("is odd with both plugins, with none, and without tiers", () => {
    const both = volcanoConf.replace("- name: binpack", "- name: capacity");
    expect(readVolcanoSettings({ "volcano-scheduler.conf": both })).toMatchObject({ settings: { plugin: "capacity" } });
    expect(readVolcanoSettings({ "volcano-scheduler.conf": both }).odd).toContain("names both");
    const neither = volcanoConf.replace("proportion", "other");
    expect(readVolcanoSettings({ "volcano-scheduler.conf": neither }).odd).toContain("neither");
    expect(readVolcanoSettings({ "volcano-scheduler.conf": "actions: x" }).odd).toContain("tiers");
  });
});

let clock: FakeClock;
let api: ScriptedApi;
let reader: ReturnType<typeof createSchedulerSettings>;

const place = { namespace: "volcano-system", name: "volcano-scheduler-configmap" };
const path = "/api/v1/namespaces/volcano-system/configmaps/volcano-scheduler-configmap";

/** Starts reading and gives the first answer. */
async function startWith(places: SettingsPlaces, status: number, body: object): Promise<void> {
  reader = createSchedulerSettings(api.client, clock, places);
  const started = reader.start();
  const call = await api.next();
  expect(call.path).toBe(path);
  answer(call, status, body);
  await started;
}

describe("the reader of schedulers' settings", () => {
  beforeEach(async () => {
    clock = createFakeClock();
    api = await startScriptedApi(clock);
  });
  afterEach(async () => {
    await reader.stop();
    await api.close();
  });

  it("reads nothing where nothing is configured", async () => {
    reader = createSchedulerSettings(api.client, clock, {});
    await reader.start();
    expect(reader.read()).toEqual({ kueue: null, volcano: null });
    expect(clock.timers()).toEqual([]);
  });

  it("takes a plugin that the configuration names without reading", async () => {
    reader = createSchedulerSettings(api.client, clock, { volcano: "capacity" });
    await reader.start();
    expect(reader.read()).toEqual({ kueue: null, volcano: { plugin: "capacity" } });
  });

  it("reads again each minute", async () => {
    await startWith({ volcano: place }, 200, { data: { "volcano-scheduler.conf": volcanoConf } });
    expect(reader.read()).toEqual({ kueue: null, volcano: { plugin: "proportion" } });
    expect(reader.problems()).toEqual([]);
    await settled("it waits", () => clock.timers().some((left) => left === 60));
    clock.advance(60);
    const changed = volcanoConf.replace("proportion", "capacity");
    answer(await api.next(), 200, { data: { "volcano-scheduler.conf": changed } });
    await settled("the change is there", () => reader.read().volcano?.plugin === "capacity");
  });

  it("says what to do where it may not read", async () => {
    await startWith({ volcano: place }, 403, { kind: "Status", message: "configmaps is forbidden" });
    expect(reader.read().volcano).toBeNull();
    expect(reader.problems()).toEqual([
      {
        source: "kubernetes",
        code: "scheduler-settings",
        severity: "warning",
        subject: "configmap volcano-system/volcano-scheduler-configmap",
        message:
          "ConfigMap volcano-system/volcano-scheduler-configmap, which queues.volcano.configMap names, cannot be read: HTTP 403: configmaps is forbidden",
        nextStep:
          'Allow Fairlead\'s service account "get" on configmaps by a Role in namespace volcano-system with resourceNames [volcano-scheduler-configmap], or remove queues.volcano.configMap from the configuration.',
      },
    ]);
  });

  it.each([
    [404, { kind: "Status", message: "not found" }, "cannot be read: HTTP 404"],
    [200, { data: {} }, "has no key volcano-scheduler.conf"],
    [200, { data: "text" }, "has no key volcano-scheduler.conf"],
  ])("has a problem with an answer of %s %j", async (status, body, message) => {
    await startWith({ volcano: place }, status, body);
    const [problem] = reader.problems();
    expect(problem?.message).toContain(message);
    expect(problem?.nextStep).toContain("kubectl -n volcano-system get configmap volcano-scheduler-configmap -o yaml");
  });

  it("uses what it read last while it cannot read, for a quarter of an hour", async () => {
    await startWith({ volcano: place }, 200, { data: { "volcano-scheduler.conf": volcanoConf } });
    await settled("it waits", () => clock.timers().some((left) => left === 60));
    clock.advance(60);
    answer(await api.next(), 500, { message: "broken" });
    await settled("the problem is there", () => reader.problems().length === 1);
    expect(reader.read().volcano).toEqual({ plugin: "proportion" });
    clock.advance(841);
    expect(reader.read().volcano).toBeNull();
  });
});
