import { z } from "zod";
import { suspectReasons } from "../../analysis/stalledParts.ts";
import { idleReasons } from "../../model/idleReasons.ts";
import { latencySchema } from "./latencySchema.ts";
import { amount, gpus, instant, ownCost, ratio, states } from "./schemaParts.ts";

const idleGpus = z.strictObject({
  model: z.string(),
  reason: z
    .enum(idleReasons)
    .describe("Why they are idle: nothing runs on them, or their server has had no request, or sleeps besides."),
  gpus,
  since: instant.describe("Since when all of them have been idle."),
  costs: z
    .array(z.strictObject({ currency: z.string(), perHour: amount }))
    .describe("What they cost per hour, by currency; empty where none of them has a price."),
  unpricedGpus: gpus.describe("Those that are not in costs, because they have no known price."),
});

const suspect = z.strictObject({
  namespace: z.string(),
  pod: z.string(),
  node: z.string().nullable(),
  reason: z
    .enum(suspectReasons)
    .describe(
      "quiet: nothing runs on a GPU of it, as after a rank has failed; computing: it has work that others have not.",
    ),
});

/** The schema of `workloads[]`. */
export const workload = z
  .strictObject({
    kind: z.string(),
    namespace: z.string(),
    name: z.string(),
    team: z.string(),
    owner: z
      .string()
      .nullable()
      .describe("Who is written to about its idle GPUs (`digest.owner` of the configuration); null: its team."),
    queue: z.string().nullable(),
    priority: z.string().describe("Name of the priority class."),
    priorityValue: z.number(),
    gpus: gpus.describe("Physical GPUs that its pods hold."),
    gang: z.strictObject({ min: z.number(), bound: z.number() }).nullable(),
    suspects: z
      .array(suspect)
      .describe(
        "Members of its gangs to look at first where GPUs are stalled: they differ, and the others may wait for them. Empty where nobody differs, or nothing is stalled.",
      ),
    activity: ratio,
    states,
    latency: latencySchema
      .nullable()
      .describe("Of a workload that serves and has a target (`serving.latencyTargets`)."),
    idle: z
      .array(idleGpus)
      .describe(
        "Its idle GPUs by model and reason, without those whose device, or the split of its activity, is estimated.",
      ),
    ...ownCost,
    progressUnits: z
      .number()
      .min(0)
      .nullable()
      .describe("How far the work is by its own account (annotation `fairlead.dev/progress-units`)."),
    startedAt: instant.nullable(),
  })
  .meta({ id: "Workload", description: "The top owner of pods that hold or ask for GPUs." });
