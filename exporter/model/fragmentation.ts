/** Why fully free GPUs of a node are of no use to any typical pod: the first reason that applies. */
export const strandedReasons = ["constraint", "gpus", "cpu", "memory", "cpu_and_memory"] as const;

/**
 * `constraint`: the node's labels or taints keep every typical pod out; `gpus`: fewer GPUs are free than any of the pods asks
 * for; `cpu`, `memory`: this is missing for every pod for which enough GPUs are free; `cpu_and_memory`: both are missing, or
 * not the same one for all pods.
 */
export type StrandedReason = (typeof strandedReasons)[number];

/**
 * Why a pod of the target workload could not use what a node has free (Weng et al., USENIX ATC 2023, with memory treated like
 * CPU): `no_gpu_task`: it asks for no GPU; `no_access`: the node's labels or taints keep it out; `lack_gpu`: too few GPUs are
 * free, or, where the pod fits, these GPUs have less left than it takes of one; `lack_cpu`, `lack_memory`,
 * `lack_cpu_and_memory`: enough GPUs are free, but not enough of these; `lack_both`: there are neither enough GPUs nor enough
 * CPU and memory.
 */
export const fragmentationCauses = [
  "no_gpu_task",
  "no_access",
  "lack_gpu",
  "lack_cpu",
  "lack_memory",
  "lack_cpu_and_memory",
  "lack_both",
] as const;

export type FragmentationCause = (typeof fragmentationCauses)[number];
