import { z } from "zod";

const scoreSchema = z.strictObject({
  looks: z.number(),
  shown: z.number(),
  hits: z.number(),
  early: z.number(),
  /** Geometric mean of the end of the interval over its begin, counted from the look. */
  width: z.number().nullable(),
});

/** What the backtest of start times came to, as its digest keeps it. */
export const startsResultSchema = z.strictObject({
  trace: z.literal("starts"),
  arrivals: z.number(),
  seeds: z.number(),
  loads: z.tuple([z.number(), z.number()]),
  rows: z.array(
    z.strictObject({
      queues: z.string(),
      shape: z.string(),
      /** At the first look at waiting work, and at all later ones. */
      first: scoreSchema,
      later: scoreSchema,
      /** At the first look: the baseline of the last hundred waits. */
      plain: z.strictObject({ shown: z.number(), hits: z.number() }),
    }),
  ),
});

export type StartsResult = z.infer<typeof startsResultSchema>;
export type StartsRow = StartsResult["rows"][number];
