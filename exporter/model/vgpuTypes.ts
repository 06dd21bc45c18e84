/** Memory of the GPUs that NVIDIA vGPU types are cut from, in GB, by the name of the GPU in the type (NVIDIA vGPU user guide). */
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
export interface VgpuType {
  /** Part of a GPU; `null` where the memory of its GPU is not known. */
  readonly gpus: number | null;
}

/**
 * Reads the name of a vGPU type: `NVIDIA_A10-12Q` is 12 of the 24 GB of an A10, half a GPU; a type of 0 GB is half a gigabyte.
 * `null` for any other name.
 */
export function vgpuTypeOf(name: string): VgpuType | null {
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
