import { describe, expect, test } from "vitest";
import { onlyDevice, read, sample } from "./pages.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";
const used = "DCGM_FI_DEV_FB_USED";
const power = "DCGM_FI_DEV_POWER_USAGE";
const engine = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";
const mebibyte = 1024 * 1024;
const pod = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  container: "main",
  namespace: "team-a",
  pod: name,
  ...more,
});
const mig = (id: string, profile = "1g.10gb") => ({ GPU_I_PROFILE: profile, GPU_I_ID: id });

describe("who is on a device", () => {
  test.each([
    ["labels empty (up to 3.4.0)", { container: "", namespace: "", pod: "" }],
    ["labels absent (later)", {}],
    ["an empty pod_uid alone", { pod_uid: "" }],
  ])("unallocated: %s", (_case, labels) => {
    expect(onlyDevice(read([sample(util, 0, 0, labels)])).claimants).toEqual([]);
  });

  test("several containers of one pod are one claimant", () => {
    const device = onlyDevice(
      read([
        sample(util, 0, 5, pod("p", { pod_uid: "u-1" })),
        sample(util, 0, 5, pod("p", { container: "side", pod_uid: "u-1" })),
      ]),
    );
    expect(device.claimants).toEqual([
      {
        namespace: "team-a",
        pod: "p",
        podUid: "u-1",
        container: "main",
        slots: 1,
        processUtil: null,
        processMemoryBytes: null,
        claim: null,
      },
    ]);
  });

  test("one DRA claim of two pods: one device, two claimants, values not doubled", () => {
    const claim = { dra_claim_name: "single-gpu", dra_claim_namespace: "gpu-test3" };
    const device = onlyDevice(read([sample(power, 0, 100, pod("p1", claim)), sample(power, 0, 100, pod("p2", claim))]));
    expect(device.powerWatts).toBe(100);
    expect(device.claimants.map(({ pod: name, claim: found }) => [name, found])).toEqual([
      ["p1", { namespace: "gpu-test3", name: "single-gpu" }],
      ["p2", { namespace: "gpu-test3", name: "single-gpu" }],
    ]);
  });

  const exporter = { container: "nvidia-dcgm-exporter", namespace: "gpu-operator", pod: "nvidia-dcgm-exporter-9v4gs" };
  const chart = { container: "exporter", namespace: "monitoring", pod: "gpu-metrics-x7" };
  const exported = { exported_container: "main", exported_namespace: "team-a", exported_pod: "worker-0" };
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["honorLabels false, allocated", { ...exporter, ...exported }, ["team-a/worker-0"]],
    ["honorLabels false, unallocated", exporter, []],
    ["honorLabels true, allocated", pod("worker-0"), ["team-a/worker-0"]],
    ["honorLabels true, unallocated, labels filled in", exporter, []],
    ["honorLabels false, chart's container, allocated", { ...chart, ...exported }, ["team-a/worker-0"]],
    ["honorLabels false, chart's container, unallocated", chart, []],
    ["target labels without container", { namespace: "gpu-operator", pod: "nvidia-dcgm-exporter-9v4gs" }, []],
    [
      "only the pod collides",
      { pod: "x-exporter", exported_pod: "worker-0", namespace: "team-a" },
      ["team-a/worker-0"],
    ],
    ["old namespace beside target labels", { ...exporter, pod_name: "p", pod_namespace: "n" }, ["n/p"]],
  ])("through Prometheus: %s", (_case, labels, claimants) => {
    const device = onlyDevice(read([sample(util, 0, 1, labels)], { origin: "prometheus" }));
    expect(device.claimants.map(({ namespace, pod: name }) => `${namespace}/${name}`)).toEqual(claimants);
  });

  test("a pod that is beside an exported pod elsewhere is the target's own", () => {
    const own = { namespace: "gpu", pod: "telemetry-1", container: "app" };
    const page = read([sample(util, 0, 1, { ...own, ...exported }), sample(util, 1, 0, own)], { origin: "prometheus" });
    expect(page.devices.map(({ claimants }) => claimants.length)).toEqual([1, 0]);
  });

  test("on an exporter's own page exported_* is a pod's own label and takes nobody's place", () => {
    const device = onlyDevice(read([sample(util, 0, 1, { ...exported, ...pod("real") })]));
    expect(device.claimants.map(({ pod: name }) => name)).toEqual(["real"]);
  });

  test("the exporter itself, labelled through its monitoring claim, is no claimant", () => {
    expect(onlyDevice(read([sample(util, 0, 1, exporter)])).claimants).toEqual([]);
  });
});

