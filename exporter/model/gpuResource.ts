import { gpuResources, sharedAmounts } from "./wellKnown.ts";

/** The vendor of the accelerators that a resource counts. They never substitute each other. */
export type GpuVendor = "nvidia" | "amd" | "intel" | "habana" | "google" | "aws";

/** What the name of an extended resource alone shows. */
export interface GpuResource {
  readonly vendor: GpuVendor;
  /**
   * Physical GPUs of one unit; `"node"` where labels, annotations or other resources of the node show how much it is; `null`
   * where only a setting can.
   */
  readonly unit: number | "node" | null;
}

const whole = { vendor: "nvidia", unit: 1 } as const;
const byNode = { vendor: "nvidia", unit: "node" } as const;

/** Resources whose whole name is known. Those of other plugins give out parts of NVIDIA GPUs. */
const names: Readonly<Record<string, GpuResource>> = {
  [gpuResources.nvidia]: byNode,
  [gpuResources.nvidiaShared]: byNode,
  // KubeVirt's device plugin, if it is configured to give every passthrough GPU this name (P_GPU_ALIAS).
  "nvidia.com/pgpu": whole,
  // Extended resources on DRA, named after the DeviceClass that a driver installs (KEP-5004).
  [`${gpuResources.deviceClassPrefix}gpu.nvidia.com`]: whole,
  [`${gpuResources.deviceClassPrefix}vfio.gpu.nvidia.com`]: whole,
  [`${gpuResources.deviceClassPrefix}mig.nvidia.com`]: { vendor: "nvidia", unit: null },
  [`${gpuResources.deviceClassPrefix}gpu.amd.com`]: { vendor: "amd", unit: 1 },
  [gpuResources.hamiVgpu]: byNode,
  [gpuResources.volcanoVgpu]: byNode,
  "volcano.sh/gpu-number": whole,
  [gpuResources.gpushareMemory]: byNode,
  "amd.com/gpu": { vendor: "amd", unit: 1 },
  "gpu.intel.com/i915": { vendor: "intel", unit: 1 },
  "gpu.intel.com/xe": { vendor: "intel", unit: 1 },
  "beta.gpu.intel.com/i915": { vendor: "intel", unit: 1 },
  "beta.gpu.intel.com/xe": { vendor: "intel", unit: 1 },
  "habana.ai/gaudi": { vendor: "habana", unit: 1 },
  "google.com/tpu": { vendor: "google", unit: 1 },
  [gpuResources.neuron]: { vendor: "aws", unit: 1 },
  [gpuResources.neuronDevice]: { vendor: "aws", unit: 1 },
  [gpuResources.neuronCore]: { vendor: "aws", unit: "node" },
};

/** Parts of AMD GPUs: how many of them make a GPU depends on the model; `spx` is the whole GPU. */
const amdPartition = /^amd\.com\/([a-z]px)_nps\d+$/;

/**
 * PCI functions that are GPUs, by the name of their chip in the PCI database, as KubeVirt's device plugin names them:
 * `GA102GL_A10`.
 */
const passthrough = /^(?:G[KMPVAH]\d{3}|TU\d{3}|AD\d{3}|GB\d{3})[A-Z]{0,4}_/;
/** PCI functions that are not GPUs themselves, but are on the same chip or board as one. */
const otherFunctions = /AUDIO|USB|UCSI|NVSWITCH|NVLINK|BRIDGE|CONTROLLER/i;

/**
 * Returns what an extended resource is by its name, if it is on the closed list of those that count GPUs; `null` for all
 * others. Names below `nvidia.com/` are also used for network adapters, DPUs, NVSwitches, audio functions and amounts of memory
 * or cores.
 */
export function gpuResourceOf(name: string): GpuResource | null {
  if (name === gpuResources.nvidia) return byNode;
  if (Object.hasOwn(names, name)) return names[name] ?? null;
  if (!name.startsWith(gpuResources.nvidiaPrefix)) {
    const mode = amdPartition.exec(name)?.[1];
    return mode === undefined ? null : { vendor: "amd", unit: mode === "spx" ? 1 : null };
  }
  if (/^nvidia\.com\/mig-./.test(name)) return byNode;
  const own = name.slice(gpuResources.nvidiaPrefix.length);
  const vgpu = vgpuTypeOf(own);
  if (vgpu !== null) return { vendor: "nvidia", unit: vgpu.gpus };
  return passthrough.test(own) && !otherFunctions.test(own) ? whole : null;
}

/**
 * Memory of the GPUs that NVIDIA vGPU types are cut from, in GB, by the name of the GPU in the type (NVIDIA vGPU user guide).
 */
