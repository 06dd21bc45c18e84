import { z } from "zod";

/** What the distributions of Acme say, as the digest keeps it; all in percent. */
export const acmeResultSchema = z.strictObject({
  trace: z.literal("acme"),
  rows: z.array(
    z.strictObject({
      cluster: z.string(),
      utilZero: z.number(),
      utilIdle: z.number(),
      smIdle: z.number(),
      utilMedian: z.number(),
      smMedian: z.number(),
    }),
  ),
});

export type AcmeResult = z.infer<typeof acmeResultSchema>;
