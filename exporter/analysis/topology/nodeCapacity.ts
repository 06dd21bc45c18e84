import { gpuTolerance } from "../../model/gpuTolerance.ts";
import type { PoolFreeCapacity } from "../freeCapacity/freeCapacities.ts";
import type { FreeCapacity } from "../freeCapacity/nodeFreeCapacity.ts";

/** What a pod of whole GPUs asks for. */
export interface GangPod {
  readonly gpus: number;
  readonly cpuMilli: number;
  readonly memoryBytes: number;
}

/** What one node has for pods of one kind. */
export interface NodePods {
  /** Pods that fit now, each on GPUs that are wholly free. */
  readonly now: number;
  /** Pods that would fit if the node were empty and ready. */
  readonly empty: number;
  /**
   * Free GPUs that these pods cannot use, F of Weng et al. (USENIX ATC 2023): everything that is free where no pod fits, else
   * the free parts of shared GPUs.
   */
  readonly unusableGpus: number;
}

/** Counts the pods of one kind that fit on a node. */
export function podsOnNode({ now, whole, fullyFreeGpus }: PoolFreeCapacity, pod: GangPod): NodePods {
  const fitting = now === null ? 0 : podsIn(fullyFreeGpus, now, pod);
  const free = now?.gpus ?? 0;
  return {
    now: fitting,
    empty: podsIn(whole.physicalGpus.length, whole, pod),
    unusableGpus: fitting > 0 ? Math.max(0, free - fullyFreeGpus) : free,
  };
}

function podsIn(gpus: number, has: Pick<FreeCapacity, "cpuMilli" | "memoryBytes">, pod: GangPod): number {
  let pods = Math.floor(gpus / pod.gpus);
  if (pod.cpuMilli > 0) pods = Math.min(pods, Math.floor(has.cpuMilli / pod.cpuMilli + gpuTolerance));
  if (pod.memoryBytes > 0) pods = Math.min(pods, Math.floor(has.memoryBytes / pod.memoryBytes + gpuTolerance));
  return pods;
}