const gpuGigabytes: Readonly<Record<string, number>> = {
  A2: 16,
  A10: 24,
  A16: 16,
  A30: 24,
  A40: 48,
  A100: 40,
  A100D: 80,
  A100X: 80,
  A800D: 80,
  A800X: 80,
  B200X: 180,
  H20: 96,
  H100: 80,
  H100L: 94,
  H100XL: 94,
  H100XM: 80,
  H200X: 141,
  H200XM: 141,
  H800: 80,
  H800XM: 80,
  L2: 24,
  L4: 24,
  L20: 48,
  L40: 48,
  L40G: 24,
  L40S: 48,
  M6: 8,
  M10: 8,
  M60: 8,
  P4: 8,
  P6: 16,
  P40: 24,
  P100: 16,
  P100C: 12,
  P100X: 16,
  "RTX5000-ADA": 32,
  RTX6000: 24,
  "RTX6000-ADA": 48,
  RTX6000P: 24,
  RTX8000: 48,
  RTX8000P: 48,
  RTXA5000: 24,
  RTXA5500: 24,
  RTXA6000: 48,
  T4: 16,
  V100: 16,
  V100D: 32,
  V100DX: 32,
  V100L: 16,
  V100S: 32,
  V100X: 16,
};

const vgpuName = /^(?:GRID|NVIDIA)_([A-Z]+\d+[A-Z]*(?:[-_]ADA)?)-(?:\d-)?(\d{1,3})[QCBA]$/i;
const proName = /^NVIDIA_RTX_PRO_6000_BLACKWELL_DC-(?:\d-)?(\d{1,3})[QCBA](?:GFX)?$/i;
const proGigabytes = 96;

/** A vGPU type in the resource name of a KubeVirt node, below `nvidia.com/`. */
interface VgpuType {
  /** The part of a GPU that the type is; `null` where the memory of its GPU is not known. */
  readonly gpus: number | null;
}

/**
 * Reads the name of a vGPU type: `NVIDIA_A10-12Q` is 12 of the 24 GB of an A10, half a GPU; a type of 0 GB is half a gigabyte.
 * Returns `null` for any other name.
 */
function vgpuTypeOf(name: string): VgpuType | null {
  const pro = proName.exec(name);
  if (pro !== null) return { gpus: partOf(pro[1], proGigabytes) };
  const match = vgpuName.exec(name);
  if (match === null) return null;
  const physicalGpu = (match[1] ?? "").toUpperCase().replace("_", "-");
  return { gpus: partOf(match[2], Object.hasOwn(gpuGigabytes, physicalGpu) ? gpuGigabytes[physicalGpu] : undefined) };
}

function partOf(gigabytes: string | undefined, ofGpu: number | undefined): number | null {
  if (ofGpu === undefined) return null;
  return Math.min(1, Math.max(0.5, Number(gigabytes)) / ofGpu);
}

/**
 * Returns the vendor of the accelerators that the first of these resources with a known vendor counts; `undefined` if there is
 * none.
 */
export function vendorOfResources(names: Iterable<string>): GpuVendor | undefined {
  for (const name of names) {
    const vendor = gpuResourceOf(name)?.vendor;
    if (vendor !== undefined) return vendor;
  }
  return undefined;
}

/**
 * Whether GPUs of this resource are given to virtual machines, passed through or as vGPU types: the host's driver does not see
 * them.
 */
export function isForMachines(name: string): boolean {
  if (!name.startsWith(gpuResources.nvidiaPrefix)) return false;
  const resource = gpuResourceOf(name);
  return resource !== null && resource.unit !== "node";
}

/** Whether this extended resource counts GPUs or parts of them: it is on the closed list, or among the `configured` names. */
export function gpuLikeResource(name: string, configured: ReadonlySet<string> = noNames): boolean {
  return name === gpuResources.nvidia || configured.has(name) || gpuResourceOf(name) !== null;
}

const noNames: ReadonlySet<string> = new Set();

const amountNames: ReadonlySet<string> = new Set(Object.values(sharedAmounts).flat());

/** Whether a resource is memory or cores of a GPU that a sharing plugin gives out, which are not GPUs but parts of one. */
export const isSharedAmount = (name: string): boolean => amountNames.has(name);

/**
 * Words in names below `nvidia.com/` that are known not to be GPUs: memory and cores of HAMi, IMEX channels, NVSwitches,
 * functions beside a GPU on its board, and what NVIDIA's network operator and DPU framework register.
 */
const notGpus =
  /(?:^|[-_./])(?:(?:v?gpu)?(?:mem|memory|cores?|percentage|priority)|imex|channels?|nvswitch\w*|rdma\w*|roce\w*|hostdev\w*|mlnx\w*|sriov\w*|nics?|res(?:ib|eth)\w*|ib\w*|eth\w*|bf\d?\w*|bluefield\w*|dpu\w*|vfs?|sf|ovs\w*|connectx\w*|cx\d\w*)(?=[-_./]|$)/i;

/** Whether it is unknown what a name below `nvidia.com/` is: it may be a GPU by another name, or anything else. */
export function isUnknownNvidiaResource(name: string): boolean {
  if (!name.startsWith(gpuResources.nvidiaPrefix) || gpuResourceOf(name) !== null) return false;
  const own = name.slice(gpuResources.nvidiaPrefix.length);
  return !notGpus.test(own) && !otherFunctions.test(own);
}
