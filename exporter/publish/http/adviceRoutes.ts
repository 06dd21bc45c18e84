import type { Response, Router } from "express";
import { bareRecord } from "../../kernel/bareRecord.ts";
import type { ReceivedAlert } from "../../model/receivedAlert.ts";
import { recommendationRecord } from "../document/recommendationRecords.ts";
import { userOf } from "../front/caller.ts";
import { dismissal, maxAlerts, taking, webhook } from "./adviceSchema.ts";
import type { Outputs } from "./outputs.ts";
import { jsonBody, onlyUsers } from "./posting.ts";
import { refusal, sendRefusal } from "./refusal.ts";

/**
 * Adds the routes for one recommendation, for closing it (dismissed, taken), and for the webhook of Alertmanager. The list of
 * recommendations is a list like the others.
 */
export function addAdviceRoutes(router: Router, outputs: Outputs): void {
  router.get("/recommendations/:id", (request, response) => {
    const found = outputs.adviser?.latest().recommendations.find(({ id }) => id === request.params.id);
    if (found === undefined) return notThere(response);
    response.json(recommendationRecord(found));
  });

  router.post("/recommendations/:id/dismiss", onlyUsers(outputs.users), ...jsonBody, (request, response) => {
    const asked = dismissal.safeParse(request.body);
    if (!asked.success) {
      return sendRefusal(
        response,
        refusal("a dismissal needs a reason", 'Send {"reason": "why it is not done"} with at most 500 characters.'),
      );
    }
    const [id = ""] = [request.params.id].flat();
    const { adviser } = outputs;
    const isDone = adviser?.dismiss(id, userOf(response), asked.data.reason) ?? false;
    sendClosed(response, adviser, id, isDone);
  });

  router.post("/recommendations/:id/take", onlyUsers(outputs.users), ...jsonBody, (request, response) => {
    if (!taking.safeParse(request.body ?? {}).success) {
      return sendRefusal(response, refusal("this takes no fields", "Send {}."));
    }
    const [id = ""] = [request.params.id].flat();
    const { adviser } = outputs;
    sendClosed(response, adviser, id, adviser?.take(id, userOf(response)) ?? false);
  });

  router.post("/alerts", onlyUsers(outputs.users), ...jsonBody, (request, response) => {
    const received = parseWebhook(request.body);
    if (!received.ok) {
      // Alertmanager does not try again after a 4xx status.
      return sendRefusal(
        response,
        refusal(
          `not a call of Alertmanager's webhook (version 4): ${received.error}`,
          "Send what webhook_configs of Alertmanager sends.",
        ),
      );
    }
    // No plan is made here, so that nobody waits longer for a page: the answer comes at once, and the plan comes with the next
    // look.
    void outputs.adviser?.receive(received.alerts);
    const firing = received.alerts.filter(({ status }) => status === "firing").length;
    response.json({ received: received.alerts.length, firing });
  });
}

/** Answers with the recommendation that was closed, or says why it was not. */
function sendClosed(response: Response, adviser: Outputs["adviser"], id: string, isDone: boolean): void {
  const now = adviser?.latest().recommendations.find((one) => one.id === id);
  if (now === undefined) notThere(response);
  else if (isDone) response.json(recommendationRecord(now));
  else {
    const why = now.closedBecause === null ? "" : ` (${now.closedBecause})`;
    const error = `${now.id} is not open: ${now.state}${why}`;
    sendRefusal(response, refusal(error, "See /api/v1/recommendations?state=open.", 409));
  }
}

const maxLabels = 64;
const maxText = 1024;

/** The alerts that were sent, or what is wrong with the call. */
type ParsedWebhook =
  | { readonly ok: true; readonly alerts: readonly ReceivedAlert[] }
  | { readonly ok: false; readonly error: string };

/** Reads a call of Alertmanager. */
function parseWebhook(body: unknown): ParsedWebhook {
  const parsed = webhook.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.map(String).join(".") ?? "";
    return { ok: false, error: `${place === "" ? "the body" : place}: ${issue?.message ?? "not understood"}` };
  }
  return {
    ok: true,
    alerts: parsed.data.alerts.slice(0, maxAlerts).map(({ status, labels, startsAt, endsAt, fingerprint }) => ({
      status,
      fingerprint: fingerprint.slice(0, maxText),
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

function notThere(response: Response): void {
  const error = "there is no recommendation of that id, open or closed lately";
  sendRefusal(response, refusal(error, "See /api/v1/recommendations.", 404));
}
