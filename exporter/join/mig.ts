import { likelyGeometryOf, type MigGeometry } from "./migGeometry.ts";

/** A GPU that may be in MIG mode, as far as it is known. */
export interface MigGpu {
  /** Canonical model. */
  readonly model: string;
  /** Memory of the whole GPU; `null` where nothing says. */
  readonly memoryBytes: number | null;
}

/** The slices that an instance of a profile takes of its GPU. */
export interface MigSize {
  /** Compute slices. */
  readonly compute: number;
  /** Memory slices; for a compute instance its part of them. */
  readonly memory: number;
  /** Instances of the profile that one GPU can have at most. */
  readonly mostPerGpu: number;
}

/** `1g.10gb`, `1c.3g.40gb`, `1g.10gb+me`, `1g.10gb.me`, `2g47gb` (DRA device names): compute instance, instance, gigabytes, attributes. */
const profilePattern = /^(?:([1-9])c\.)?([1-9])g\.?(\d{1,4})gb(.*)$/;

/** Gigabytes of those `1g` profiles that have a quarter of their GPU's memory on every GPU that has them (NVIDIA MIG user guide). */
const doubledGigabytes: ReadonlySet<number> = new Set([20, 24, 45, 47, 67, 70]);

/**
 * What an instance of this profile takes of a GPU; `null` when the text is no profile. The gigabytes in its name say how many
 * memory slices it has: `1g.10gb` is one of eight on a GPU of 80 GB, and two on one of 40 GB. Where the GPU's memory is not
 * known, the name alone decides as far as it can, and else it has as few as its compute slices allow. Only one instance of a GPU can have the media engines (`+me`).
 */
export function migSizeOf(profile: string, physicalGpu: MigGpu): MigSize | null {
  const match = profilePattern.exec(profile);
  if (match === null) return null;
  const [, computeInstance, compute, gigabytes, attributes = ""] = match;
  const geometry = likelyGeometryOf(physicalGpu.model);
  const kinds = geometry.kinds.filter((kind) => kind.compute === Number(compute));
  const isDoubled = compute === "1" && doubledGigabytes.has(Number(gigabytes));
  const gigabytesOf = (size: number): number =>
    physicalGpu.memoryBytes === null
      ? (Number(gigabytes) * size) / (isDoubled ? 2 : 1)
      : ((size / geometry.memorySlices) * physicalGpu.memoryBytes) / 2 ** 30;
  const kind = kinds
    .toSorted((a, b) => a.size - b.size)
    .reduce<(typeof kinds)[number] | undefined>((best, one) => {
      if (best === undefined) return one;
      const isNearer =
        Math.abs(gigabytesOf(one.size) - Number(gigabytes)) < Math.abs(gigabytesOf(best.size) - Number(gigabytes));
      return isNearer ? one : best;
    }, undefined);
  // A profile that the GPU does not have is accepted: its slices count, as far as there are any.
  const slices = Math.min(Number(compute), geometry.computeSlices);
  const memory = kind?.size ?? slices;
  const part = computeInstance === undefined ? 1 : Math.min(1, Number(computeInstance) / Number(compute));
  const mostInstances = /[+.]me(?:\.all)?$/.test(attributes)
    ? 1
    : (kind?.starts.length ?? Math.max(1, Math.floor(geometry.computeSlices / slices)));
  return { compute: slices * part, memory: memory * part, mostPerGpu: Math.max(1, Math.floor(mostInstances / part)) };
}

/** The part of a GPU that an instance is before its neighbours are looked at: the larger of its parts of compute and memory. */
export function rawWeight({ compute, memory }: MigSize, { computeSlices, memorySlices }: MigGeometry): number {
  return Math.max(compute / computeSlices, memory / memorySlices);
}

/** The same part, found by the profile's name; `null` if the text is no profile. */
export function migWeight(profile: string, physicalGpu: MigGpu): number | null {
  const size = migSizeOf(profile, physicalGpu);
  return size === null ? null : rawWeight(size, likelyGeometryOf(physicalGpu.model));
}

/** Instances of one size. */
export interface MigInstances {
  readonly size: MigSize;
  readonly count: number;
}

/** How instances divide the GPUs that they are on. */
export interface MigLayout {
  /** The factor for each raw weight with which a full GPU is wholly given out. */
  readonly scale: number;
  /** Physical GPUs that are in no instance. */
  readonly rest: number;
  /** Whether the instances take more slices than the GPUs have. */
  readonly isOverfull: boolean;
}

const tolerance = 1e-9;

/**
 * How the instances of some GPUs divide them (design: weight of a MIG instance). If raw weights add up to more than the GPUs,
 * or no further profile fits beside the instances, the weights are scaled so that they add up to the GPUs. Otherwise the
 * remainder is in no instance.
 */
export function layOutMig(instances: readonly MigInstances[], physicalGpus: number, geometry: MigGeometry): MigLayout {
  let [compute, memory, raw] = [0, 0, 0];
  for (const { size, count } of instances) {
    compute += size.compute * count;
    memory += size.memory * count;
    raw += rawWeight(size, geometry) * count;
  }
  if (raw <= 0) return { scale: 1, rest: physicalGpus, isOverfull: false };
  const freeCompute = physicalGpus * geometry.computeSlices - compute;
  const freeMemory = physicalGpus * geometry.memorySlices - memory;
  const fits = geometry.kinds.some(
    (kind) => kind.compute <= freeCompute + tolerance && kind.size <= freeMemory + tolerance,
  );
  const isOverfull = freeCompute < -tolerance || freeMemory < -tolerance;
  if (raw > physicalGpus + tolerance || !fits) return { scale: physicalGpus / raw, rest: 0, isOverfull };
  return { scale: 1, rest: physicalGpus - raw, isOverfull };
}

/**
 * The fewest GPUs that can carry these numbers of instances: by compute, by memory, and by how many of each size a GPU can
 * have.
 */
export function gpusOfInstances(
  instances: readonly MigInstances[],
  { computeSlices, memorySlices }: MigGeometry,
): number {
  let [compute, memory, byProfile] = [0, 0, 0];
  for (const { size, count } of instances) {
    compute += size.compute * count;
    memory += size.memory * count;
    byProfile = Math.max(byProfile, count / size.mostPerGpu);
  }
  return Math.ceil(Math.max(compute / computeSlices, memory / memorySlices, byProfile) - 1e-6);
}

/** The profile in a resource name: `nvidia.com/mig-1g.10gb` and `nvidia.com/mig-1g.10gb.shared` -> `1g.10gb`; else `null`. */
export function migProfileOfResource(resource: string): string | null {
  const match = /^nvidia\.com\/mig-(.+?)(?:\.shared)?$/.exec(resource);
  return match?.[1] ?? null;
}

/** Whether two spellings name the same profile: punctuation differs between DCGM, resource names and DRA. */
export function sameProfile(a: string, b: string): boolean {
  return profileKey(a) === profileKey(b);
}

/** A profile without the punctuation by which spellings differ; `-me` (without media engines) is not `+me` (with them). */
export function profileKey(profile: string): string {
  return profile
    .toLowerCase()
    .replace("-me", "nome")
    .replace(/[^a-z0-9]/g, "");
}
