import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from "express";
import { isTooOld } from "../health.ts";
import { listsByTeam } from "../http/lists.ts";
import { onlyTeamPaths, type TeamsByUser } from "../http/teamView.ts";
import { prometheusContentType } from "../prometheus/render.ts";
import { basicAuth } from "./basicAuth.ts";
import type { Finished } from "./finished.ts";
import { ownHostsOnly } from "./ownHosts.ts";
import type { ComparePassword } from "./passwords.ts";
import { probes } from "./probes.ts";
import { startRoute } from "./startRoute.ts";
import { inTurn, type TurnLimits } from "./turns.ts";

/** What the side that speaks with the network needs. */
export interface FrontOptions {
  readonly finished: Finished;
  /** Answers everything that is not finished yet. */
  readonly answers: RequestHandler | Express;
  /** Path of the page of metrics. */
  readonly telemetryPath: string;
  /** Users and bcrypt hashes; empty: everybody may read. */
  readonly users: Readonly<Record<string, string>>;
  /** Users who may see the data of some teams alone; absent: everybody sees everything. */
  readonly teams?: TeamsByUser | undefined;
  /** Compares passwords with hashes; by default in a thread of its own. */
  readonly compare?: ComparePassword;
  /** Host names under which clients may send requests (`ownHostsOnly`); `null`: any. */
  readonly hosts: readonly string[] | null;
  readonly turns?: { readonly pages: TurnLimits; readonly answers: TurnLimits };
}

/** A page is there at once. An answer has to be computed, and more of them at a time would only take turns on one core. */
const defaultTurns = { pages: { atOnce: 32, waiting: 64 }, answers: { atOnce: 4, waiting: 64 } };

/**
 * The side of Fairlead that speaks with the network: it authenticates requests, serves at once what is finished, and passes on
 * in turn what has to be computed.
 */
export function createFront(options: FrontOptions): Express {
  const { finished, answers, telemetryPath, users, hosts, turns = defaultTurns } = options;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.use(
    plainHeaders,
    onlyReading,
    probes(finished),
    ownHostsOnly(hosts),
    basicAuth(users, options.compare),
    onlyTeamPaths(options.teams, pathsByTeam),
  );
  app.get(exactly(telemetryPath), inTurn(turns.pages), metricsRoute(finished));
  app.get("/", inTurn(turns.pages), startRoute(finished));
  app.use(inTurn(turns.answers), answers);
  app.use(failed);
  return app;
}

/**
 * Paths that users with teams may ask for: answers that are made for their teams alone, and the description of these answers.
 */
const pathsByTeam: readonly string[] = ["", "/openapi.json", "/budgets", "/history", "/ledger"]
  .concat(listsByTeam().map((name) => `/${name}`))
  .map((path) => `/api/v1${path}`);

/** Bytes that are handed over at once: with TLS, a reader who takes nothing holds that much in memory. */
const pieceBytes = 256 * 1024;

/** Serves the page of the last cycle. If there is none, or it is too old to be the present, the question is passed on. */
function metricsRoute({ page, now }: Finished): RequestHandler {
  const compressed = createCompressor();
  return async (request, response, next) => {
    const latest = page();
    if (latest === null || isTooOld(latest.at, latest, now())) return next();
    response.set({ "Content-Type": prometheusContentType, Vary: "Accept-Encoding" });
    const zipped = request.acceptsEncodings("gzip", "identity") === "gzip" ? await compressed(latest.page) : null;
    if (zipped !== null) response.set("Content-Encoding", "gzip");
    const body = zipped ?? latest.page;
    response.set("Content-Length", `${body.length}`);
    if (request.method === "HEAD" || body.length <= pieceBytes) response.end(body);
    else await sendPieces(body, response);
  };
}

async function sendPieces(body: Buffer, response: Response): Promise<void> {
  await pipeline(Readable.from(piecesOf(body), { highWaterMark: 1 }), response).catch(() => response.destroy());
}

/** Yields a body in pieces that share its memory, however many read it. */
function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let start = 0; start < body.length; start += pieceBytes) yield body.subarray(start, start + pieceBytes);
}

const gzipped = promisify(gzip);

/** Compresses each page once, in zlib's own threads, however many ask for it; `null` if that fails. */
function createCompressor(): (page: Buffer) => Promise<Buffer | null> {
  const pages = new WeakMap<Buffer, Promise<Buffer | null>>();
  return (page) => {
    const known = pages.get(page) ?? gzipped(page, { level: constants.Z_BEST_SPEED }).catch(() => null);
    pages.set(page, known);
    return known;
  };
}

/** Matches a path exactly: no character of it is a wildcard. */
const exactly = (path: string): RegExp => new RegExp(`^${path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`);

const plainHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
  });
  next();
};

/** Paths to which clients may write. They change Fairlead alone, which never writes to anything else. */
const writable = /^(?:\/api\/v1)?\/recommendations\/[^/]+\/(?:dismiss|take)$|^\/api\/v1\/alerts$/;

const onlyReading: RequestHandler = (request, response, next) => {
  const { method, path } = request;
  if (method === "GET" || method === "HEAD" || (method === "POST" && writable.test(path))) return next();
  response
    .status(405)
    .set("Allow", writable.test(path) ? "POST" : "GET, HEAD")
    .type("text/plain");
  response.send("Fairlead only answers GET and HEAD here. See / for what there is.\n");
};

/** Answers a request whose handler failed. Express recognizes an error handler by its four parameters. */
export const failed: ErrorRequestHandler = (error: unknown, _request, response, next) => {
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

/** The status of a body that the parser of Express refused; `null` for any other fault. */
function bodyFault(error: unknown): number | null {
  if (!(error instanceof Error) || !("status" in error) || !("type" in error)) return null;
  return typeof error.status === "number" && error.status >= 400 && error.status < 500 ? error.status : null;
}
