import { digits, type FleetPod, gpusPerNode, gpuUuid, nodeName, scatter } from "./layout.ts";

/** The page of a node; the digits at `digitsAt` change from scrape to scrape. */
export interface Page {
  readonly bytes: Buffer;
  readonly digitsAt: readonly number[];
}

interface PageMetric {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  /** The value, whose last two digits are zero; `null`: it never changes. */
  readonly busy: string | null;
  readonly idle: string;
}

const metric = (
  name: string,
  help: string,
  busy: string | null,
  idle = "0",
  type: PageMetric["type"] = "gauge",
): PageMetric => ({ name, type, help, busy, idle });

/** 20 metrics of the exporter's default counters. */
export const pageMetrics: readonly PageMetric[] = [
  metric("DCGM_FI_DEV_SM_CLOCK", "SM clock frequency (in MHz).", "1900", "345"),
  metric("DCGM_FI_DEV_MEM_CLOCK", "Memory clock frequency (in MHz).", null, "1593"),
  metric("DCGM_FI_DEV_MEMORY_TEMP", "Memory temperature (in C).", "50", "38"),
  metric("DCGM_FI_DEV_GPU_TEMP", "GPU temperature (in C).", "50", "31"),
  metric("DCGM_FI_DEV_POWER_USAGE", "Power draw (in W).", "512.300", "71.250"),
  metric(
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "Total energy consumption since boot (in mJ).",
    "123456789000",
    "98765432100",
    "counter",
  ),
  metric("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "Total number of PCIe retries.", null, "0", "counter"),
  metric("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", "60"),
  metric("DCGM_FI_DEV_MEM_COPY_UTIL", "Memory utilization (in %).", "30"),
  metric("DCGM_FI_DEV_ENC_UTIL", "Encoder utilization (in %).", null),
  metric("DCGM_FI_DEV_DEC_UTIL", "Decoder utilization (in %).", null),
  metric("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.", null),
  metric("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", "21500", "80900"),
  metric("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", "59500", "100"),
  metric(
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "Number of remapped rows for uncorrectable errors",
    null,
    "0",
    "counter",
  ),
  metric(
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "Number of remapped rows for correctable errors",
    null,
    "0",
    "counter",
  ),
  metric(
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "Total number of NVLink bandwidth counters for all lanes",
    "18700",
    "0",
    "counter",
  ),
  metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "Ratio of time the graphics engine is active.", "0.734500", "0.000000"),
  metric(
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "Ratio of cycles the tensor (HMMA) pipe is active.",
    "0.312400",
    "0.000000",
  ),
  metric(
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "Ratio of cycles the device memory interface is active sending or receiving data.",
    "0.284100",
    "0.000000",
  ),
];

/** Renders the page of a node on which the pods `holders` hold GPUs. One GPU in ten is idle. */
export function createPage(node: number, holders: readonly FleetPod[]): Page {
  const labels = Array.from({ length: gpusPerNode }, (_, gpu) => labelsOf(node, gpu, holders));
  const digitsAt: number[] = [];
  let page = "";
  for (const { name, type, help, busy, idle } of pageMetrics) {
    page += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [gpu, label] of labels.entries()) {
      const isBusy = busy !== null && scatter(node * gpusPerNode + gpu) % 10 !== 0;
      page += `${name}{${label}} ${isBusy ? busy : idle}\n`;
      if (isBusy) digitsAt.push(page.length - 3);
    }
  }
  return { bytes: Buffer.from(page, "latin1"), digitsAt };
}

/** Puts new values on a page: the readings of a GPU differ from one collection to the next. */
export function refreshPage({ bytes, digitsAt }: Page, round: number): void {
  let state = round * 7919;
  for (const at of digitsAt) {
    state = (state * 31 + 17) & 0xffff;
    bytes[at] = 48 + (state % 10);
    bytes[at + 1] = 48 + ((state >> 4) % 10);
  }
}

function labelsOf(node: number, gpu: number, holders: readonly FleetPod[]): string {
  const holder = holders.find(({ gpus }) => gpus.includes(gpu));
  const bus = (16 + gpu * 8).toString(16).toUpperCase().padStart(2, "0");
  const [container, namespace, pod] = holder === undefined ? ["", "", ""] : ["trainer", holder.namespace, holder.name];
  return (
    `gpu="${gpu}",UUID="${gpuUuid(node, gpu)}",pci_bus_id="00000000:${bus}:00.0",device="nvidia${gpu}",` +
    `modelName="NVIDIA H100 80GB HBM3",Hostname="${nodeName(node)}",DCGM_FI_DRIVER_VERSION="560.35.${digits(5, 2)}",` +
    `container="${container}",namespace="${namespace}",pod="${pod}"`
  );
}
