import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { noAdvice } from "../../model/recommendation.ts";
import { sensibleDigits } from "../document/jsonText.ts";
import { isDead, missingForReadiness } from "../health.ts";
import { createApi } from "./api.ts";
import { basicAuth } from "./basicAuth.ts";
import type { Faces } from "./faces.ts";
import { metricsRoute } from "./metricsRoute.ts";
import { pageStyleSource } from "./pageStyle.ts";
import { adviceStyleSource } from "./recommendationsPage.ts";
import { recommendationsRoutes } from "./recommendationsRoutes.ts";
import { reviewRoute } from "./reviewRoute.ts";
import { renderStatusPage, statusStyleSource } from "./statusPage.ts";
import { pathsByTeam } from "./teamPaths.ts";
import { onlyTeamPaths } from "./teamView.ts";

/** The HTTP faces: metrics, probes, pages and API. What may be written is told to Fairlead alone: dismissals and alerts. */
export function createApp(faces: Faces): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("json replacer", sensibleDigits);
  app.use(securityHeaders(faces), onlyReading, basicAuth(faces.users), onlyTeamPaths(faces.teams, pathsByTeam));
  app.use(metricsRoute(faces));
  app.get("/livez", livez(faces));
  app.get("/readyz", readyz(faces));
  app.get("/", start(faces));
  app.use("/recommendations", recommendationsRoutes(faces));
  app.get("/review", reviewRoute(faces));
  app.use("/api/v1", createApi(faces));
  app.use(notFound, failed);
  return app;
}

function securityHeaders({ review }: Faces): RequestHandler {
  const styles = [
    pageStyleSource,
    statusStyleSource,
    adviceStyleSource,
    ...(review === undefined ? [] : [review.styleSource]),
  ];
  return (_request, response, next) => {
    response.set({
      "Content-Security-Policy": `default-src 'none'; style-src ${styles.join(" ")}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Cache-Control": "no-store",
    });
    next();
  };
}

/** What may be told to Fairlead itself: it never writes to anything else. */
const writable = /^(?:\/api\/v1)?\/recommendations\/[^/]+\/dismiss$|^\/api\/v1\/alerts$/;

const onlyReading: RequestHandler = (request, response, next) => {
  const { method, path } = request;
  if (method === "GET" || method === "HEAD" || (method === "POST" && writable.test(path))) return next();
  response
    .status(405)
    .set("Allow", writable.test(path) ? "POST" : "GET, HEAD")
    .type("text/plain");
  response.send("Fairlead only answers GET and HEAD here. See / for what there is.\n");
};

function livez(faces: Faces): RequestHandler {
  return (_request, response) => {
    const health = faces.health();
    const dead = isDead(health, faces.now());
    const last =
      health.lastCycleAt === null ? "since the start" : `for ${Math.round(faces.now() - health.lastCycleAt)} s`;
    response.status(dead ? 503 : 200).type("text/plain");
    response.send(
      dead ? `No cycle has been completed ${last}; the process should be restarted. See its log.\n` : "ok\n",
    );
  };
}

function readyz(faces: Faces): RequestHandler {
  return (_request, response) => {
    const missing = missingForReadiness(faces.health());
    response.status(missing.length === 0 ? 200 : 503).type("text/plain");
    response.send(missing.length === 0 ? "ok\n" : `not ready:\n${missing.map((line) => `- ${line}\n`).join("")}`);
  };
}

function start(faces: Faces): RequestHandler {
  return (_request, response) => {
    const health = faces.health();
    const latest = faces.latest();
    const { telemetryPath } = faces;
    const problems = [...health.problems, ...(latest?.problems ?? [])];
    const analysis = latest?.analysis ?? null;
    const at = latest?.at ?? null;
    const advice = faces.adviser?.latest() ?? latest?.advice ?? noAdvice;
    const input = { health, analysis, at, advice, problems, telemetryPath, now: faces.now() };
    response.type("html").send(renderStatusPage(input));
  };
}

const notFound: RequestHandler = (request, response) => {
  const api = request.path.startsWith("/api");
  response.status(404);
  if (api) response.json({ error: "there is nothing at this path", nextStep: "See /api/v1 for what there is." });
  else response.type("text/plain").send("There is nothing at this path. See / for what there is.\n");
};

/** Express knows an error handler by its four parameters. */
const failed: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) return next(error);
  const status = error instanceof URIError ? 400 : bodyFault(error);
  if (status === null)
    response
      .status(500)
      .json({ error: "Fairlead failed to answer", nextStep: "See its log, and report what it says." });
  else if (error instanceof URIError)
    response.status(400).json({ error: "the path is not valid", nextStep: "See / for what there is." });
  else
    response.status(status).json({
      error: status === 413 ? "the body is too large" : "the body cannot be read",
      nextStep: "See /api/v1/openapi.json for what may be sent.",
    });
};

/** The status of a body that the parser of Express refused; `null` of any other fault. */
function bodyFault(error: unknown): number | null {
  if (!(error instanceof Error) || !("status" in error) || !("type" in error)) return null;
  return typeof error.status === "number" && error.status >= 400 && error.status < 500 ? error.status : null;
}
