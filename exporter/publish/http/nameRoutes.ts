import { type RequestHandler, type Response, Router } from "express";
import { noAdvice } from "../../model/recommendation.ts";
import { listsOf } from "../document/listBuilder.ts";
import { explainedNames } from "../explain/explain.ts";
import { isTooOld } from "../health.ts";
import { listPath, type PageKind, pageKinds } from "../pages/links.ts";
import { renderNamePage } from "../pages/namePage.ts";
import { type NamesPageInput, renderNamesPage, renderNoSuchName, workloadNamed } from "../pages/namesPage.ts";
import { askPast } from "../past/askPast.ts";
import type { Outputs } from "./outputs.ts";

/** Serves `/teams`, `/queues`, `/nodes` and `/workloads`, and below them the page of each name. */
export function nameRoutes(outputs: Outputs): Router {
  const router = Router({ strict: false });
  for (const kind of pageKinds) {
    const inputNow = (): NamesPageInput => {
      const analysis = outputs.latest()?.analysis ?? null;
      const moment = analysis && { analysis, lists: listsOf(analysis) };
      return { kind, cluster: outputs.cluster, idle: null, moment };
    };
    router.get(listPath(kind), listRoute(outputs, kind, inputNow));
    const below = kind === "workload" ? "/:namespace/:kind/:name" : "/:name";
    router.get(`${listPath(kind)}${below}`, async ({ params }, response) => {
      // The parameters are in the order of the path.
      await sendName(outputs, inputNow(), Object.values(params).join("/"), response);
    });
  }
  return router;
}

/** The list, or with `?name=` the page of that name. Forms ask like this, and so do links to names that no path can express. */
function listRoute(outputs: Outputs, kind: PageKind, inputNow: () => NamesPageInput): RequestHandler {
  return async (request, response) => {
    const { searchParams } = new URL(request.originalUrl, "http://localhost");
    const name = searchParams.get("name");
    if (name === null || name === "") {
      response.type("html").send(renderNamesPage({ ...inputNow(), idle: searchParams.get("idle") }));
      return;
    }
    const found = outputs.explain(kind, name);
    await sendName(outputs, inputNow(), found?.ok === true ? name : decoded(name), response);
  };
}

/** Decodes a name whose parts were encoded one by one, because a path cannot express them; other texts stay as they are. */
function decoded(name: string): string {
  try {
    return name.split("/").map(decodeURIComponent).join("/");
  } catch {
    return name;
  }
}

async function sendName(outputs: Outputs, input: NamesPageInput, asked: string, response: Response): Promise<void> {
  const { kind, cluster, moment } = input;
  if (moment === null) {
    response.status(503).set("Retry-After", "5").type("html").send(renderNoSuchName(input, asked));
    return;
  }
  const { analysis } = moment;
  const name = wellFormedName(kind, asked, input);
  const explained = outputs.explain(kind, name);
  const { namespace, kind: ofKind, name: own } = workloadNamed(name);
  const inLedger = kind === "workload" ? `${ofKind}/${namespace}/${own}` : name;
  const past = await askPast(outputs, { of: kind, name: inLedger, now: outputs.now() });
  const explanation = explained?.ok === true ? explained.explanation : null;
  if (explanation === null && !(past.isKnown && kind !== "node")) {
    response.status(404).type("html").send(renderNoSuchName(input, asked));
    return;
  }
  const { at } = analysis.snapshot;
  const now = outputs.now();
  const oldSeconds = isTooOld(at, outputs.health(), now) ? Math.round(now - at) : null;
  const advice = outputs.adviser?.latest() ?? outputs.latest()?.advice ?? noAdvice;
  response.type("html").send(renderNamePage({ kind, name, explanation, analysis, advice, past, cluster, oldSeconds }));
}

/** The name that an address means: an address has no lone surrogates, but the name itself may. */
function wellFormedName(kind: PageKind, asked: string, { moment }: NamesPageInput): string {
  if (moment === null || !asked.includes("\ufffd")) return asked;
  return explainedNames(kind, moment.analysis).find((name) => name.toWellFormed() === asked) ?? asked;
}
