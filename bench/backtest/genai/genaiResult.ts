import { z } from "zod";

/** What the replay of the duty cycles came to, as its digest keeps it. */
export const genaiResultSchema = z.strictObject({
  trace: z.literal("genai"),
  shares: z.strictObject({
    pods: z.number(),
    samples: z.number(),
    zeros: z.number(),
    meanPercent: z.number(),
    aboveHalf: z.number(),
  }),
  unusedHours: z.number(),
  /** What someone frees who knows the future, less the restarts, if a restart costs so many minutes. */
  oracle: z.array(z.strictObject({ restartMinutes: z.number(), netHours: z.number(), calls: z.number() })),
  rows: z.array(
    z.strictObject({
      name: z.string(),
      /** `null` for the advice, whose window is the default. */
      windowMinutes: z.number().nullable(),
      calls: z.number(),
      judged: z.number(),
      right: z.number(),
      inUse: z.number(),
      cameBack: z.number(),
      freedHours: z.number(),
      freedLateHours: z.number(),
    }),
  ),
});

export type GenaiResult = z.infer<typeof genaiResultSchema>;
