import { z } from "zod";
import { schedulerNumbers } from "../../catalogue/labels.ts";
import { unknownStarts } from "../../model/unknownStarts.ts";
import { waitCauses } from "../../model/waitCauses.ts";
import { linePosition, localQueue } from "../document/localQueueSchema.ts";
import { finding } from "../document/queueSchema.ts";
import { instant, type Read } from "../document/schemaParts.ts";

const gpus = z.number().describe("Physical GPUs.");
const named = z.strictObject({ queue: z.string(), gpus });

const line = z
  .strictObject({
    sign: z.enum(["", "-", "=", ">"]).describe("- is taken away, = is what is left by then, > is what the queue gets."),
    name: z.string(),
    gpus,
    how: z.string(),
    shares: z
      .array(z.strictObject({ queue: z.string(), gpus, note: z.string() }))
      .describe("Who gets it; they add up to gpus."),
  })
  .meta({ id: "EntitlementLine", description: "A line of a sum." });

/** When waiting work is expected to start. */
export const startTime = z
  .strictObject({
    from: instant.nullable().describe("One in ten like it starts earlier (p10); null where it is not known."),
    half: instant.nullable().describe("Half of the work like it starts earlier (p50)."),
    to: instant.nullable().describe("Nine of ten like it start earlier (p90)."),
    unknownBecause: z.enum(unknownStarts).nullable().describe("Why it is not known; null: it is."),
    intervals: z.number().int().describe("Such intervals of its queue and size whose end is known, the last 500."),
    hits: z.number().int().describe("Those of them in which the start was between from and to."),
  })
  .meta({ id: "StartTime", description: "When waiting work is expected to start, and how often that has been right." });

export type StartTimeRecord = Read<z.infer<typeof startTime>>;

const schedulerValue = z.union([z.number(), z.literal("Infinity")]).nullable();

/** How the entitlement of a queue in one quota domain is computed, and who has what it lacks. */
export const entitlementSchema = z
  .strictObject({
    scheduler: z.string(),
    kind: z.string(),
    name: z.string(),
    domain: z.string(),
    path: z.array(z.string()).describe("What is above it, from the top."),
    unknownBecause: z.string().nullable().describe("Why its entitlement is not known; null: it is."),
    entitled: gpus.nullable(),
    allocated: gpus,
    pending: gpus,
    deviation: gpus.nullable().describe("allocated - entitled."),
    shortSince: instant.nullable().describe("Since when it has been short of its entitlement without a break."),
    levels: z
      .array(z.strictObject({ divides: z.string(), lines: z.array(line) }))
      .describe("From the domain down to the level in which the queue gets its share."),
    missing: z.array(named).describe("Who holds what it is entitled to, largest first."),
    owed: z.array(named).describe("Who is entitled to what it holds, largest first."),
    idleGap: z
      .strictObject({ gpus, pools: z.array(z.strictObject({ pool: z.string(), free: gpus.nullable() })) })
      .describe("Of what it misses: free although it is entitled to it; and what is free in the pools."),
    why: z
      .array(z.string())
      .describe("Why it has what it has, in whole sentences; the last says what would have to change."),
    schedulerViews: z.array(
      z.strictObject({
        number: z.enum(schedulerNumbers),
        shard: z.string(),
        computed: schedulerValue,
        reported: schedulerValue,
      }),
    ),
    waiting: z
      .array(
        z.strictObject({
          namespace: z.string(),
          kind: z.string(),
          name: z.string(),
          gpus: gpus.nullable(),
          pods: z.number(),
          most: z
            .strictObject({ pods: z.number(), gpus: gpus.nullable() })
            .nullable()
            .describe("All that it asks for, where fewer pods will do."),
          growth: z
            .strictObject({ from: z.number(), to: z.number() })
            .nullable()
            .describe("Pods that an elastic job has, and that it wants."),
          ageSeconds: z.number().nullable(),
          cause: z.enum(waitCauses),
          blockingLevel: z
            .string()
            .nullable()
            .describe("With the cause topology: the level that blocks, because it fits into no single domain of it."),
          never: z.string().nullable(),
          reason: z.string(),
          start: startTime,
        }),
      )
      .describe("The first gangs that wait, in the order of the queue."),
    waitingGangs: z.number().int().describe("All gangs that wait."),
    findings: z.array(finding),
  })
  .meta({ id: "Entitlement", description: "What a queue is entitled to in one quota domain, step by step." });

export type Entitlement = Read<z.infer<typeof entitlementSchema>>;
export type EntitlementLevel = Entitlement["levels"][number];
export type EntitlementLine = EntitlementLevel["lines"][number];

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

export type LocalQueueExplanation = Read<z.infer<typeof localQueueExplanationSchema>>;
export type LocalGang = LocalQueueExplanation["waiting"][number];
