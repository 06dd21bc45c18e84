import { gpuResources } from "./wellKnown.ts";

/**
 * Words in names below `nvidia.com/` that mean something else than an amount of GPUs: memory and cores of HAMi
 * (`gpumem`, `gpumem-percentage`, `gpucores`, `priority`), IMEX channels, network cards of NVIDIA's network operator.
 */
const notGpus =
  /(?:^|[-_./])(?:v?gpu)?(?:mem|memory|cores?|percentage|priority|imex|channels?|rdma\w*|roce\w*|hostdev\w*|mlnxnics?|sriov\w*|nics?)(?=[-_./]|$)/i;

/** Resource names of other vendors whose unit is a GPU or a part of one. */
const otherVendors = /^(?:amd\.com\/(?:gpu|[a-z]px_nps\d+)|(?:beta\.)?gpu\.intel\.com\/(?:i915|xe)|habana\.ai\/gaudi)$/;

/**
 * Whether an amount of this extended resource may stand for GPUs: everything of NVIDIA that is not known to be memory,
 * cores, channels or network; the GPUs and partitions of AMD, Intel and Gaudi; and the names in `configured`.
 * A renamed resource is therefore kept until configuration says what part of a card it is.
 */
export function gpuLikeResource(name: string, configured: ReadonlySet<string> = noNames): boolean {
  if (configured.has(name)) return true;
  if (!name.startsWith(gpuResources.nvidiaPrefix)) return otherVendors.test(name);
  return name.length > gpuResources.nvidiaPrefix.length && !notGpus.test(name.slice(gpuResources.nvidiaPrefix.length));
}

const noNames: ReadonlySet<string> = new Set();
