import { z } from "zod";

const estimateSchema = z.strictObject({ mean: z.number(), half: z.number() });

/** What the replay of Philly's node series came to, as its digest keeps it. */
export const phillyResultSchema = z.strictObject({
  trace: z.literal("philly"),
  /** Of the whole series, by minute. */
  minutes: z.number(),
  meanUse: z.number(),
  from: z.string(),
  until: z.string(),
  steps: z.number(),
  seeds: z.number(),
  totalNodeHours: z.number(),
  activeNodeHours: z.number(),
  rows: z.array(
    z.strictObject({
      rule: z.string(),
      savedNodeHours: estimateSchema,
      /** Mean over the steps of active nodes over nodes that are on. */
      use: z.number(),
      wakeUpsPerDay: z.number(),
      startedPerDay: z.number(),
      shortNodeHours: estimateSchema,
      idleNodeHours: z.number(),
    }),
  ),
});

export type PhillyResult = z.infer<typeof phillyResultSchema>;
