/**
 * What keeps a gang off free GPUs although there are enough: the first obstacle that, lifted alone, would let it in.
 *
 * - `topology`: everything fits, but not within one domain of the level of the topology that the gang requires;
 * - `mig_geometry`: its MIG instances would fit if the free slices of the GPUs were partitioned for them;
 * - `cpu`, `memory`, `cpu_and_memory`: it would fit if every node had as much of these as it asks for;
 * - `model`: it would fit without its demands on labels that name the model of the GPUs;
 * - `selector`: it would fit without its demands on other labels, and without the nodes' taints;
 * - `spread`: none of these alone: the free GPUs are scattered over too many nodes.
 */
export const blockers = [
  "topology",
  "mig_geometry",
  "cpu",
  "memory",
  "cpu_and_memory",
  "model",
  "selector",
  "spread",
] as const;

export type Blocker = (typeof blockers)[number];
