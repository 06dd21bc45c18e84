import { describe, expect, test } from "vitest";
import { plainData } from "../../plainData.ts";
import { labelsOf, onlyDevice, pageOf, read, readPage, sample, splitByHost } from "./pages.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";
const used = "DCGM_FI_DEV_FB_USED";
const free = "DCGM_FI_DEV_FB_FREE";
const reserved = "DCGM_FI_DEV_FB_RESERVED";
const power = "DCGM_FI_DEV_POWER_USAGE";
const energy = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION";
const engine = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";
const mebibyte = 1024 * 1024;
const pod = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  container: "main",
  namespace: "team-a",
  pod: name,
  ...more,
});
const mig = (id: string, profile = "1g.10gb") => ({ GPU_I_PROFILE: profile, GPU_I_ID: id });

describe("units and spellings", () => {
  test("percent, MiB and mJ become ratios, bytes and joules", () => {
    const device = onlyDevice(
      read([
        sample(util, 0, 91),
        sample(engine, 0, "0.156205"),
        sample("DCGM_FI_PROF_SM_ACTIVE", 0, "0.5"),
        sample("DCGM_FI_PROF_DRAM_ACTIVE", 0, "0.25"),
        sample("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 0, "0.125"),
        sample("DCGM_FI_PROF_PIPE_FP64_ACTIVE", 0, "0.5"),
        sample("DCGM_FI_PROF_PIPE_FP32_ACTIVE", 0, "0.625"),
        sample("DCGM_FI_PROF_PIPE_FP16_ACTIVE", 0, "0"),
        sample("DCGM_FI_DEV_MEM_COPY_UTIL", 0, 7),
        sample("DCGM_FI_PROF_PCIE_TX_BYTES", 0, 1000),
        sample("DCGM_FI_PROF_PCIE_RX_BYTES", 0, 200),
        sample("DCGM_FI_PROF_NVLINK_TX_BYTES", 0, "30"),
        sample("DCGM_FI_PROF_NVLINK_RX_BYTES", 0, "4"),
        sample("DCGM_FI_DEV_POWER_MGMT_LIMIT", 0, "700.000000"),
        sample("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", 0, 4),
        sample("DCGM_FI_DEV_ENC_UTIL", 0, 3),
        sample("DCGM_FI_DEV_DEC_UTIL", 0, 4),
        sample(used, 0, 5120),
        sample(free, 0, 9000),
        sample(reserved, 0, 300),
        sample(power, 0, "68.244000"),
        sample(energy, 0, "7.824041e+06"),
        sample("DCGM_FI_DEV_GPU_TEMP", 0, 45),
        sample("DCGM_FI_DEV_XID_ERRORS", 0, 79, { err_code: "79", err_msg: "GPU has fallen off the bus" }),
      ]),
    );
    expect(plainData(device)).toEqual({
      uuid: "GPU-0",
      gpuInstance: null,
      profile: null,
      migUuid: null,
      modelName: "NVIDIA H100 80GB HBM3",
      gpuIndex: "0",
      gpuUtil: 0.91,
      grEngineActive: 0.156205,
      smActive: 0.5,
      dramActive: 0.25,
      tensorActive: 0.125,
      pipeActive: 0.625,
      memoryCopyUtil: 0.07,
      movedBytesPerSecond: 1234,
      encoderUtil: 0.03,
      decoderUtil: 0.04,
      memoryUsedBytes: 5120 * mebibyte,
      memoryTotalBytes: 14_420 * mebibyte,
      powerWatts: 68.244,
      powerLimitWatts: 700,
      clockEventReasons: 4,
      energyJoules: 7824.041,
      temperatureCelsius: 45,
      lastXid: 79,
      rowRemapPending: null,
      rowRemapFailure: null,
      dcgmHealth: null,
      virtualSlots: 0,
      claimants: [],
    });
  });

  test("FB_TOTAL goes before the sum; without FB_FREE the total is unknown", () => {
    const total = sample("DCGM_FI_DEV_FB_TOTAL", 0, 16_000);
    expect(onlyDevice(read([sample(used, 0, 1), sample(free, 0, 2), total])).memoryTotalBytes).toBe(16_000 * mebibyte);
    expect(onlyDevice(read([sample(used, 0, 1), sample(reserved, 0, 2)])).memoryTotalBytes).toBeNull();
  });

  test.each(["Hostname", "hostname"])("the host label is %s", (name) => {
    const page = read([`${util}{UUID="GPU-0",${name}="node-b"} 1`], { node: null });
    expect([page.node, page.hostLabel]).toEqual(["node-b", "node-b"]);
  });

  test("the old namespace: dcgm_* names, uuid, pod_name", () => {
    const labels = 'container_name="c",gpu="0",pod_name="p",pod_namespace="n",uuid="GPU-0"';
    const device = onlyDevice(
      read([
        `dcgm_gpu_utilization{${labels}} 40`,
        `dcgm_fb_used{${labels}} 2`,
        `dcgm_fi_prof_gr_engine_active{${labels}} 0.4`,
      ]),
    );
    expect(device).toMatchObject({ uuid: "GPU-0", gpuUtil: 0.4, grEngineActive: 0.4, memoryUsedBytes: 2 * mebibyte });
    expect(device.claimants).toMatchObject([{ namespace: "n", pod: "p", container: "c" }]);
  });

  test("a metric that nobody asks for still shows that the device is there, and who is on it", () => {
    const device = onlyDevice(read([sample("DCGM_FI_PROF_PCIE_RX_BYTES", 0, 23_792, pod("p"))]));
    expect(device).toMatchObject({ uuid: "GPU-0", gpuUtil: null, powerWatts: null });
    expect(device.claimants).toHaveLength(1);
  });

  test("metrics of others make no device, whatever their labels", () => {
    const page = read([sample(util, 0, 1), 'nvidia_gpu_jobId{uuid="GPU-9"} 51234567']);
    expect(page.devices.map(({ uuid }) => uuid)).toEqual(["GPU-0"]);
  });
});

describe("values that cannot be real", () => {
  test.each<[string, string, number | string, Readonly<Record<string, number>>]>([
    ["int64 blank", "DCGM_FI_DEV_GPU_TEMP", "9223372036854775794", { blank: 1 }],
    ["fp64 blank", power, "140737488355328.000000", { blank: 1 }],
    ["int32 blank", util, "2147483632", { blank: 1 }],
    ["a text", util, "ERROR - FAILED TO CONVERT TO STRING", { not_a_number: 1 }],
    ["NaN", engine, "NaN", { not_a_number: 1 }],
    ["a driver's glitch", util, "4294967295", { out_of_range: 1 }],
    ["a ratio in percent", engine, "15.6", { out_of_range: 1 }],
  ])("%s is dropped and counted, the device stays", (_case, metric, value, dropped) => {
    const page = read([sample(metric, 0, value)]);
    expect(page.dropped).toEqual(dropped);
    expect(onlyDevice(page)).toMatchObject({
      gpuUtil: null,
      grEngineActive: null,
      powerWatts: null,
      temperatureCelsius: null,
    });
  });

  test("a large energy in mJ is a value", () => {
    expect(onlyDevice(read([sample(energy, 0, "100000000000000")])).energyJoules).toBe(1e11);
  });
});

describe("rows that are no device", () => {
  test("switches, links and CPUs are left out without a fault", () => {
    const page = read([
      sample(util, 0, 1),
      'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="0",Hostname="node-a"} 40',
      'DCGM_FI_DEV_GPU_TEMP{nvlink="3",gpu="0",gpu_uuid="GPU-0",model_name="x",hostname="node-a"} 40',
      'DCGM_FI_DEV_POWER_USAGE{cpu="0",Hostname="node-a"} 40',
    ]);
    expect(page.devices).toHaveLength(1);
    expect(page.dropped).toEqual({});
  });

  test("a GPU metric without any label is counted and fills nobody's null", () => {
    const page = read([sample(util, 0, 1), `${engine} 0`]);
    expect(onlyDevice(page).grEngineActive).toBeNull();
    expect(page.dropped).toEqual({ no_device: 1 });
  });
});

describe("whose page it is", () => {
  const context = { target: "page.prom", receivedAt: 5, origin: "file" } as const;

  test("a target speaks for its node, whatever host its labels claim", () => {
    const page = read([sample(util, 0, 1, { Hostname: "dcgm-exporter-cmhft" })]);
    expect(page).toMatchObject({ node: "node-a", hostLabel: "dcgm-exporter-cmhft", receivedAt: 1000 });
  });

  test("two hosts on a page of a known node are that node's, with a warning", () => {
    const lines = pageOf(sample(util, 0, 1), sample(util, 1, 1, { Hostname: "node-b" }));
    const { page, problems } = readPage(lines, { ...context, node: "node-a" });
    expect(page?.devices).toHaveLength(2);
    expect(problems.map(({ code }) => code)).toEqual(["several-hosts"]);
  });

  test("a file of many nodes gives one page per host, drops of each apart", () => {
    const lines = pageOf(
      sample(util, 1, 1, { Hostname: "node-b" }),
      sample(util, 0, 1),
      sample(util, 2, 999, { hostname: "node-b", Hostname: "" }),
      `${util}{UUID="GPU-3"} 1`,
      "...",
    );
    const { pages } = splitByHost(lines, { ...context, node: null });
    expect(pages.map(({ node, devices, dropped }) => [node, devices.map(({ uuid }) => uuid), dropped])).toEqual([
      [null, ["GPU-3"], { malformed_line: 1 }],
      ["node-a", ["GPU-0"], {}],
      ["node-b", ["GPU-1", "GPU-2"], { out_of_range: 1 }],
    ]);
  });
});

describe("pages with nothing to say", () => {
  const context = { target: "http://x/metrics", node: "node-a", receivedAt: 5, origin: "exporter" } as const;
  test.each([
    ["no bytes", "", "empty-page"],
    ["blank lines", "\n \n", "empty-page"],
    ["a login page", "<html>Sign in</html>\n", "not-an-exporter-page"],
    ["another exporter", "node_load1 0.5\n", "not-an-exporter-page"],
  ])("%s: no page", (_case, text, code) => {
    const { page, problems } = readPage(Buffer.from(text), context);
    expect(page).toBeNull();
    expect(problems.map((problem) => problem.code)).toEqual([code]);
  });

  test("HELP and TYPE alone (all GPUs hidden by virtual GPUs): a page without devices, and a warning", () => {
    const { page, problems } = readPage(pageOf(`# HELP ${util} x`, `# TYPE ${util} gauge`), context);
    expect(page?.devices).toEqual([]);
    expect(problems.map(({ code }) => code)).toEqual(["no-gpu-rows"]);
  });
});

describe("bounds", () => {
  test("GPUs, instances and claimants beyond the limits are cut and reported", () => {
    const limits = { maxGpus: 2, maxInstancesPerGpu: 2, maxClaimantsPerDevice: 2 };
    const lines = pageOf(
      ...[0, 1, 2, 3].map((gpu) => sample(util, gpu, 1)),
      ...["1", "2", "3"].map((id) => sample(engine, 0, "0.1", mig(id))),
      ...["a", "b", "c"].map((name) => sample(util, 1, 1, pod(name))),
    );
    const { page, problems } = readPage(lines, { target: "t", node: "n", receivedAt: 0, origin: "exporter", limits });
    expect(page?.devices.map(({ uuid, gpuInstance, claimants }) => [uuid, gpuInstance, claimants.length])).toEqual([
      ["GPU-0", "1", 0],
      ["GPU-0", "2", 0],
      ["GPU-1", null, 2],
    ]);
    expect(page?.dropped).toEqual({ too_many_devices: 3 });
    expect(problems.map(({ code }) => code)).toEqual(["too-many-devices", "too-many-claimants"]);
  });

  test("label sets beyond the limit are counted", () => {
    const lines = Array.from({ length: 9 }, (_unused, gpu) => sample(util, gpu, 1));
    const page = read(lines, { limits: { maxRows: 4 } });
    expect(page.devices).toHaveLength(4);
    expect(page.dropped).toEqual({ too_many_devices: 5 });
  });

  test("markup and line breaks in a name are data", () => {
    const device = onlyDevice(read([`${util}{${labelsOf(0, { pod: "<b>\\n", namespace: "x" })}} 1`]));
    expect(device.claimants[0]?.pod).toBe("<b>\n");
  });
});
