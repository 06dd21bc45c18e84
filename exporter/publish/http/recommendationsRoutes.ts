import { type RequestHandler, type Response, Router } from "express";
import { noAdvice } from "../../model/recommendation.ts";
import { userOf } from "../front/caller.ts";
import { isTooOld } from "../health.ts";
import {
  type RecommendationsPageInput,
  renderRecommendation,
  renderRecommendations,
} from "../pages/recommendationsPage.ts";
import { maxDismissalReason } from "./adviceSchema.ts";
import type { Outputs } from "./outputs.ts";
import { createFormTokens, formBody, onlyUsers, withToken } from "./posting.ts";

/** Serves the pages of recommendations, and takes their forms. */
export function recommendationsRoutes(outputs: Outputs): Router {
  const router = Router({ strict: false });
  const tokens = createFormTokens();
  const mayWrite = Object.keys(outputs.users).length > 0 && outputs.adviser !== undefined;

  const inputFor = (response: Response): RecommendationsPageInput => {
    const health = outputs.health();
    const publication = outputs.latest();
    const now = outputs.now();
    const at = publication?.at ?? null;
    return {
      cluster: health.cluster,
      advice: outputs.adviser?.latest() ?? publication?.advice ?? noAdvice,
      at,
      now,
      isTooOld: at !== null && isTooOld(at, health, now),
      token: mayWrite ? tokens.tokenFor(userOf(response)) : null,
    };
  };

  router.get("/", (_request, response) => {
    response.type("html").send(renderRecommendations(inputFor(response)));
  });
  router.get("/:id", (request, response) => {
    const page = renderRecommendation(inputFor(response), request.params.id);
    if (page === null) notThere(response);
    else response.type("html").send(page);
  });
  const asForm = [onlyUsers(outputs.users), formBody, withToken(tokens)];
  router.post("/:id/dismiss", ...asForm, dismiss(outputs));
  router.post("/:id/take", ...asForm, take(outputs));
  return router;
}

function dismiss(outputs: Outputs): RequestHandler {
  return (request, response) => {
    const body: unknown = request.body;
    const reason = typeof body === "object" && body !== null && "reason" in body ? body.reason : "";
    if (typeof reason !== "string" || reason.trim() === "" || reason.trim().length > maxDismissalReason) {
      response
        .status(400)
        .type("text/plain")
        .send(`Give a reason of at most ${maxDismissalReason} characters. Go back and try again.\n`);
      return;
    }
    const [id = ""] = [request.params.id].flat();
    if (outputs.adviser?.dismiss(id, userOf(response), reason.trim()) === true)
      response.redirect(303, "/recommendations");
    else notThere(response);
  };
}

function take(outputs: Outputs): RequestHandler {
  return (request, response) => {
    const [id = ""] = [request.params.id].flat();
    if (outputs.adviser?.take(id, userOf(response)) === true) response.redirect(303, "/recommendations");
    else notThere(response);
  };
}

function notThere(response: Response): void {
  response.status(404).type("text/plain").send("There is no open recommendation of that id. See /recommendations.\n");
}
