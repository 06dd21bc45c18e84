import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { RequestHandler } from "express";
import { isTooOld } from "../health.ts";
import { prometheusContentType } from "../prometheus/render.ts";
import { buildHealthPage } from "../publication.ts";
import type { Faces } from "./faces.ts";

/** The page of the last cycle; only Fairlead's own health once that page is too old to be the present. */
export function metricsRoute(faces: Faces): RequestHandler {
  const compressed = createCompressor();
  return async (request, response, next) => {
    if (request.path !== faces.telemetryPath) return next();
    const latest = faces.latest();
    const fresh = latest !== null && !isTooOld(latest.at, latest, faces.now());
    const page = fresh ? latest.page : buildHealthPage(faces.health(), faces.limits, await faces.processMetrics());
    response.set({ "Content-Type": prometheusContentType, Vary: "Accept-Encoding" });
    const zipped = fresh && request.acceptsEncodings("gzip", "identity") === "gzip" ? await compressed(page) : null;
    if (zipped !== null) response.set("Content-Encoding", "gzip");
    const body = zipped ?? page;
    response.set("Content-Length", `${body.length}`).end(body);
  };
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
