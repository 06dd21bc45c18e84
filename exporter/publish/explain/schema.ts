import { z } from "zod";
import { activitySignals } from "../../model/activitySignals.ts";
import { gpuStates } from "../../model/gpuStates.ts";
import { severities } from "../../model/problem.ts";
import { gpus, instant, type Read } from "../document/schemaParts.ts";
import { entitlementSchema, localQueueExplanationSchema } from "./entitlementSchema.ts";
import { explainedKinds } from "./kinds.ts";

const part = z
  .strictObject({
    node: z.string(),
    uuid: z.string().nullable().describe("The GPU; null where nothing says which one it is."),
    gpuInstance: z.string().nullable(),
    profile: z.string().nullable(),
    model: z.string(),
    gpus,
    states: z.partialRecord(z.enum(gpuStates), gpus),
    holder: z
      .strictObject({ namespace: z.string(), pod: z.string(), team: z.string() })
      .nullable()
      .describe("Null for what nobody holds."),
    knownFrom: z.string().nullable().describe("What says that this pod holds it."),
    estimated: z.boolean(),
    activity: z.number().nullable().describe("0..1, of this part; null when it is not observed."),
    signal: z.enum(activitySignals).nullable(),
    why: z.string().describe("Why it is in this state."),
  })
  .meta({ id: "ExplainedPart", description: "A part of a physical GPU, and how it came to be counted as it is." });

/** How the numbers of one team, queue, workload, pod or node were computed. */
export const explanationSchema = z
  .strictObject({
    kind: z.enum(explainedKinds),
    name: z.string(),
    cluster: z.string(),
    at: instant,
    facts: z.array(
      z.strictObject({
        name: z.string(),
        value: z.string(),
        how: z.string().describe("The sum, the rule or the object it comes from."),
      }),
    ),
    localQueues: z
      .array(localQueueExplanationSchema)
      .describe(
        "Of a name that LocalQueues of Kueue have, in whichever namespace; the entitlements are their ClusterQueues' then.",
      ),
    entitlements: z
      .array(entitlementSchema)
      .describe("Of a queue: what it is entitled to, in each system and domain that has one of that name; else empty."),
    parts: z.array(part),
    coverage: z
      .strictObject({
        since: instant.describe("Since when GPU time is counted by this process."),
        coveredSeconds: z.number(),
        gaps: z.array(z.strictObject({ from: instant, to: instant, reason: z.string() })),
      })
      .nullable()
      .describe("Null where there is only one moment, as of a dump."),
    problems: z
      .array(
        z.strictObject({
          code: z.string(),
          severity: z.enum(severities),
          message: z.string(),
          nextStep: z.string(),
        }),
      )
      .describe("What is wrong with the nodes and pods it rests on."),
  })
  .meta({ id: "Explanation", description: "How the numbers of one team, queue, workload, pod or node came about." });

export type Explanation = Read<z.infer<typeof explanationSchema>>;
export type ExplainedPart = Read<z.infer<typeof part>>;
export type Fact = Explanation["facts"][number];
