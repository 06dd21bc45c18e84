import express, { type Express, type RequestHandler } from "express";
import { noAdvice } from "../../model/recommendation.ts";
import { sensibleDigits } from "../document/jsonText.ts";
import type { FinishedStart } from "../front/finished.ts";
import { createFront, failed } from "../front/front.ts";
import { missingForReadiness } from "../health.ts";
import { nowStyleSource } from "../pages/nowStyle.ts";
import { contentPolicy, pageStyleSource } from "../pages/pageStyle.ts";
import { adviceStyleSource } from "../pages/recommendationsPage.ts";
import { renderStartPage } from "../pages/startPage.ts";
import { prometheusContentType } from "../prometheus/render.ts";
import { buildHealthPage } from "../publication.ts";
import { createApi } from "./api.ts";
import { nameRoutes } from "./nameRoutes.ts";
import type { Outputs } from "./outputs.ts";
import { recommendationsRoutes } from "./recommendationsRoutes.ts";
import { reviewRoute } from "./reviewRoute.ts";
import { runbookRoutes } from "./runbookRoutes.ts";

/** The whole HTTP side in one thread, for exporters that are driven by hand: `serve` computes the answers in another. */
export function createApp(outputs: Outputs, answers: Express = createAnswers(outputs)): Express {
  const { telemetryPath, users, teams, now, latest } = outputs;
  const probe = () => {
    const health = outputs.health();
    return { ...health, missing: missingForReadiness(health) };
  };
  const finished = { page: latest, start: () => startPageOf(outputs), probe, now };
  return createFront({ finished, answers, telemetryPath, users, teams, hosts: null });
}

/**
 * Answers everything that is computed on request. Writing goes to Fairlead alone: what people decide about recommendations, and
 * alerts.
 */
export function createAnswers(outputs: Outputs): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("json replacer", sensibleDigits);
  app.use(securityHeaders(outputs));
  app.use(healthPage(outputs));
  app.use("/recommendations", recommendationsRoutes(outputs));
  app.get("/review", reviewRoute(outputs));
  app.use("/runbooks", runbookRoutes(outputs));
  app.use(nameRoutes(outputs));
  app.use("/api/v1", createApi(outputs));
  app.use(notFound, failed);
  return app;
}

/** Sets the policy that the front does not know: which styles the pages may have. */
function securityHeaders({ review }: Outputs): RequestHandler {
  const styles = [
    pageStyleSource,
    nowStyleSource,
    adviceStyleSource,
    ...(review === undefined ? [] : [review.styleSource]),
  ];
  const policy = contentPolicy({ styles, scripts: [] });
  return (_request, response, next) => {
    response.set("Content-Security-Policy", policy);
    next();
  };
}

/**
 * Serves only Fairlead's own health where metrics are asked for; that happens when there is no page of the last cycle, or when
 * it is too old.
 */
function healthPage(outputs: Outputs): RequestHandler {
  return async (request, response, next) => {
    if (request.path !== outputs.telemetryPath) return next();
    const page = buildHealthPage(outputs.health(), outputs.limits, await outputs.processMetrics());
    response.set({ "Content-Type": prometheusContentType, "Content-Length": `${page.length}` }).end(page);
  };
}

/** The start page as of now, for the side that serves it. */
export function startPageOf(outputs: Outputs): FinishedStart {
  const health = outputs.health();
  const latest = outputs.latest();
  const { telemetryPath } = outputs;
  const problems = [...health.problems, ...(latest?.problems ?? [])];
  const advice = outputs.adviser?.latest() ?? latest?.advice ?? noAdvice;
  const analysis = latest?.analysis ?? null;
  return renderStartPage({ health, analysis, at: latest?.at ?? null, advice, problems, telemetryPath });
}

const notFound: RequestHandler = (request, response) => {
  const api = request.path.startsWith("/api");
  response.status(404);
  if (api) response.json({ error: "there is nothing at this path", nextStep: "See /api/v1 for what there is." });
  else response.type("text/plain").send("There is nothing at this path. See / for what there is.\n");
};
