/** Why fully free GPUs of a node are of no use to any typical pod (the first that is true). */
export const strandedReasons = ["constraint", "gpus", "cpu", "memory", "cpu_and_memory"] as const;

/**
 * `constraint`: the node's labels or taints keep every typical pod out; `gpus`: fewer are free than any of them asks for;
 * `cpu`, `memory`: that is missing for all of them for which enough are; `cpu_and_memory`: both are, or not the same for all.
 */
export type StrandedReason = (typeof strandedReasons)[number];

/**
 * Why a pod of the target workload could not use what a node has free (Weng et al., USENIX ATC 2023, with memory as CPU):
 * `no_gpu_task`: it asks for no GPU; `no_access`: the node's labels or taints keep it out; `lack_gpu`: too few GPUs, and
 * the rest that is left where it fits; `lack_cpu`, `lack_memory`, `lack_cpu_and_memory`: enough GPUs, but not of these;
 * `lack_both`: neither enough GPUs nor enough of CPU and memory.
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
