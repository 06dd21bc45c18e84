import { z } from "zod";

// A channel is the name of a file, because a key of a Secret becomes a file.
const channel = z
  .string()
  .regex(
    /^[0-9A-Za-z](?:[-0-9A-Za-z_.]{0,98}[0-9A-Za-z])?$/,
    "expected a file's name without a folder, such as ads-gpus",
  );
const names = z.array(z.string().min(1).max(100));

const ownerRule = z.strictObject({
  label: z.string().min(1).max(317).describe("Label of the pod, or else of the workload that owns it."),
  allowed: z
    .array(
      z.strictObject({
        namespace: z.string().min(1).describe("A namespace name in which `*` matches any text."),
        owners: names.min(1).describe("Values of the label that count there."),
      }),
    )
    .min(1)
    .describe("Which values count in which namespaces. Anything else is ignored, and the team is written to."),
});

/** The settings of the digest of idle GPUs: `digest` in the configuration. */
export const digestSchema = z.strictObject({
  minIdleHours: z
    .number()
    .min(0)
    .max(720)
    .default(24)
    .describe("GPUs that have been idle for less time are left out, hours."),
  owner: ownerRule
    .optional()
    .describe("A label that says who is written to. Default: the team. Whoever makes a pod writes its labels."),
  channels: z
    .array(
      z.strictObject({
        channel: channel.describe("File in the folder of `--channels` that holds the webhook's address."),
        teams: names.default([]).describe("Teams whose digests are posted there."),
        owners: names
          .default([])
          .describe("Owners whose digests are posted there, rather than where their teams' are."),
      }),
    )
    .default([])
    .describe("Which channel gets whose digest; the first entry that names the owner, or else the team, counts."),
  defaultChannel: channel
    .optional()
    .describe("Channel of all others. Without it, nothing is posted for those whom no entry of `channels` names."),
});

export type OwnerRule = z.infer<typeof ownerRule>;
export type DigestSettings = z.infer<typeof digestSchema>;
