import { z } from "zod";

const allowedTeams = z
  .array(
    z.strictObject({
      namespace: z.string().min(1).describe("A namespace name in which `*` matches any text."),
      teams: z.array(z.string().min(1)).min(1).describe("Teams that count there."),
    }),
  )
  .min(1);

/** A rule that decides who answers for a workload: one entry of `teams`. */
export const teamRule = z.discriminatedUnion("from", [
  z
    .strictObject({
      from: z.literal("namespace-label"),
      key: z.string().min(1).describe("Label of the pod's namespace whose value is the team."),
    })
    .describe("The team is the value of a label of the pod's namespace."),
  z
    .strictObject({
      from: z.literal("namespace-annotation"),
      key: z.string().min(1).describe("Annotation of the pod's namespace whose value is the team."),
    })
    .describe("The team is the value of an annotation of the pod's namespace."),
  z
    .strictObject({
      from: z.literal("queue"),
      allowed: allowedTeams
        .optional()
        .describe(
          "Which queues count in which namespaces, then also those that only a label of the pod names. Default: the queue that a queue system confirms, and KAI and Volcano let any namespace use any queue: `check-config` warns.",
        ),
    })
    .describe(
      "The team is the pod's queue, as its queue system confirms it. A queue that only a label names bills nobody.",
    ),
  z.strictObject({ from: z.literal("namespace") }).describe("The team is the namespace itself."),
  z
    .strictObject({
      from: z.literal("namespace-pattern"),
      pattern: z.string().min(1).describe("A namespace name in which `*` matches any text."),
      team: z.string().min(1).describe("The team of these namespaces."),
    })
    .describe("Namespaces that match the pattern belong to the team named here."),
  z
    .strictObject({
      from: z.enum(["pod-label", "workload-label"]),
      key: z.string().min(1).describe("Label of the pod, or of the workload that owns it."),
      allowed: allowedTeams.describe(
        "Which values count in which namespaces (`*` matches any text). Anything else is ignored.",
      ),
    })
    .describe("The team is a label that the workload's own author wrote; only allowed values count."),
]);
