import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Response, Router } from "express";
import { buildDocument } from "../document/buildDocument.ts";
import { jsonChunks } from "../document/jsonChunks.ts";
import type { FairleadDocument } from "../document/schema.ts";
import type { Publication } from "../publication.ts";
import { explainRoute } from "./explainRoute.ts";
import type { Faces } from "./faces.ts";
import { ledgerRoute } from "./ledgerRoute.ts";
import { parseListQuery } from "./listQuery.ts";
import { findList, listNames } from "./lists.ts";
import { buildOpenApi } from "./openapi.ts";

/** The JSON API below `/api/v1`: the document of the last cycle, whole or by list. */
export function createApi(faces: Faces): Router {
  const router = Router({ strict: false });
  const openApi = JSON.stringify(buildOpenApi());
  const documentOf = rememberDocument(faces);

  router.get("/", (_request, response) => {
    const lists = Object.fromEntries(listNames.map((name) => [name, `/api/v1/${name}`]));
    response.json({
      snapshot: "/api/v1/snapshot",
      ...lists,
      explain: "/api/v1/explain?kind={kind}&name={name}",
      ledger: "/api/v1/ledger?by=team,state&from=7d",
      openapi: "/api/v1/openapi.json",
    });
  });
  router.get("/openapi.json", (_request, response) => {
    response.type("application/json").send(openApi);
  });
  router.get("/snapshot", async (_request, response) => {
    const document = documentOf();
    if (document === null) return noAnswersYet(response);
    response.type("application/json");
    await pipeline(Readable.from(jsonChunks(document)), response).catch(() => response.destroy());
  });
  router.get("/explain", explainRoute(faces));
  router.get("/ledger", ledgerRoute(faces));
  router.get("/:list", (request, response, next) => {
    const list = findList(request.params.list);
    if (list === null) return next();
    const query = parseListQuery(list, searchOf(request.originalUrl));
    if (!query.ok) {
      response.status(400).json({ error: query.error, nextStep: query.nextStep });
      return;
    }
    const document = documentOf();
    if (document === null) return noAnswersYet(response);
    const { chosen, limit, offset } = query;
    const all = list.select(document, chosen);
    response.json({ at: document.at, total: all.length, limit, offset, items: all.slice(offset, offset + limit) });
  });
  return router;
}

/** Builds the document when it is first asked for, once for each cycle; problems are those of now. */
function rememberDocument(faces: Faces): () => FairleadDocument | null {
  let built: { publication: Publication; document: FairleadDocument } | null = null;
  return () => {
    const publication = faces.latest();
    if (publication === null) return null;
    if (built?.publication !== publication) built = { publication, document: buildDocument(publication.analysis) };
    return { ...built.document, problems: [...faces.health().problems, ...publication.problems] };
  };
}

function searchOf(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start));
}

function noAnswersYet(response: Response): void {
  response
    .status(503)
    .set("Retry-After", "5")
    .json({ error: "no answers yet: the first cycle is not complete", nextStep: "See /readyz for what is missing." });
}
