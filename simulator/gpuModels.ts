/** What the simulator knows about one GPU model. */
export interface GpuModel {
  /** The name as DCGM and NVML spell it. */
  readonly name: string;
  /** The name as GPU Feature Discovery spells it in `nvidia.com/gpu.product`. */
  readonly product: string;
  readonly family: string;
  readonly memoryMiB: number;
  readonly idleWatts: number;
  readonly maxWatts: number;
  /** Compute slices of a whole GPU; 0 when the model cannot do MIG. */
  readonly migSlices: number;
  /** Whether DCGM offers profiling fields (Volta or newer). */
  readonly profiling: boolean;
  readonly computeCapability: string;
}

export type GpuModelName = "H100" | "A100" | "L4" | "T4" | "P100" | "V100M16" | "V100M32" | "A10" | "A30" | "G2" | "G3";

/**
 * The GPU models, from the data sheets of the vendors. G2 and G3 are types that the openb trace does not disclose, and their
 * numbers are made up.
 */
export const gpuModels: Readonly<Record<GpuModelName, GpuModel>> = {
  H100: model("NVIDIA H100 80GB HBM3", {
    family: "hopper",
    memoryMiB: 81559,
    idleWatts: 70,
    maxWatts: 700,
    migSlices: 7,
    computeCapability: "9.0",
  }),
  A100: model("NVIDIA A100-SXM4-80GB", {
    family: "ampere",
    memoryMiB: 81920,
    idleWatts: 60,
    maxWatts: 400,
    migSlices: 7,
    computeCapability: "8.0",
  }),
  L4: model("NVIDIA L4", {
    family: "ada-lovelace",
    memoryMiB: 23034,
    idleWatts: 16,
    maxWatts: 72,
    migSlices: 0,
    computeCapability: "8.9",
  }),
  T4: model("Tesla T4", {
    family: "turing",
    memoryMiB: 15360,
    idleWatts: 10,
    maxWatts: 70,
    migSlices: 0,
    computeCapability: "7.5",
  }),
  P100: model("Tesla P100-PCIE-16GB", {
    family: "pascal",
    memoryMiB: 16384,
    idleWatts: 30,
    maxWatts: 250,
    migSlices: 0,
    computeCapability: "6.0",
  }),
  V100M16: model("Tesla V100-SXM2-16GB", {
    family: "volta",
    memoryMiB: 16384,
    idleWatts: 40,
    maxWatts: 300,
    migSlices: 0,
    computeCapability: "7.0",
  }),
  V100M32: model("Tesla V100-SXM2-32GB", {
    family: "volta",
    memoryMiB: 32768,
    idleWatts: 40,
    maxWatts: 300,
    migSlices: 0,
    computeCapability: "7.0",
  }),
  A10: model("NVIDIA A10", {
    family: "ampere",
    memoryMiB: 23028,
    idleWatts: 20,
    maxWatts: 150,
    migSlices: 0,
    computeCapability: "8.6",
  }),
  A30: model("NVIDIA A30", {
    family: "ampere",
    memoryMiB: 24576,
    idleWatts: 30,
    maxWatts: 165,
    migSlices: 4,
    computeCapability: "8.0",
  }),
  G2: model("NVIDIA G2", {
    family: "ampere",
    memoryMiB: 32768,
    idleWatts: 30,
    maxWatts: 250,
    migSlices: 0,
    computeCapability: "8.6",
  }),
  G3: model("NVIDIA G3", {
    family: "ampere",
    memoryMiB: 40960,
    idleWatts: 50,
    maxWatts: 300,
    migSlices: 0,
    computeCapability: "8.6",
  }),
};

function model(name: string, data: Omit<GpuModel, "name" | "product" | "profiling">): GpuModel {
  return { ...data, name, product: name.replaceAll(" ", "-"), profiling: !data.computeCapability.startsWith("6.") };
}

/** The compute slices of a MIG profile: the digit before `g`. */
export function slicesOfProfile(profile: string): number {
  return Number.parseInt(profile, 10);
}

/** The memory slices of a GPU that can do MIG: one more than the compute slices where there are seven. */
const memorySlicesOf = ({ migSlices }: GpuModel): number => (migSlices === 7 ? 8 : migSlices);

/** The memory slices that an instance takes, by the gigabytes in its name. */
function memoryOf(profile: string, model: GpuModel): number {
  return Math.round((gigabytesOf(profile) * memorySlicesOf(model)) / (model.memoryMiB / 1024));
}

/** How many instances of one profile a GPU can have. */
export function mostInstances(profile: string, model: GpuModel): number {
  return Math.floor(
    Math.min(model.migSlices / slicesOfProfile(profile), memorySlicesOf(model) / Math.max(1, memoryOf(profile, model))),
  );
}

/**
 * The part of its GPU that each instance of a layout is: the larger of its parts of compute and memory. Where no further
 * instance has space, or these parts add up to more than the GPU, they are scaled so that they add up to a whole GPU.
 */
export function instanceWeights(layout: readonly string[], model: GpuModel): readonly number[] {
  const [compute, memory] = [model.migSlices, memorySlicesOf(model)];
  const parts = layout.map((profile) =>
    Math.max(slicesOfProfile(profile) / compute, memoryOf(profile, model) / memory),
  );
  const sum = parts.reduce((total, part) => total + part, 0);
  const leftCompute = layout.reduce((left, profile) => left - slicesOfProfile(profile), compute);
  const leftMemory = layout.reduce((left, profile) => left - memoryOf(profile, model), memory);
  const isFull = sum > 1 || leftCompute < 1 || leftMemory < 1;
  return parts.map((part) => (isFull ? part / sum : part));
}

const gigabytesOf = (profile: string): number => Number(/\.(\d+)gb/.exec(profile)?.[1] ?? 0);

/** Memory of a MIG profile in MiB, from the part after the dot (`3g.40gb`); real instances have a little less. */
export function memoryOfProfile(profile: string): number {
  return Math.round(gigabytesOf(profile) * 1024 * 0.985);
}

/** The first NVML GPU instance id that a profile of this many slices gets on a seven-slice GPU. */
const firstInstanceId: Readonly<Record<number, number>> = { 1: 7, 2: 3, 3: 1, 4: 1, 7: 0 };

/** The NVML GPU instance ids for a layout such as `["3g.40gb", "2g.20gb", "1g.10gb"]`, in its order. */
export function instanceIds(layout: readonly string[]): readonly string[] {
  const used = new Set<number>();
  return layout.map((profile) => {
    let id = firstInstanceId[slicesOfProfile(profile)] ?? 0;
    while (used.has(id)) id++;
    used.add(id);
    return String(id);
  });
}
