import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { shortestNumber } from "../../../simulator/pages/page.ts";
import { noQueueing } from "../../../simulator/queues/spec.ts";
import type { DialectName, GpuRequest, NodeMode, Scenario, SharedRows } from "../../../simulator/scenario.ts";
import { exporterOf, gpuNode, workloadOf } from "../../../simulator/scenarios/parts.ts";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { getText } from "../apiClient.ts";
import { familyNames, readStrictly, type Sample } from "../exposition.ts";
import { generatedScenario } from "../scenarios/generated.ts";

const startAt = 1_795_000_020;
const dialectNames: readonly DialectName[] = ["2.4", "3.3", "old-namespace", "4.5", "4.8.3"];
const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
});

/** One node with two A100 and `pods` busy pods that all ask for the same. */
function oneNode(mode: NodeMode, exporter: Parameters<typeof exporterOf>, request: GpuRequest, pods: number): Scenario {
  const workload = workloadOf("Pod", "lab", 1, request, { kind: "bursts", level: 0.6, duty: 1 });
  return {
    name: "one-node",
    nodes: [gpuNode("n1", "A100", 2, mode, { exporter: exporterOf(...exporter) })],
    namespaces: [{ name: "lab", team: "lab" }],
    priorityClasses: {},
    habits: [
      { name: "busy", workload, initial: pods, everySeconds: null, maxWaiting: 0, runSeconds: null, failRatio: 0 },
    ],
    placed: [],
    queueing: noQueueing,
    placement: "pack",
    warmupSeconds: 120,
    collectionInterval: 30,
    faults: [],
  };
}

async function start(scenario: Scenario): Promise<Simulator> {
  const simulator = await startSimulator({ scenario, seed: 7, startAt });
  running.push(simulator);
  return simulator;
}

async function samplesOf(simulator: Simulator, node = "n1"): Promise<readonly Sample[]> {
  return readStrictly(await getText(simulator.metricsUrls.get(node) ?? ""));
}

const named = (samples: readonly Sample[], name: string): readonly Sample[] => samples.filter((s) => s.name === name);
const label = (sample: Sample | undefined, name: string): string | undefined => sample?.labels.get(name);
const physicalGpu = { kind: "physicalGpus", count: 1 } as const;

