/**
 * Makes pages of 8 GPUs and 20 metrics as dcgm-exporter 4.5 writes them: 51 KB, with families in the random order of Go's maps.
 */
export interface PageMaker {
  /** The page of a target (`target`) at a scrape (`round`); values and the order of families differ from round to round. */
  page(target: number, round: number): Buffer;
}

const families: readonly (readonly [
  name: string,
  type: string,
  help: string,
  value: (random: () => number) => string,
])[] = [
  ["DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", (r) => whole(1980 * r())],
  ["DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", () => "2619"],
  ["DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", (r) => whole(30 + 50 * r())],
  ["DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", (r) => whole(30 + 50 * r())],
  ["DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", (r) => (70 + 630 * r()).toFixed(6)],
  [
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "counter",
    "Total energy consumption since boot (in mJ).",
    (r) => whole(1e12 * r()),
  ],
  ["DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Total number of PCIe retries.", () => "0"],
  ["DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", (r) => whole(100 * r())],
  ["DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Memory utilization (in %).", (r) => whole(100 * r())],
  ["DCGM_FI_DEV_ENC_UTIL", "gauge", "Encoder utilization (in %).", () => "0"],
  ["DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization (in %).", () => "0"],
  ["DCGM_FI_DEV_FB_FREE", "gauge", "Framebuffer memory free (in MiB).", (r) => whole(80_000 * r())],
  ["DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", (r) => whole(80_000 * r())],
  ["DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "Number of remapped rows for uncorrectable errors", () => "0"],
  ["DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "counter", "Number of remapped rows for correctable errors", () => "0"],
  ["DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", "Whether remapping of rows has failed", () => "0"],
  [
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "counter",
    "Total number of NVLink bandwidth counters for all lanes",
    (r) => whole(1e6 * r()),
  ],
  ["DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Ratio of time the graphics engine is active.", (r) => r().toFixed(6)],
  [
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "gauge",
    "Ratio of cycles the tensor (HMMA) pipe is active.",
    (r) => r().toFixed(6),
  ],
  [
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "gauge",
    "Ratio of cycles the device memory interface is active sending or receiving data.",
    (r) => r().toFixed(6),
  ],
];

/** Makes the pages of any number of targets; the same target and round give the same bytes. */
export function createPageMaker(gpus = 8): PageMaker {
  return {
    page: (target, round) => {
      const random = randomOf(Math.imul(target + 1, 0x9e3779b1) ^ (round + 1));
      const blocks = Array.from({ length: gpus }, (_unused, gpu) => labelsOf(target, gpu));
      const ordered = families.map((family) => ({ family, key: random() })).sort((one, other) => one.key - other.key);
      let text = "";
      for (const {
        family: [name, type, help, value],
      } of ordered) {
        text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
        for (const block of blocks) text += `${name}{${block}} ${value(random)}\n`;
      }
      return Buffer.from(text);
    },
  };
}

function labelsOf(target: number, gpu: number): string {
  const random = randomOf(Math.imul(target * 8 + gpu + 1, 0x85ebca6b));
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(16 * random()).toString(16)).join("");
  const uuid = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
  return [
    `gpu="${gpu}",UUID="GPU-${uuid}",pci_bus_id="00000000:${(24 + gpu * 8).toString(16)}:00.0",device="nvidia${gpu}"`,
    `modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-node-${String(target).padStart(5, "0")}"`,
    `DCGM_FI_DRIVER_VERSION="570.133.20",container="main",namespace="team-${target % 500}"`,
    `pod="train-${hex(8)}-worker-${gpu}",pod_uid="${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}"`,
  ].join(",");
}

function whole(value: number): string {
  return String(Math.round(value));
}

/** Mulberry32: random numbers from 0 to 1, which are the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
