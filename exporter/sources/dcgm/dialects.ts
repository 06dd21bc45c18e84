/**
 * The quantities that samples measure, in the units of `DeviceReading`; traffic is in bytes per second. The order is the column
 * order of a row.
 */
export const signals = [
  "gpuUtil",
  "grEngineActive",
  "smActive",
  "dramActive",
  "tensorActive",
  "fp64Active",
  "fp32Active",
  "fp16Active",
  "integerActive",
  "memoryCopyUtil",
  "pcieSentBytes",
  "pcieReceivedBytes",
  "nvlinkSentBytes",
  "nvlinkReceivedBytes",
  "encoderUtil",
  "decoderUtil",
  "memoryUsedBytes",
  "memoryFreeBytes",
  "memoryReservedBytes",
  "memoryTotalBytes",
  "powerWatts",
  "powerLimitWatts",
  "clockEventReasons",
  "energyJoules",
  "temperatureCelsius",
  "lastXid",
  "rowRemapPending",
  "rowRemapFailure",
  "dcgmHealth",
] as const;
export type Signal = (typeof signals)[number];

/** The kinds of values, which decide what values can be real; see `sanitise.ts`. */
export type Quantity = "ratio" | "percent" | "memory" | "power" | "energy" | "temperature" | "xid" | "rate" | "bits";

/** One metric name and what its values mean. */
export interface MetricSpelling {
  readonly name: string;
  readonly signal: Signal;
  readonly quantity: Quantity;
  /**
   * How many of the exporter's units make one of ours. It is a divisor because 7 / 100 is exact to the last digit, and 7 * 0.01
   * is not.
   */
  readonly divisor: number;
}

/** The meanings of labels. Where several spellings share a meaning, its list in a dialect is in order of preference. */
export const labelRoles = [
  "uuid",
  "gpuInstance",
  "profile",
  "migUuid",
  "modelName",
  "gpuIndex",
  "host",
  "pod",
  "namespace",
  "container",
  "podUid",
  "oldPod",
  "oldNamespace",
  "oldContainer",
  "exportedPod",
  "exportedNamespace",
  "exportedContainer",
  "exportedPodUid",
  "virtualGpu",
  "claimName",
  "claimNamespace",
  "otherEntity",
] as const;
export type LabelRole = (typeof labelRoles)[number];

/**
 * How one family of exporters writes its pages. All that is specific to a vendor is in a table like this, and a further vendor
 * is a further table. (One for AMD has no `sentinels`, since its energy in µJ really exceeds 2^47.)
 */
export interface TelemetryDialect {
  readonly name: string;
  readonly metrics: readonly MetricSpelling[];
  /** A row of any metric with one of these prefixes proves that its device exists, and who is on it. */
  readonly prefixes: readonly string[];
  readonly labels: Readonly<Record<LabelRole, readonly string[]>>;
  /** The convention for numbers that mean "no value". */
  readonly sentinels: "dcgm" | "none";
}

const percent = { quantity: "percent", divisor: 100 } as const;
const ratio = { quantity: "ratio", divisor: 1 } as const;
const mebibytes = { quantity: "memory", divisor: 2 ** -20 } as const;
const watts = { quantity: "power", divisor: 1 } as const;
const millijoules = { quantity: "energy", divisor: 1000 } as const;
const celsius = { quantity: "temperature", divisor: 1 } as const;
const bytesPerSecond = { quantity: "rate", divisor: 1 } as const;
const bits = { quantity: "bits", divisor: 1 } as const;
const xid = { quantity: "xid", divisor: 1 } as const;

/**
 * dcgm-exporter of NVIDIA, 2.x to 4.8.3 (`etc/default-counters.csv`, `etc/dcp-metrics-included.csv`), and the old namespace of
 * gpu-monitoring-tools and `etc/1.x-compatibility-metrics.csv`. The HELP texts that call the PROF metrics "in %" are wrong:
 * their values are from 0 to 1.
 */