describe("pages of the simulated exporters", () => {
  it("are strict exposition text in every generated cluster", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1e6 }), async (seed) => {
        const simulator = await startSimulator({ scenario: generatedScenario(seed, 6), seed, startAt });
        try {
          for (const url of simulator.metricsUrls.values()) {
            expect(readStrictly(await getText(url)).length).toBeGreaterThan(0);
          }
        } finally {
          await simulator.stop();
        }
      }),
      { numRuns: 20, seed: 20261121 },
    );
  });

  it.each(dialectNames)("say in dialect %s what the exporter saw", async (dialect) => {
    const simulator = await start(oneNode({ kind: "whole" }, [dialect], physicalGpu, 1));
    const samples = await samplesOf(simulator);
    const old = dialect === "old-namespace";
    const truth = simulator.truth();
    expect(truth.observedAt).toBe(truth.at);
    for (const reported of truth.physicalGpus) {
      const mine = samples.filter((s) => (label(s, "UUID") ?? label(s, "uuid")) === reported.uuid);
      const [util] = named(mine, old ? "dcgm_gpu_utilization" : "DCGM_FI_DEV_GPU_UTIL");
      expect(reported.observed).toBe(reported.activity);
      expect(util?.value).toBe(Math.round(100 * (reported.observed ?? -1)));
      const ratio = named(mine, "DCGM_FI_PROF_GR_ENGINE_ACTIVE")[0]?.value;
      if (!old) expect(ratio).toBeCloseTo(reported.observed ?? -1, 6);
    }
    expect(truth.physicalGpus.some((reported) => (reported.observed ?? 0) > 0.4)).toBe(true);
  });

  it.each([
    ["2.4", "Hostname", "pod", ""],
    ["3.3", "Hostname", "pod", undefined],
    ["4.5", "Hostname", "pod", undefined],
    ["4.8.3", "hostname", "pod", undefined],
    ["old-namespace", undefined, "pod_name", ""],
  ] as const)("use in dialect %s its own labels", async (dialect, host, pod, idle) => {
    const simulator = await start(oneNode({ kind: "whole" }, [dialect], physicalGpu, 1));
    const samples = await samplesOf(simulator);
    const util = named(samples, dialect === "old-namespace" ? "dcgm_gpu_utilization" : "DCGM_FI_DEV_GPU_UTIL");
    const holder = simulator.truth().physicalGpus[0]?.holders[0]?.pod;
    expect(util).toHaveLength(2);
    expect(label(util[0], pod)).toBe(holder);
    expect(label(util[1], pod)).toBe(idle);
    expect([...(util[0]?.labels.keys() ?? [])].filter((key) => /hostname/i.test(key))).toEqual(host ? [host] : []);
    if (dialect === "2.4") expect(label(util[0], "Hostname")).toMatch(/^nvidia-dcgm-exporter-/);
    else if (host !== undefined) expect(label(util[0], host)).toBe("n1");
    expect(util[0]?.labels.has("pod_uid")).toBe(dialect.startsWith("4."));
  });

  it("have no profiling fields before 4.x unless the operator's list is used", async () => {
    const bare = await start(oneNode({ kind: "whole" }, ["3.3", { counters: "default" }], physicalGpu, 1));
    const operator = await start(oneNode({ kind: "whole" }, ["3.3"], physicalGpu, 1));
    const later = await start(oneNode({ kind: "whole" }, ["4.5", { counters: "default" }], physicalGpu, 1));
    const count = async (simulator: Simulator): Promise<number> =>
      named(await samplesOf(simulator), "DCGM_FI_PROF_GR_ENGINE_ACTIVE").length;
    expect([await count(bare), await count(operator), await count(later)]).toEqual([0, 2, 2]);
  });

  it("show further fields in a list of one's own, and lack what it leaves out", async () => {
    const all = await start(
      oneNode({ kind: "whole" }, ["4.5", { counters: "all", lacks: ["DCGM_FI_DEV_POWER_USAGE"] }], physicalGpu, 1),
    );
    const samples = await samplesOf(all);
    for (const name of ["DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_DEV_POWER_MGMT_LIMIT"])
      expect(named(samples, name)).toHaveLength(2);
    expect(named(samples, "DCGM_FI_DEV_POWER_USAGE")).toEqual([]);
    const usual = await samplesOf(await start(oneNode({ kind: "whole" }, ["4.5"], physicalGpu, 1)));
    expect(named(usual, "DCGM_FI_PROF_SM_ACTIVE")).toEqual([]);
    expect(named(usual, "DCGM_FI_DEV_POWER_USAGE")).toHaveLength(2);
  });

  it("show the power limit that is set, and why clocks are not at their highest", async () => {
    const request = { kind: "physicalGpus", count: 2 } as const;
    const simulator = await start(oneNode({ kind: "whole" }, ["4.5", { counters: "all" }], request, 1));
    const values = async (name: string): Promise<readonly number[]> =>
      named(await samplesOf(simulator), name).map(({ value }) => value);
    const limits = await values("DCGM_FI_DEV_POWER_MGMT_LIMIT");
    simulator.fault({ kind: "gpu-slowed", node: "n1", physicalGpu: 0, reasons: 0x40, watts: 90 });
    simulator.fault({ kind: "gpu-capped", node: "n1", physicalGpu: 1, watts: 80 });
    simulator.advance(60);
    expect(await values("DCGM_FI_DEV_CLOCKS_EVENT_REASONS")).toEqual([0x40, 0x4]);
    expect(await values("DCGM_FI_DEV_POWER_USAGE")).toEqual([90, 80]);
    expect(await values("DCGM_FI_DEV_POWER_MGMT_LIMIT")).toEqual([limits[0], 80]);
  });

  it("sort families and use exponents in 4.8.3 only", async () => {
    const sorted = await getText(
      (await start(oneNode({ kind: "whole" }, ["4.8.3"], physicalGpu, 1))).metricsUrls.get("n1") ?? "",
    );
    const listed = await getText(
      (await start(oneNode({ kind: "whole" }, ["4.5"], physicalGpu, 1))).metricsUrls.get("n1") ?? "",
    );
    expect(familyNames(sorted)).toEqual([...familyNames(sorted)].sort());
    expect(familyNames(listed)).not.toEqual([...familyNames(listed)].sort());
    const energy = (page: string): string =>
      named(readStrictly(page), "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")[0]?.text ?? "";
    expect(energy(sorted)).toMatch(/e\+\d\d$/);
    expect(energy(listed)).toMatch(/^\d+$/);
  });

  it("repeat values between two looks of the exporter", async () => {
    const simulator = await start(oneNode({ kind: "whole" }, ["4.5"], physicalGpu, 2));
    const url = simulator.metricsUrls.get("n1") ?? "";
    const pages: string[] = [];
    for (let i = 0; i < 7; i++) {
      pages.push(await getText(url));
      simulator.advance(10);
    }
    expect(pages[1]).toBe(pages[0]);
    expect(pages[2]).toBe(pages[0]);
    expect(pages[3]).not.toBe(pages[0]);
    expect(pages[5]).toBe(pages[3]);
    expect(pages[6]).not.toBe(pages[3]);
  });
});

