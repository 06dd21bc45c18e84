import { memoryOfModel } from "./gpuModel.ts";

/** Where instances of one kind may lie on a GPU. */
export interface MigKind {
  /** Compute slices: the number before `g`. */
  readonly compute: number;
  /** Memory slices. */
  readonly size: number;
  /** First memory slices that the hardware allows. */
  readonly starts: readonly number[];
}

/** The instances into which a GPU can be partitioned. */
export interface MigGeometry {
  readonly computeSlices: number;
  readonly memorySlices: number;
  readonly kinds: readonly MigKind[];
}

/** `nvidia-smi mig -lgipp` on A100 and H100: the same on each GPU with seven compute and eight memory slices. */
const sevenSlices: MigGeometry = {
  computeSlices: 7,
  memorySlices: 8,
  kinds: [
    { compute: 1, size: 1, starts: [0, 1, 2, 3, 4, 5, 6] },
    { compute: 1, size: 2, starts: [0, 2, 4, 6] },
    { compute: 2, size: 2, starts: [0, 2, 4] },
    { compute: 3, size: 4, starts: [0, 4] },
    { compute: 4, size: 4, starts: [0] },
    { compute: 7, size: 8, starts: [0] },
  ],
};

/** `nvidia-smi mig -lgipp` on A30, and by its guide on RTX PRO 6000. */
const fourSlices: MigGeometry = {
  computeSlices: 4,
  memorySlices: 4,
  kinds: [
    { compute: 1, size: 1, starts: [0, 1, 2, 3] },
    { compute: 2, size: 2, starts: [0, 2] },
    { compute: 4, size: 4, starts: [0] },
  ],
};

/** RTX PRO 5000 and 4500 (NVIDIA's MIG user guide: two instances at most). */
const twoSlices: MigGeometry = {
  computeSlices: 2,
  memorySlices: 2,
  kinds: [
    { compute: 1, size: 1, starts: [0, 1] },
    { compute: 2, size: 2, starts: [0] },
  ],
};

/** The geometry of GPUs of a canonical model; `null` if it is not known. */
export function migGeometryOf(model: string): MigGeometry | null {
  if (/^(?:A30(?!\d)|RTX-PRO-6000)/.test(model)) return fourSlices;
  if (/^RTX-PRO-[45][05]00/.test(model)) return twoSlices;
  return /^(?:[AH][18]00|H20|H200|GH200|G?B[123]00)(?!\d)/.test(model) ? sevenSlices : null;
}

/** The geometry of a model, where an unknown model is taken for a GPU of seven compute and eight memory slices, as most are. */
export function likelyGeometryOf(model: string): MigGeometry {
  return migGeometryOf(model) ?? sevenSlices;
}

/**
 * The name of a kind's profile on GPUs of a model; `null` where their memory is not known. The memory in it is the
 * fraction of the GPU's memory, in GiB and rounded up, that the instance takes (getMigMemorySizeGB of go-nvlib).
 */
export function profileOf({ compute, size }: MigKind, geometry: MigGeometry, model: string): string | null {
  const bytes = memoryOfModel(model);
  if (bytes === null) return null;
  const gib = Math.round((size / geometry.memorySlices) * Math.ceil(bytes / 2 ** 30));
  return `${compute}g.${gib}gb`;
}

/** The GPU instance in the name of a profile: `1g.10gb+me` -> 1 and `1g.10gb`, `1c.3g.40gb` -> 3 and `3g.40gb`; `null`: none. */
export function gpuInstanceOf(profile: string): { readonly compute: number; readonly name: string } | null {
  const match = /^(?:[1-9]c\.)?(([1-9])g\.\d{1,4}gb)/.exec(profile);
  const name = match?.[1];
  return name === undefined ? null : { compute: Number(match?.[2]), name };
}
