import type { IResourceRequirements } from "kubernetes-models/v1";
import { z } from "zod";
import { mapOf } from "./kubernetesPart.ts";

/** The CronJob that writes the capacity review. */
export const reviewFields = {
  review: z
    .strictObject({
      enabled: z.boolean().default(false).describe("Make a CronJob that writes the review of the last week."),
      schedule: z.string().default("0 7 * * 1").describe("When: minute, hour, day, month, weekday."),
      timeZone: z.string().default("Etc/UTC").describe("Time zone of the schedule; the week itself is UTC."),
      format: z.enum(["html", "markdown", "json", "csv"]).default("html").describe("How it is written."),
      link: z
        .string()
        .default("")
        .describe(
          "Where readers of the summary find the review; empty: no link. Example: https://fairlead.example.org/review?week=last",
        ),
      webhook: z
        .strictObject({
          secretName: z
            .string()
            .default("")
            .describe("Secret with the address of the webhook; empty: no summary is posted."),
          key: z.string().min(1).default("address").describe("Key of the Secret."),
        })
        .prefault({})
        .describe("Webhook that gets a summary of at most twelve lines."),
      user: z
        .strictObject({
          name: z.string().default("").describe("User of the web configuration, where it has users."),
          secretName: z.string().default("").describe("Secret with the user's password."),
          key: z.string().min(1).default("password").describe("Key of the Secret."),
        })
        .prefault({})
        .describe("As whom it asks Fairlead."),
      caSecret: z
        .strictObject({
          name: z
            .string()
            .default("")
            .describe("Secret with the CA that signs Fairlead's certificate, with `web.tls`."),
          key: z.string().min(1).default("ca.crt").describe("Key of the Secret."),
        })
        .prefault({})
        .describe("How it verifies Fairlead."),
      persistence: z
        .strictObject({
          existingClaim: z.string().default("").describe("Claim to write to; empty: one is made."),
          size: z.string().default("1Gi").describe("Size of the claim that is made."),
          storageClass: z.string().default("").describe("Its storage class; empty: the cluster's default."),
        })
        .prefault({})
        .describe("Where reviews are kept."),
      temporarySize: z
        .string()
        .default("2Gi")
        .describe(
          "Room for copies of the replicas' ledgers, of which a review of several replicas takes each hour from the better one.",
        ),
      resources: mapOf<IResourceRequirements>()
        .default({ requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } })
        .describe("What it asks for and may use."),
    })
    .prefault({})
    .describe("The weekly capacity review. It asks the Service over HTTP and reads nothing of the cluster."),
};
