import { z } from "zod";

const estimateSchema = z.strictObject({ mean: z.number(), half: z.number() });

/** What the replay of openb came to, as its digest keeps it. GPUs are physical; values of rows are means over the seeds. */
export const openbResultSchema = z.strictObject({
  trace: z.literal("openb"),
  caseStudy: z.strictObject({
    jobs: z.number(),
    withGpu: z.number(),
    runningWithGpu: z.number(),
    pendingWithGpu: z.number(),
    allocatedMilli: z.number(),
    capacityMilli: z.number(),
  }),
  capacityGpus: z.number(),
  nodes: z.number(),
  seeds: z.number(),
  demand: z.number(),
  rounds: z.number(),
  placements: z.array(z.strictObject({ name: z.string(), seeds: z.number(), allocatedGpus: estimateSchema })),
  cut: z.strictObject({ nodes: z.number(), capacityGpus: z.number(), everyNode: z.number() }),
  rows: z.array(
    z.strictObject({
      placement: z.string(),
      approach: z.string(),
      allocatedGpus: estimateSchema,
      gainedGpus: estimateSchema,
      offered: z.number(),
      moves: z.number(),
      displaced: z.number(),
      doneAgainGpuHours: z.number(),
      workSoonGpuHours: z.number(),
      workLateGpuHours: z.number(),
      waitingTasks: z.number(),
      idleNodeHours: z.number(),
    }),
  ),
});

export type OpenbResult = z.infer<typeof openbResultSchema>;