describe("pages of shared GPUs", () => {
  const sliced = { kind: "time-slicing", replicas: 4, renamed: false } as const;
  const replica = { kind: "replicas", count: 1, strategy: "time-slicing", renamed: false } as const;
  const shared = (dialect: DialectName, sharedRows: SharedRows): Scenario =>
    oneNode(sliced, [dialect, { sharedRows }], replica, 6);

  it("name one changing sharer without the virtual-GPU flag", async () => {
    const simulator = await start(shared("4.5", "one-arbitrary-pod"));
    const seen = new Set<string | undefined>();
    for (let i = 0; i < 20; i++) {
      const util = named(await samplesOf(simulator), "DCGM_FI_DEV_GPU_UTIL");
      expect(util).toHaveLength(2);
      seen.add(label(util[0], "pod"));
      simulator.advance(10);
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  it("copy every row per sharer up to 4.8.1", async () => {
    const simulator = await start(shared("4.5", "copies"));
    const samples = await samplesOf(simulator);
    for (const reported of simulator.truth().physicalGpus) {
      const util = named(samples, "DCGM_FI_DEV_GPU_UTIL").filter((s) => label(s, "UUID") === reported.uuid);
      expect(util.map((s) => label(s, "pod")).sort()).toEqual(reported.holders.map((holder) => holder.pod).sort());
      expect(new Set(util.map((s) => s.value)).size).toBe(1);
      expect(util.every((s) => s.labels.has("vgpu"))).toBe(true);
    }
    expect(named(samples, "DCGM_FI_DEV_POWER_USAGE")).toHaveLength(6);
  });

  it("show per-process values beside the device row from 4.8.2", async () => {
    const simulator = await start(shared("4.8.3", "per-process"));
    const samples = await samplesOf(simulator);
    for (const reported of simulator.truth().physicalGpus) {
      const util = named(samples, "DCGM_FI_DEV_GPU_UTIL").filter((s) => label(s, "UUID") === reported.uuid);
      const [device] = util.filter((s) => !s.labels.has("pod"));
      const pods = util.filter((s) => s.labels.has("pod"));
      expect(device?.value).toBe(Math.round(100 * (reported.observed ?? -1)));
      for (const holder of reported.holders) {
        const mine = pods.find((s) => label(s, "pod") === holder.pod);
        expect(mine?.value).toBe(Math.round(100 * holder.share * holder.activity));
      }
    }
    // Other families are copies without a device row.
    const power = named(samples, "DCGM_FI_DEV_POWER_USAGE");
    expect(power).toHaveLength(6);
    expect(power.every((s) => s.labels.has("pod"))).toBe(true);
  });

  it("have only instance rows on MIG GPUs, without GPU_UTIL, with the GPU's power on each", async () => {
    const layouts = [["3g.40gb", "2g.20gb", "1g.10gb"]];
    const request = { kind: "mig", profile: "1g.10gb", count: 1, strategy: "mig-mixed" } as const;
    const simulator = await start(oneNode({ kind: "mig-mixed", layouts }, ["4.5"], request, 1));
    const samples = await samplesOf(simulator);
    expect(named(samples, "DCGM_FI_DEV_GPU_UTIL")).toEqual([]);
    const active = named(samples, "DCGM_FI_PROF_GR_ENGINE_ACTIVE");
    expect(active).toHaveLength(6);
    for (const reported of simulator.truth().physicalGpus) {
      for (const instance of reported.migInstances) {
        const row = active.find((s) => label(s, "UUID") === reported.uuid && label(s, "GPU_I_ID") === instance.id);
        expect(label(row, "GPU_I_PROFILE")).toBe(instance.profile);
        expect(row?.value).toBeCloseTo(instance.observed ?? -1, 6);
        expect(label(row, "pod")).toBe(instance.holder?.pod);
      }
    }
    const power = named(samples, "DCGM_FI_DEV_POWER_USAGE").slice(0, 3);
    expect(new Set(power.map((s) => s.value)).size).toBe(3);
    expect(Math.min(...power.map((s) => s.value))).toBeGreaterThan(0.98 * Math.max(...power.map((s) => s.value)));
  });

  it("name the reservation pod for KAI fractions, nobody for HAMi, the claim for DRA when labelled", async () => {
    const kai = await start(oneNode({ kind: "kai" }, ["4.5"], { kind: "fraction", share: 0.5 }, 2));
    const [allocated] = named(await samplesOf(kai), "DCGM_FI_DEV_GPU_UTIL");
    expect(label(allocated, "namespace")).toBe("kai-resource-reservation");
    expect(kai.truth().physicalGpus[0]?.holders.map((holder) => holder.share)).toEqual([0.5, 0.5]);

    const request = { kind: "hami", memoryMiB: 4096, corePercent: 30 } as const;
    const hami = await start(oneNode({ kind: "hami", splits: 10 }, ["4.5"], request, 2));
    expect((await samplesOf(hami)).some((s) => s.labels.has("pod"))).toBe(false);
    expect(hami.truth().physicalGpus[0]?.holders.map((holder) => holder.share)).toEqual([0.3, 0.3]);

    const claim = { kind: "claim", count: 1, shared: false } as const;
    const dra = { kind: "dra", monitoringClaim: false } as const;
    const silent = await start(oneNode(dra, ["4.5"], claim, 1));
    expect((await samplesOf(silent)).some((s) => s.labels.has("pod"))).toBe(false);
    const labelled = await start(oneNode(dra, ["4.8.3", { draLabels: true }], claim, 1));
    const [row] = named(await samplesOf(labelled), "DCGM_FI_DEV_GPU_UTIL");
    expect(label(row, "dra_device_name")).toBe("gpu-1");
    expect(label(row, "gpu")).toBe("0");
    expect(label(row, "pod")).toBe(labelled.truth().physicalGpus[0]?.holders[0]?.pod);
  });

  it("lack power, temperature and profiling in a vGPU guest, whose UUID ends in zeros", async () => {
    const simulator = await start(oneNode({ kind: "vgpu-guest" }, ["4.5"], physicalGpu, 1));
    const samples = await samplesOf(simulator);
    const names = new Set(samples.map((s) => s.name));
    for (const absent of ["DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"]) {
      expect(names.has(absent)).toBe(false);
    }
    expect(named(samples, "DCGM_FI_DEV_GPU_UTIL")).toHaveLength(2);
    expect(simulator.truth().physicalGpus[0]?.uuid).toMatch(/-0000-000000000000$/);
  });
});

describe("shortestNumber", () => {
  it.each([
    [0, "0"],
    [0.5, "0.5"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [123456.5, "123456.5"],
    [1e6, "1e+06"],
    [128996013, "1.28996013e+08"],
  ])("writes %d as Go does: %s", (value, text) => {
    expect(shortestNumber(value, false)).toBe(text);
  });
});
