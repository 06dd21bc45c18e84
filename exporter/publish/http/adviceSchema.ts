import { z } from "zod";

/** Length of the longest reason of a dismissal, in characters. */
export const maxDismissalReason = 500;

/** The body for taking a recommendation: it is empty, because who takes it and when is known already. */
export const taking = z
  .strictObject({})
  .meta({ id: "Taking", description: "An empty object: who it was and when is known." });

export const dismissal = z
  .strictObject({ reason: z.string().trim().min(1).max(maxDismissalReason).describe("Why it is not done.") })
  .meta({ id: "Dismissal" });

/** The most alerts of one call; Alertmanager itself reports how many it left out (`truncatedAlerts`). */
export const maxAlerts = 1000;

/**
 * The body of Alertmanager's webhook, version 4 (alertmanager/notify/webhook). Only the fields that are used are required;
 * other fields, which newer versions may send, are ignored. An alert that ends has `endsAt` in the past; one that fires has
 * year 1.
 */
export const webhook = z
  .looseObject({
    version: z.literal("4"),
    alerts: z
      .array(
        z.looseObject({
          status: z.enum(["firing", "resolved"]),
          labels: z.record(z.string(), z.string()),
          startsAt: z.iso.datetime({ offset: true }),
          endsAt: z.iso.datetime({ offset: true }).optional(),
          fingerprint: z.string().min(1),
        }),
      )
      .describe(`Of one call ${maxAlerts} are read.`),
  })
  .meta({
    id: "AlertmanagerWebhook",
    description: "What webhook_configs of Alertmanager sends; only these fields are read.",
  });

const count = z.number().int().min(0);

/** The answer to the webhook. */
export const alertsReceived = z
  .object({ received: count.describe("Alerts of the call."), firing: count })
  .meta({ id: "AlertsReceived", description: "How many alerts were taken." });
