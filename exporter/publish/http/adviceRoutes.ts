import type { Response, Router } from "express";
import { z } from "zod";
import { recommendationRecord } from "../document/recommendationRecords.ts";
import { userOf } from "../front/user.ts";
import { parseWebhook } from "./alertWebhook.ts";
import type { Outputs } from "./outputs.ts";
import { jsonBody, onlyUsers } from "./posting.ts";

/** Longest reason of a dismissal, characters. */
export const maxDismissalReason = 500;

const dismissal = z.strictObject({ reason: z.string().trim().min(1).max(maxDismissalReason) });

/** One recommendation, its dismissal, and the webhook of Alertmanager; the list is one like the others. */
export function addAdviceRoutes(router: Router, outputs: Outputs): void {
  router.get("/recommendations/:id", (request, response) => {
    const found = outputs.adviser?.latest().recommendations.find(({ id }) => id === request.params.id);
    if (found === undefined) return notThere(response);
    response.json(recommendationRecord(found));
  });

  router.post("/recommendations/:id/dismiss", onlyUsers(outputs.users), ...jsonBody, (request, response) => {
    const asked = dismissal.safeParse(request.body);
    if (!asked.success) {
      response.status(400).json({
        error: "a dismissal needs a reason",
        nextStep: 'Send {"reason": "why it is not done"} with at most 500 characters.',
      });
      return;
    }
    const [id = ""] = [request.params.id].flat();
    const { adviser } = outputs;
    const isDone = adviser?.dismiss(id, userOf(response), asked.data.reason) ?? false;
    const now = adviser?.latest().recommendations.find((one) => one.id === id);
    if (now === undefined) return notThere(response);
    if (isDone) response.json(recommendationRecord(now));
    else {
      response.status(409).json({
        error: `${now.id} is not open: ${now.state}${now.closedBecause === null ? "" : ` (${now.closedBecause})`}`,
        nextStep: "See /api/v1/recommendations?state=open.",
      });
    }
  });

  router.post("/alerts", onlyUsers(outputs.users), ...jsonBody, (request, response) => {
    const received = parseWebhook(request.body);
    if (!received.ok) {
      // Alertmanager does not try again after a status of 4xx.
      response.status(400).json({
        error: `not a call of Alertmanager's webhook (version 4): ${received.error}`,
        nextStep: "Send what webhook_configs of Alertmanager sends.",
      });
      return;
    }
    // Nobody who waits for a page waits for a plan: the answer comes at once, and the plan with the next look.
    void outputs.adviser?.receive(received.alerts);
    const firing = received.alerts.filter(({ status }) => status === "firing").length;
    response.json({ received: received.alerts.length, firing });
  });
}

function notThere(response: Response): void {
  response.status(404).json({
    error: "there is no recommendation of that id, open or closed lately",
    nextStep: "See /api/v1/recommendations.",
  });
}
