import { z } from "zod";

const estimateSchema = z.strictObject({ mean: z.number(), half: z.number() });

/** What the replay of Helios Earth came to, as its digest keeps it. Hours are GPU-hours, waits hours. */
export const heliosResultSchema = z.strictObject({
  trace: z.literal("helios"),
  counts: z.strictObject({
    gpus: z.number(),
    allocated: z.number(),
    runningHours: z.number(),
    idleHours: z.number(),
    pendingHours: z.number(),
    onlyElsewhere: z.number(),
  }),
  teams: z.number(),
  seeds: z.number(),
  jobs: z.number(),
  rows: z.array(
    z.strictObject({
      rule: z.string(),
      earlierHours: estimateSchema,
      savedHours: estimateSchema,
      lostHours: z.number(),
      evictions: z.number(),
      lenderShortHours: z.number(),
      meanWaitHours: z.number(),
      p95WaitHours: z.number(),
      offered: z.number().nullable(),
    }),
  ),
  sensitivity: z.array(
    z.strictObject({
      inference: z.string(),
      rule: z.string(),
      jobs: z.number(),
      earlierHours: z.number(),
      savedHours: z.number(),
      lostHours: z.number(),
    }),
  ),
});

export type HeliosResult = z.infer<typeof heliosResultSchema>;
