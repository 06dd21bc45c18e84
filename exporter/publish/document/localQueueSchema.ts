import { z } from "zod";
import { gpus } from "./schemaParts.ts";

const place = z.number().int().min(1).nullable();

/** The place of a gang in the lines of Kueue. */
export const linePosition = {
  position: place.describe(
    "Place in the line of its ClusterQueue as Kueue's visibility API reported it lately, else by Kueue's order as Fairlead computes it; 1 is next (the visibility API counts from 0). Null: it is in no line of Kueue, or the usage that decides it is not known.",
  ),
  positionInLocalQueue: place.describe("The same among the work of its LocalQueue alone."),
} as const;

const usage = z.union([z.number(), z.literal("Infinity")]).nullable();

/** What one LocalQueue of Kueue has of its ClusterQueue in one quota domain. */
export const localQueue = z
  .strictObject({
    namespace: z.string().nullable(),
    name: z.string().nullable().describe("Null: work of the ClusterQueue whose LocalQueue is unknown."),
    clusterQueue: z.string(),
    domain: z.string().nullable().describe("Null where its ClusterQueue is not there, or has no quota for GPUs here."),
    servedBy: z
      .enum(["usage", "priority"])
      .describe(
        "usage: its ClusterQueue serves the LocalQueue first that has used least for its weight; priority: all LocalQueues are served in one line, by priority and then by age.",
      ),
    weight: z.number().nullable().describe("spec.fairSharing.weight; null of work without a LocalQueue."),
    weightIsUsed: z.boolean().describe("Whether weights decide what LocalQueues are entitled to."),
    usage: usage.describe(
      "What it has used for its weight, as Kueue compares it; Infinity: weight 0. Null: Kueue has written none, or its Configuration was not read.",
    ),
    allocated: gpus,
    pending: gpus.describe("Eligible demand that waits."),
    entitled: gpus
      .nullable()
      .describe("Its part of what the ClusterQueue is entitled to; null where that is not known."),
    deviation: z.number().nullable().describe("allocated - entitled."),
  })
  .meta({ id: "LocalQueue", description: "A LocalQueue of Kueue in one quota domain: the last level of its queues." });