export const nvidiaDcgm: TelemetryDialect = {
  name: "nvidia-dcgm",
  metrics: [
    { name: "DCGM_FI_DEV_GPU_UTIL", signal: "gpuUtil", ...percent },
    { name: "dcgm_gpu_utilization", signal: "gpuUtil", ...percent },
    { name: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", signal: "grEngineActive", ...ratio },
    { name: "dcgm_fi_prof_gr_engine_active", signal: "grEngineActive", ...ratio },
    { name: "DCGM_FI_PROF_SM_ACTIVE", signal: "smActive", ...ratio },
    { name: "dcgm_fi_prof_sm_active", signal: "smActive", ...ratio },
    { name: "DCGM_FI_PROF_DRAM_ACTIVE", signal: "dramActive", ...ratio },
    { name: "dcgm_fi_prof_dram_active", signal: "dramActive", ...ratio },
    { name: "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", signal: "tensorActive", ...ratio },
    { name: "dcgm_fi_prof_pipe_tensor_active", signal: "tensorActive", ...ratio },
    { name: "DCGM_FI_PROF_PIPE_FP64_ACTIVE", signal: "fp64Active", ...ratio },
    { name: "DCGM_FI_PROF_PIPE_FP32_ACTIVE", signal: "fp32Active", ...ratio },
    { name: "DCGM_FI_PROF_PIPE_FP16_ACTIVE", signal: "fp16Active", ...ratio },
    { name: "DCGM_FI_PROF_PIPE_INT_ACTIVE", signal: "integerActive", ...ratio },
    { name: "DCGM_FI_DEV_MEM_COPY_UTIL", signal: "memoryCopyUtil", ...percent },
    { name: "dcgm_mem_copy_utilization", signal: "memoryCopyUtil", ...percent },
    { name: "DCGM_FI_PROF_PCIE_TX_BYTES", signal: "pcieSentBytes", ...bytesPerSecond },
    { name: "DCGM_FI_PROF_PCIE_RX_BYTES", signal: "pcieReceivedBytes", ...bytesPerSecond },
    { name: "DCGM_FI_PROF_NVLINK_TX_BYTES", signal: "nvlinkSentBytes", ...bytesPerSecond },
    { name: "DCGM_FI_PROF_NVLINK_RX_BYTES", signal: "nvlinkReceivedBytes", ...bytesPerSecond },
    { name: "DCGM_FI_DEV_ENC_UTIL", signal: "encoderUtil", ...percent },
    { name: "dcgm_enc_utilization", signal: "encoderUtil", ...percent },
    { name: "DCGM_FI_DEV_DEC_UTIL", signal: "decoderUtil", ...percent },
    { name: "dcgm_dec_utilization", signal: "decoderUtil", ...percent },
    { name: "DCGM_FI_DEV_FB_USED", signal: "memoryUsedBytes", ...mebibytes },
    { name: "dcgm_fb_used", signal: "memoryUsedBytes", ...mebibytes },
    { name: "DCGM_FI_DEV_FB_FREE", signal: "memoryFreeBytes", ...mebibytes },
    { name: "dcgm_fb_free", signal: "memoryFreeBytes", ...mebibytes },
    { name: "DCGM_FI_DEV_FB_RESERVED", signal: "memoryReservedBytes", ...mebibytes },
    { name: "DCGM_FI_DEV_FB_TOTAL", signal: "memoryTotalBytes", ...mebibytes },
    { name: "DCGM_FI_DEV_POWER_USAGE", signal: "powerWatts", ...watts },
    { name: "dcgm_power_usage", signal: "powerWatts", ...watts },
    { name: "DCGM_FI_DEV_POWER_MGMT_LIMIT", signal: "powerLimitWatts", ...watts },
    { name: "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", signal: "clockEventReasons", ...bits },
    { name: "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", signal: "clockEventReasons", ...bits },
    { name: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", signal: "energyJoules", ...millijoules },
    { name: "dcgm_total_energy_consumption", signal: "energyJoules", ...millijoules },
    { name: "DCGM_FI_DEV_GPU_TEMP", signal: "temperatureCelsius", ...celsius },
    { name: "dcgm_gpu_temp", signal: "temperatureCelsius", ...celsius },
    { name: "DCGM_FI_DEV_XID_ERRORS", signal: "lastXid", ...xid },
    { name: "dcgm_xid_errors", signal: "lastXid", ...xid },
    { name: "DCGM_FI_DEV_ROW_REMAP_PENDING", signal: "rowRemapPending", ...bits },
    { name: "DCGM_FI_DEV_ROW_REMAP_FAILURE", signal: "rowRemapFailure", ...bits },
    { name: "DCGM_EXP_GPU_HEALTH_STATUS", signal: "dcgmHealth", ...bits },
  ],
  prefixes: ["DCGM_FI_", "DCGM_EXP_", "dcgm_"],
  labels: {
    uuid: ["UUID", "uuid"],
    gpuInstance: ["GPU_I_ID"],
    profile: ["GPU_I_PROFILE"],
    migUuid: ["dra_mig_device_uuid"],
    modelName: ["modelName"],
    gpuIndex: ["gpu"],
    host: ["hostname", "Hostname"],
    pod: ["pod"],
    namespace: ["namespace"],
    container: ["container"],
    podUid: ["pod_uid"],
    oldPod: ["pod_name"],
    oldNamespace: ["pod_namespace"],
    oldContainer: ["container_name"],
    exportedPod: ["exported_pod"],
    exportedNamespace: ["exported_namespace"],
    exportedContainer: ["exported_container"],
    exportedPodUid: ["exported_pod_uid"],
    virtualGpu: ["vgpu"],
    claimName: ["dra_claim_name"],
    claimNamespace: ["dra_claim_namespace"],
    otherEntity: ["nvswitch", "nvlink", "cpu", "cpucore"],
  },
  sentinels: "dcgm",
};

/** All dialects that are known. */
export const dialects: readonly TelemetryDialect[] = [nvidiaDcgm];
