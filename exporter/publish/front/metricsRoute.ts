import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { RequestHandler, Response } from "express";
import { isTooOld } from "../health.ts";
import { prometheusContentType } from "../prometheus/render.ts";
import type { Finished } from "./finished.ts";

/** Bytes that are handed over at once: with TLS, a reader who takes nothing holds that much in memory. */
const pieceBytes = 256 * 1024;

/** The page of the last cycle. Without one that is still the present, the question is passed on. */
export function metricsRoute({ page, now }: Finished): RequestHandler {
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

/** Parts of the same memory, however many read it. */
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