describe("time-slicing and MPS", () => {
  const copies = [pod("p1", { vgpu: "0" }), pod("p2", { vgpu: "1" }), pod("p2", { vgpu: "2" })];

  test("copies only (up to 4.8.1): the device's value once, slots per pod, no per-process values", () => {
    const device = onlyDevice(
      read([
        ...copies.map((labels) => sample(util, 0, 80, labels)),
        ...copies.map((labels) => sample(power, 0, 300, labels)),
      ]),
    );
    expect(device).toMatchObject({ gpuUtil: 0.8, powerWatts: 300, virtualSlots: 3 });
    expect(device.claimants.map(({ pod: name, slots, processUtil }) => [name, slots, processUtil])).toEqual([
      ["p1", 1, null],
      ["p2", 2, null],
    ]);
  });

  test("per-process rows beside the device's row (4.5.3-4.8.2 and later)", () => {
    const device = onlyDevice(
      read([
        sample(util, 0, 80),
        sample(util, 0, 60, copies[0]),
        sample(util, 0, 15, copies[1]),
        sample(util, 0, 15, copies[2]),
        sample(used, 0, 4000),
        sample(used, 0, 3000, copies[0]),
        sample(used, 0, 0, copies[1]),
        sample(used, 0, 0, copies[2]),
        ...copies.map((labels) => sample(power, 0, 300, labels)),
      ]),
    );
    expect(device).toMatchObject({ gpuUtil: 0.8, memoryUsedBytes: 4000 * mebibyte, powerWatts: 300 });
    expect(
      device.claimants.map(({ pod: name, processUtil, processMemoryBytes }) => [name, processUtil, processMemoryBytes]),
    ).toEqual([
      ["p1", 0.6, 3000 * mebibyte],
      ["p2", 0.15, 0],
    ]);
  });

  test("the device's row counts even where a process is said to use more", () => {
    const device = onlyDevice(
      read([sample(util, 0, 50), sample(util, 0, 70, copies[0]), sample(util, 0, 5, copies[1])]),
    );
    expect(device.gpuUtil).toBe(0.5);
    expect(device.claimants.map(({ processUtil }) => processUtil)).toEqual([0.7, 0.05]);
  });

  test("copies beside a device's row stay copies", () => {
    const device = onlyDevice(
      read([sample(util, 0, 80), sample(util, 0, 80, copies[0]), sample(util, 0, 80, copies[1])]),
    );
    expect(device.claimants.map(({ processUtil }) => processUtil)).toEqual([null, null]);
  });
});

describe("MIG", () => {
  test("identity is UUID and instance; power, energy, temperature and XID are the GPU's maximum", () => {
    const page = read([
      sample(power, 0, "112.252", mig("3")),
      sample(power, 0, "106.463", mig("13")),
      sample(engine, 0, "0.5", mig("3", "2g.20gb")),
      sample(engine, 0, "0.1", mig("13")),
      sample(used, 0, 10, mig("13")),
    ]);
    expect(page.devices).toMatchObject([
      { gpuInstance: "3", grEngineActive: 0.5, memoryUsedBytes: null, powerWatts: 112.252 },
      {
        gpuInstance: "13",
        profile: "1g.10gb",
        grEngineActive: 0.1,
        memoryUsedBytes: 10 * mebibyte,
        powerWatts: 112.252,
      },
    ]);
  });

  test("a parent's row beside its instances is no device: it only adds what is the GPU's", () => {
    const page = read([
      sample(power, 0, 409),
      sample(used, 0, 4845),
      sample(engine, 0, "0.99", pod("ghost")),
      sample(engine, 0, "0.5", { ...mig("13"), ...pod("p") }),
    ]);
    expect(onlyDevice(page)).toMatchObject({
      gpuInstance: "13",
      grEngineActive: 0.5,
      memoryUsedBytes: null,
      powerWatts: 409,
    });
    expect(onlyDevice(page).claimants.map(({ pod: name }) => name)).toEqual(["p"]);
  });

  test("GPU_UTIL of an instance is not measured: unknown, not its constant 0", () => {
    expect(onlyDevice(read([sample(util, 0, 0, mig("1"))])).gpuUtil).toBeNull();
  });

  test("MIG switched on without instances is a whole GPU", () => {
    expect(onlyDevice(read([sample(power, 0, 60)]))).toMatchObject({
      gpuInstance: null,
      gpuUtil: null,
      powerWatts: 60,
    });
  });

  test("DRA names the instance's own UUID", () => {
    const labels = { ...mig("1"), dra_mig_device_uuid: "MIG-7" };
    expect(onlyDevice(read([sample(engine, 0, "0.1", labels)])).migUuid).toBe("MIG-7");
  });
});

describe("the same twice", () => {
  test("two scrape jobs or instances double nothing, and are counted", () => {
    const page = read(
      [
        sample(util, 0, 40),
        sample(util, 0, 40),
        sample(power, 0, 90, { job: "a" }),
        sample(power, 0, 91, { job: "b" }),
      ],
      { origin: "prometheus" },
    );
    expect(onlyDevice(page)).toMatchObject({ gpuUtil: 0.4, powerWatts: 91 });
    expect(page.dropped).toEqual({ duplicate: 1 });
  });

  test("several HPC jobs on one GPU are one device", () => {
    expect(
      onlyDevice(read([sample(util, 0, 40, { hpc_job: "1" }), sample(util, 0, 40, { hpc_job: "2" })])).gpuUtil,
    ).toBe(0.4);
  });
});
