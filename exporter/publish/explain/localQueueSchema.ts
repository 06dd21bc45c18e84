import { z } from "zod";
import { waitCauses } from "../../model/waitCauses.ts";
import { linePosition, localQueue } from "../document/localQueueSchema.ts";

const gang = z.strictObject({
  namespace: z.string(),
  kind: z.string(),
  name: z.string(),
  localQueue: z.string().nullable(),
  gpus: z.number().nullable().describe("Physical GPUs."),
  cause: z.enum(waitCauses),
  ...linePosition,
});

/** A LocalQueue of Kueue: where it is, and what would have to change. */
export const localQueueExplanationSchema = z
  .strictObject({
    namespace: z.string(),
    name: z.string(),
    clusterQueue: z.string(),
    shares: z.array(localQueue).describe("What it has of its ClusterQueue, by quota domain."),
    waiting: z.array(gang).describe("The first gangs that wait in it, in their order."),
    waitingGangs: z.number().int().describe("All gangs that wait in it."),
    before: z.array(gang).describe("The first gangs in the line of its ClusterQueue before its own first one."),
    beforeGangs: z
      .number()
      .int()
      .nullable()
      .describe("All of these; null where the order is not known, or nothing of it waits."),
    sentences: z
      .array(z.string())
      .describe(
        "All of it in words: whose it is, its weight, its share and why, the line, and what would have to change.",
      ),
  })
  .meta({
    id: "LocalQueueExplanation",
    description: "A LocalQueue of Kueue: where it is, and what would have to change.",
  });

export type LocalQueueExplanation = z.infer<typeof localQueueExplanationSchema>;
export type LocalGang = LocalQueueExplanation["waiting"][number];
