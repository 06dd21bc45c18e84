import { z } from "zod";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";

/** Of one call; Alertmanager says itself how many it left out (`truncatedAlerts`). */
const maxAlerts = 1000;
const maxLabels = 64;
const maxText = 1024;

const text = z.string().transform((value) => value.slice(0, maxText));

/**
 * The body of Alertmanager's webhook, version 4 (alertmanager/notify/webhook). Only what is used is asked for; whatever else
 * newer versions send is passed over. An alert that ends has `endsAt` in the past; one that fires has year 1.
 */
const webhookSchema = z.looseObject({
  version: z.literal("4"),
  alerts: z.array(
    z.looseObject({
      status: z.enum(["firing", "resolved"]),
      labels: z.record(z.string(), z.string()),
      startsAt: z.iso.datetime({ offset: true }),
      endsAt: z.iso.datetime({ offset: true }).optional(),
      fingerprint: text.pipe(z.string().min(1)),
    }),
  ),
});

/** What was sent, or what of it is wrong. */
export type ParsedWebhook =
  | { readonly ok: true; readonly alerts: readonly ReceivedAlert[] }
  | { readonly ok: false; readonly error: string };

/** Reads a call of Alertmanager. */
export function parseWebhook(body: unknown): ParsedWebhook {
  const parsed = webhookSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.map(String).join(".") ?? "";
    return { ok: false, error: `${place === "" ? "the body" : place}: ${issue?.message ?? "not understood"}` };
  }
  return {
    ok: true,
    alerts: parsed.data.alerts.slice(0, maxAlerts).map(({ status, labels, startsAt, endsAt, fingerprint }) => ({
      status,
      fingerprint,
      alertname: (labels.alertname ?? "").slice(0, maxText),
      labels: boundedLabels(labels),
      startsAt: Date.parse(startsAt) / 1000,
      endsAt: endOf(status, endsAt),
    })),
  };
}

function boundedLabels(labels: Readonly<Record<string, string>>): ReceivedAlert["labels"] {
  const bounded = bareRecord<string>();
  for (const [name, value] of Object.entries(labels).slice(0, maxLabels)) {
    if (name !== "__proto__") bounded[name.slice(0, maxText)] = value.slice(0, maxText);
  }
  return bounded;
}

function endOf(status: ReceivedAlert["status"], endsAt: string | undefined): number | null {
  if (status === "firing" || endsAt === undefined) return null;
  return Date.parse(endsAt) / 1000;
}
