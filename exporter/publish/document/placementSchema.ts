import { z } from "zod";
import { blockers } from "../../model/blockers.ts";
import { fragmentationCauses, strandedReasons } from "../../model/fragmentation.ts";
import { placedSizeNames } from "../../model/placedSizes.ts";
import { gpus, instant, ratio } from "./schemaParts.ts";

const shape = z
  .strictObject({
    cpu: z.number().describe("CPU cores."),
    memoryBytes: z.number(),
    gpus,
    gpuShare: z.number().nullable().describe("Share of one GPU; null for pods with whole GPUs."),
    resources: z.record(z.string(), z.number()).describe("GPU resources as the pod asks for them."),
    models: z.array(z.string()).describe("Models of the nodes that may take it, by labels and taints."),
    popularity: z.number().describe("Part of the pods of the target workload."),
    pods: z.number().nullable().describe("Pods that were counted; null where the popularity was given."),
  })
  .meta({ id: "TargetShape", description: "A pod for which placement is judged." });

/** How well the free GPUs of a pool are placed. */
export const placement = z
  .strictObject({
    freeGpus: gpus.describe("Fully free whole GPUs on ready and schedulable nodes."),
    sharedFreeGpus: gpus.describe("Free parts of partly allocated GPUs."),
    partitionedFreeGpus: gpus.describe("Free MIG instances, replicas, and unpartitioned parts."),
    unavailableFreeGpus: gpus.describe(
      "Allocated to nobody, and not to be had: not ready, not schedulable, unhealthy.",
    ),
    largestPlaceablePod: gpus.describe("Whole GPUs of the largest pod that fits now, CPU and memory counted."),
    placeablePods: z.record(z.enum(placedSizeNames), z.number().int()).describe("How many pods of each size fit now."),
    shapeFragmentation: z
      .record(z.enum(placedSizeNames), z.number())
      .describe("1 - size x placeable / free; 0 where less than the size is free."),
    typicalRequests: z
      .array(
        z.strictObject({
          size: z.number().int(),
          cpu: z.number(),
          memoryBytes: z.number(),
          basis: z.enum(["median", "scaled", "none"]),
        }),
      )
      .describe("CPU and memory that a pod of each size is taken to ask for."),
    wholeFreeNodes: z.number().int(),
    possibleWholeFreeNodes: z.number().int().describe("If what is allocated were moved together."),
    strandedGpus: z
      .partialRecord(z.enum(strandedReasons), gpus)
      .describe("Fully free GPUs that no typical pod can use, by reason; a reason that is not there is 0."),
    blockedGpus: gpus.describe("GPUs of work that would fit in what is free but on no set of nodes, for five minutes."),
    expected: z
      .strictObject({
        gpus: gpus.describe("Expected GPUs that a typical pod could not use."),
        ratio: ratio.describe("Of what is free; null where nothing is."),
        byCause: z.partialRecord(z.enum(fragmentationCauses), gpus),
      })
      .describe("Expected fragmentation (Weng et al., USENIX ATC 2023)."),
    migFragmentation: z.array(
      z.strictObject({ profile: z.string(), physicalGpus: z.number().int(), ratio: z.number() }),
    ),
    targetSource: z.enum(["configured", "pods", "fixed"]).describe("Where the target workload comes from."),
    targetWorkload: z.array(shape),
  })
  .meta({ id: "Placement", description: "How well the free GPUs of a pool lie." });

/** Work that waits although enough GPUs are free. */
export const blocked = z
  .strictObject({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    team: z.string(),
    queue: z.string().nullable(),
    pools: z.array(z.string()).describe("Pools that could serve it."),
    gpus: gpus.describe("What it needs to start."),
    freeGpus: gpus.describe("Free GPUs of its pools."),
    blocker: z.enum(blockers),
    since: instant.describe("Since when it has been blocked without a break; UTC."),
    isStanding: z.boolean().describe("For five minutes or longer: it counts in `blockedGpus`."),
  })
  .meta({ id: "Blocked", description: "A gang that would fit in the free GPUs of its pools, but on no set of nodes." });
