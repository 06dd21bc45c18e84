import { blockers } from "../model/blockers.ts";
import { fragmentationCauses, strandedReasons } from "../model/fragmentation.ts";
import { placedSizeNames } from "../model/placedSizes.ts";
import type { MetricArea } from "./metric.ts";

/** How well free GPUs can be used, and the work that waits because they cannot. */
export const placementMetrics = {
  fairlead_pool_free_gpus: {
    unit: "gpus",
    help: "Free GPUs on ready and schedulable nodes: fully free GPUs (whole), free parts of partly allocated GPUs (shared), free MIG instances, replicas and unpartitioned parts (partitioned).",
    formula: "sum over the pool's ready and schedulable nodes of what nobody holds, by what it is",
    example:
      "two nodes of 8 GPUs; 7 and 4 GPUs are wholly allocated, and one is half allocated to a fraction: whole 4, shared 0.5.",
    labels: ["cluster", "pool", "part"],
    values: { part: ["whole", "shared", "partitioned"] },
  },
  fairlead_pool_unavailable_free_gpus: {
    unit: "gpus",
    help: "GPUs that nobody holds and nobody can get: on nodes that are not ready or not schedulable, or unhealthy.",
    formula: "sum of what nobody holds on all other nodes, and of unhealthy GPUs",
    example: "a cordoned node of 8 GPUs with 2 allocated: 6.",
    labels: ["cluster", "pool"],
  },
  fairlead_largest_placeable_pod_gpus: {
    unit: "gpus",
    help: "Whole GPUs of the largest pod that one node of the pool could take now, its usual CPU and memory counted.",
    formula: "max over nodes of the largest s <= fully free GPUs with free CPU >= C_s and free memory >= M_s",
    example: "4 and 6 GPUs are free on two nodes, but the second has CPU for 3 GPUs only: 4.",
    labels: ["cluster", "pool"],
  },
  fairlead_placeable_pods: {
    unit: "count",
    help: "Pods of this size (whole GPUs) that could be placed now, with the median CPU and memory of such pods.",
    formula:
      "S(s) = sum over nodes of min(floor(f / s), floor(free CPU / C_s), floor(free memory / M_s)), f: fully free GPUs of the node",
    example: "nodes with 3, 5 and 8 free GPUs and CPU enough: S(4) = 0 + 1 + 2 = 3.",
    labels: ["cluster", "pool", "size"],
    values: { size: placedSizeNames },
  },
  fairlead_shape_fragmentation_ratio: {
    unit: "ratio",
    help: "Part of the fully free GPUs that pods of this size (whole GPUs) could not use.",
    formula: "1 - s x S(s) / sum of f; 0 where less than s is free",
    example: "16 GPUs are free as 3 + 5 + 8: for s = 4, 1 - 4 x 3 / 16 = 0.25.",
    labels: ["cluster", "pool", "size"],
    values: { size: placedSizeNames },
  },
  fairlead_whole_free_nodes: {
    unit: "nodes",
    help: "Nodes whose GPUs are all free.",
    formula: "count of nodes with f = their GPUs",
    example: "of nodes with 3, 5 and 8 of 8 free GPUs: 1.",
    labels: ["cluster", "pool"],
  },
  fairlead_possible_whole_free_nodes: {
    unit: "nodes",
    help: "Nodes that could be wholly free if what is allocated were moved together; the difference to the whole free nodes is lost to scatter.",
    formula:
      "the most nodes whose GPUs together are at most the free ones: floor(sum of f / GPUs of a node) where nodes are alike",
    example: "16 free GPUs on nodes of 8: 2.",
    labels: ["cluster", "pool"],
  },
  fairlead_stranded_gpus: {
    unit: "gpus",
    help: "Fully free GPUs of nodes where no typical pod fits: kept out (constraint), too few GPUs (gpus), or for want of CPU, memory or both.",
    formula: "sum of f over nodes on which no shape of the target workload fits, by the first reason that is true",
    example: "4 free GPUs on a node with no CPU left: cpu 4.",
    labels: ["cluster", "pool", "reason"],
    values: { reason: strandedReasons },
  },
  fairlead_expected_fragmentation_gpus: {
    unit: "gpus",
    help: "Expected GPUs that a typical pod could not use, by cause (Weng et al., Beware of Fragmentation, USENIX ATC 2023, with memory counted like CPU).",
    formula:
      "sum over nodes n and shapes m of popularity(m) x F_n(m); F_n(m): what is free on n if m cannot run there, else the free parts too small for it",
    example: "a node has 3 free GPUs; half of the pods ask for 1, half for 4: 0.5 x 0 + 0.5 x 3 = 1.5, lack_gpu.",
    labels: ["cluster", "pool", "cause"],
    values: { cause: fragmentationCauses },
  },
  fairlead_expected_fragmentation_ratio: {
    unit: "ratio",
    help: "Expected fragmentation as a part of what is free; absent where nothing is free.",
    formula: "expected fragmentation / free GPUs (whole, shared and partitioned)",
    example: "1.5 of 3 free GPUs: 0.5.",
    labels: ["cluster", "pool"],
  },
  fairlead_mig_fragmentation_ratio: {
    unit: "ratio",
    help: "Part of the pool's MIG GPUs with enough free slices for the profile that have no place for it; only of GPUs whose layout NVIDIA's DRA driver publishes. Slices of instances that nobody holds are free. Absent where no GPU has enough.",
    formula:
      "GPUs without a legal start whose memory slices are all free / GPUs; both of GPUs with enough free memory and compute slices for the profile",
    example:
      "1g.10gb allocated at slots 1 and 5 leave six slices and no place for 3g.40gb; another GPU is free: 1 of 2 = 0.5.",
    labels: ["cluster", "pool", "profile"],
    stability: "alpha",
  },
  fairlead_target_workload_pods: {
    unit: "count",
    help: "Pods that the target workload was counted from, by where it comes from; /api/v1/pools has its shapes.",
    formula: "pods with GPUs that run, wait, or ended in the last seven days; configured or fixed mixes count none",
    example: "120 running, 30 waiting and 850 ended pods: 1000.",
    labels: ["cluster", "target_source"],
    values: { target_source: ["configured", "pods", "fixed"] },
    stability: "alpha",
  },
  fairlead_blocked_gpus: {
    unit: "gpus",
    help: "GPUs of waiting gangs that would fit in the free GPUs of their pools but on no set of nodes, for more than five minutes, by what blocks them; a gang counts in one pool.",
    formula: "sum over such gangs of the GPUs that they need to start",
    example: "a pod of 8 GPUs waits; 12 are free as 6 + 6: spread 8.",
    labels: ["cluster", "pool", "blocker"],
    values: { blocker: blockers },
  },
  fairlead_blocked_gangs: {
    unit: "count",
    help: "Such gangs.",
    formula: "count of the gangs of fairlead_blocked_gpus",
    example: "one gang of 2 pods of 8 GPUs: 1.",
    labels: ["cluster", "pool", "blocker"],
    values: { blocker: blockers },
  },
  fairlead_longest_blocked_seconds: {
    unit: "seconds",
    help: "How long the gang that has been blocked longest has been so; absent where none is.",
    formula: "now - since when it has been blocked without a break, the largest",
    example: "blocked since 14:00, now 14:40: 2400.",
    labels: ["cluster", "pool"],
    stability: "alpha",
  },
} as const satisfies MetricArea;
