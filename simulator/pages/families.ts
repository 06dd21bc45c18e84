import { type DeviceProfile, usualProfile } from "../deviceProfiles.ts";
import { memoryOfProfile } from "../gpuModels.ts";
import { noise } from "../random.ts";
import type { ExporterSpec } from "../scenario.ts";
import type { Dialect } from "./dialects.ts";
import type { Row } from "./rows.ts";

/** One metric of a page. */
export interface Family {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  /** Whether values are printed without a point. */
  readonly whole: boolean;
  /** The name in the 1.x compatibility mode; `null`: the metric is absent there. */
  readonly oldName: string | null;
  readonly since: 2 | 3 | 4;
  readonly profiling: boolean;
  /** Whether the metric has rows per process under virtual GPUs, as GPU_UTIL and FB_USED have. */
  readonly perProcess: boolean;
  /** The value of a sample; `null`: the row has none. */
  readonly value: (row: Row) => number | null;
}

type Options = Partial<Pick<Family, "type" | "whole" | "oldName" | "since" | "profiling" | "perProcess">>;

function family(name: string, help: string, value: Family["value"], options: Options = {}): Family {
  return {
    name,
    help,
    value,
    type: "gauge",
    whole: true,
    oldName: null,
    since: 2,
    profiling: false,
    perProcess: false,
    ...options,
  };
}

/** The number of errors of a healthy GPU. */
const none = physical(() => 0);

/** Use of the encoder and the decoder: no workload here encodes or decodes. */
const noMedia = wholeGpuOnly(() => 0);

/** XID errors of row remapping, which also have counters of their own. */
const rowRemapped = 63;
const rowRemapFailed = 64;

const shownXid = physical((r) => r.physicalGpu.shownXid);
const rowsRemapped = physical((r) => (r.physicalGpu.xid?.code === rowRemapped ? 1 : 0));
const remapFailed = physical((r) => (r.physicalGpu.xid?.code === rowRemapFailed ? 1 : 0));

/** The exporter's default counters (`etc/default-counters.csv` of each generation), in its order. */
const listedFamilies: readonly Family[] = [
  family("DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", warming(345, 1635), { oldName: "dcgm_sm_clock" }),
  family("DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", warming(1593, 0), {
    oldName: "dcgm_memory_clock",
  }),
  family("DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", warming(32, 45)),
  family("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", warming(29, 43), { oldName: "dcgm_gpu_temp" }),
  family("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", physical(powerOf), {
    whole: false,
    oldName: "dcgm_power_usage",
  }),
  family("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Total energy consumption since boot (in mJ).", physical(energyOf), {
    type: "counter",
    oldName: "dcgm_total_energy_consumption",
  }),
  family("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", none, {
    type: "counter",
    oldName: "dcgm_pcie_replay_counter",
  }),
  family("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", wholeGpuOnly(utilOf), {
    oldName: "dcgm_gpu_utilization",
    perProcess: true,
  }),
  family("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", wholeGpuOnly(memoryCopyOf), {
    oldName: "dcgm_mem_copy_utilization",
  }),
  family("DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", noMedia, { oldName: "dcgm_enc_utilization" }),
  family("DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", noMedia, { oldName: "dcgm_dec_utilization" }),
  family("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", shownXid, {
    oldName: "dcgm_xid_errors",
  }),
  family("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", freeMemoryOf, { oldName: "dcgm_fb_free" }),
  family("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", usedMemoryOf, {
    oldName: "dcgm_fb_used",
    perProcess: true,
  }),
  family("DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).", reservedMemoryOf, { since: 4 }),
  family("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for uncorrectable errors", rowsRemapped, {
    type: "counter",
    since: 3,
  }),
  family("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "Number of remapped rows for correctable errors", none, {
    type: "counter",
    since: 3,
  }),
  family("DCGM_FI_DEV_ROW_REMAP_FAILURE", "Whether remapping of rows has failed", remapFailed, { since: 3 }),
  family(
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "Total number of NVLink bandwidth counters for all lanes",
    warming(0, 20_000),
    { type: "counter" },
  ),
  family("DCGM_FI_DEV_VGPU_LICENSE_STATUS", "vGPU License status", (r) => (isVirtual(r) ? 1 : 0)),
  family("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", physical(activityOf), {
    whole: false,
    profiling: true,
  }),
  family(
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "Ratio of cycles the tensor (HMMA) pipe is active.",
    physical((r) => profileOf(r).tensor * activityOf(r)),
    { whole: false, profiling: true },
  ),
  family(
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "Ratio of cycles the device memory interface is active sending or receiving data.",
    physical((r) => profileOf(r).dram * activityOf(r)),
    { whole: false, profiling: true },
  ),
  family(
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads - in bytes per second.",
    physical((r) => profileOf(r).pcieBytes * activityOf(r)),
    { profiling: true },
  ),
  family(
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "The rate of data received over the PCIe bus - including both protocol headers and data payloads - in bytes per second.",
    physical((r) => 2 * profileOf(r).pcieBytes * activityOf(r)),
    { profiling: true },
  ),
];

/**
 * Metrics that only custom lists have. They are comments in the list of each generation; their names are those of the latest
 * one.
 */
