import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { isDead, missingForReadiness } from "../health.ts";
import { createApi } from "./api.ts";
import { basicAuth } from "./basicAuth.ts";
import type { Faces } from "./faces.ts";
import { metricsRoute } from "./metricsRoute.ts";
import { renderStatusPage, statusStyleSource } from "./statusPage.ts";

/** The HTTP faces: metrics, probes, start page and API. Read-only. */
export function createApp(faces: Faces): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.use(securityHeaders, onlyReading, basicAuth(faces.users));
  app.use(metricsRoute(faces));
  app.get("/livez", livez(faces));
  app.get("/readyz", readyz(faces));
  app.get("/", start(faces));
  app.use("/api/v1", createApi(faces));
  app.use(notFound, failed);
  return app;
}

const securityHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy": `default-src 'none'; style-src ${statusStyleSource}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
  next();
};

const onlyReading: RequestHandler = (request, response, next) => {
  if (request.method === "GET" || request.method === "HEAD") return next();
  response.status(405).set("Allow", "GET, HEAD").type("text/plain");
  response.send("Fairlead only answers GET and HEAD. See / for what there is.\n");
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
    response.type("html").send(renderStatusPage({ health, analysis, at, problems, telemetryPath, now: faces.now() }));
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
  const bad = error instanceof URIError;
  const body = bad
    ? { error: "the path is not valid", nextStep: "See / for what there is." }
    : { error: "Fairlead failed to answer", nextStep: "See its log, and report what it says." };
  response.status(bad ? 400 : 500).json(body);
};