const optionalFamilies: readonly Family[] = [
  family(
    "DCGM_FI_DEV_POWER_MGMT_LIMIT",
    "Current power limit (in W).",
    physical(({ physicalGpu: { cappedWatts, model } }) => cappedWatts ?? model.maxWatts),
    { whole: false },
  ),
  family(
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
    "Reasons why clocks are not at their highest (bits).",
    physical((r) => r.physicalGpu.sample?.clockEventReasons ?? 0),
  ),
  ...(
    [
      ["DCGM_FI_PROF_SM_ACTIVE", "Ratio of cycles an SM has at least 1 warp assigned.", () => 1],
      ["DCGM_FI_PROF_PIPE_FP64_ACTIVE", "Ratio of cycles the fp64 pipe is active.", ({ fp64 = 0 }) => fp64],
      ["DCGM_FI_PROF_PIPE_INT_ACTIVE", "Ratio of cycles the integer pipe is active.", ({ integer = 0 }) => integer],
    ] as const satisfies readonly (readonly [string, string, (profile: DeviceProfile) => number])[]
  ).map(([name, help, partOf]) =>
    family(
      name,
      help,
      physical((r) => partOf(profileOf(r)) * activityOf(r)),
      { whole: false, profiling: true },
    ),
  ),
  ...(["TX", "RX"] as const).map((way) =>
    family(
      `DCGM_FI_PROF_NVLINK_${way}_BYTES`,
      "The rate of data over NVLink, without protocol headers, in bytes per second.",
      physical((r) => (profileOf(r).nvlinkBytes ?? 0) * activityOf(r)),
      { profiling: true },
    ),
  ),
];

/** Values that a vGPU guest cannot see: power, clocks, temperature, errors, profiling. */
function physical(value: (row: Row) => number): Family["value"] {
  return (row) => (isVirtual(row) ? null : value(row));
}

/** Values of fields that do not exist on MIG instances. */
function wholeGpuOnly(value: (row: Row) => number): Family["value"] {
  return (row) => (row.unit === null ? value(row) : null);
}

/** Values that follow the GPU's activity: `idle` without any, and `risesBy` more under full load. */
function warming(idle: number, risesBy: number): Family["value"] {
  return physical((row) => idle + risesBy * gpuActivityOf(row));
}

function isVirtual(row: Row): boolean {
  return row.physicalGpu.node.spec.mode.kind === "vgpu-guest";
}

function gpuActivityOf(row: Row): number {
  return row.physicalGpu.sample?.activity ?? 0;
}

function activityOf(row: Row): number {
  return row.unit === null ? gpuActivityOf(row) : (row.unit.observed ?? 0);
}

function profileOf({ unit, physicalGpu }: Row): DeviceProfile {
  return unit === null ? (physicalGpu.sample?.profile ?? usualProfile) : usualProfile;
}

function utilOf(row: Row): number {
  return 100 * (row.process === null ? gpuActivityOf(row) : row.process.util);
}

function memoryCopyOf(row: Row): number {
  return profileOf(row).memoryCopyPercent * gpuActivityOf(row);
}

/** The GPU's power. The values of the instances of one GPU differ a little, because they are read one after another. */
function powerOf(row: Row): number {
  const position = row.unit === null ? 0 : row.physicalGpu.units.indexOf(row.unit);
  return (row.physicalGpu.sample?.powerWatts ?? 0) * (1 - 0.004 * position);
}

function energyOf(row: Row): number {
  const position = row.unit === null ? 0 : row.physicalGpu.units.indexOf(row.unit);
  return row.physicalGpu.energyMillijoules + position;
}

function totalMemoryOf(row: Row): number {
  return row.unit?.profile == null ? row.physicalGpu.model.memoryMiB : memoryOfProfile(row.unit.profile);
}

function reservedMemoryOf(row: Row): number {
  return Math.round(0.008 * totalMemoryOf(row));
}

function usedMemoryOf(row: Row): number {
  if (row.process !== null) return row.process.memoryMiB;
  if (row.unit === null) return row.physicalGpu.sample?.memoryUsedMiB ?? 0;
  const { holder } = row.unit;
  return holder?.phase === "Running" ? Math.floor((0.2 + 0.6 * noise(holder.key, 1)) * totalMemoryOf(row)) : 0;
}

function freeMemoryOf(row: Row): number {
  return totalMemoryOf(row) - reservedMemoryOf(row) - usedMemoryOf({ ...row, process: null });
}

const generationOf: Readonly<Record<Dialect["families"], 1 | 2 | 3 | 4>> = { "1.x": 1, "2.x": 2, "3.x": 3, "4.x": 4 };

/** The families of a page, in its order and under its names. */
export function familiesOf(
  dialect: Dialect,
  { counters, lacks }: Pick<ExporterSpec, "counters" | "lacks">,
): readonly Family[] {
  const generation = generationOf[dialect.families];
  const withProfiling = dialect.profilingByDefault || counters !== "default";
  const chosen: Family[] = [];
  for (const each of counters === "all" ? [...listedFamilies, ...optionalFamilies] : listedFamilies) {
    if (lacks?.includes(each.name)) continue;
    if (generation === 1) {
      if (each.oldName !== null) chosen.push({ ...each, name: each.oldName });
    } else if (each.since <= generation && (withProfiling || !each.profiling)) {
      chosen.push(each.name.includes("NVLINK") ? { ...each, type: dialect.nvlinkType } : each);
    }
  }
  return dialect.sortedFamilies ? chosen.sort((a, b) => (a.name < b.name ? -1 : 1)) : chosen;
}
