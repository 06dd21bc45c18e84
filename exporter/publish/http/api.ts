import { type RequestHandler, type Response, Router } from "express";
import type { Advice } from "../../model/recommendation.ts";
import { buildDocument, problemRecords } from "../document/buildDocument.ts";
import { listsOf } from "../document/listBuilder.ts";
import { momentOf } from "../document/order.ts";
import { recommendationRecords, withheldRecords } from "../document/recommendationRecords.ts";
import { explainedKinds } from "../explain/kinds.ts";
import type { Publication } from "../publication.ts";
import { overviewRecord } from "../terminal/overview.ts";
import { overviewColumns } from "../terminal/overviewSchema.ts";
import { addAdviceRoutes } from "./adviceRoutes.ts";
import { withCluster } from "./clusterHeader.ts";
import { addHistoryRoutes } from "./historyRoutes.ts";
import { ledgerBackupRoute } from "./ledgerBackupRoute.ts";
import { ledgerRoute } from "./ledgerRoute.ts";
import { findList, listNames, parseListQuery } from "./lists.ts";
import { buildOpenApi } from "./openapi.ts";
import type { Outputs } from "./outputs.ts";
import { searchOf } from "./questionParameters.ts";
import { refusal, sendRefusal } from "./refusal.ts";
import { visibleTeams } from "./teamView.ts";
import { createTexts, recordsAtOnce, type Text, type Texts, textOf } from "./texts.ts";

/** Serves the JSON API below `/api/v1`: the document of the last cycle as a whole or by list, and answers about the past. */
export function createApi(outputs: Outputs): Router {
  const router = Router({ strict: false });
  const openApi = JSON.stringify(buildOpenApi());
  const problemsOf = (publication: Publication) => [...outputs.health().problems, ...publication.problems];

  const adviceOf = (publication: Publication) => outputs.adviser?.latest() ?? publication.advice;
  const texts = createTexts();
  // The document is built anew, so that its records can be freed once the text is there.
  const snapshotOf = rememberSnapshot((publication, advice) =>
    textOf(buildDocument(publication.analysis, problemsOf(publication), advice)),
  );

  router.use(withCluster(outputs.cluster));
  router.get("/", (_request, response) => {
    const lists = Object.fromEntries(listNames.map((name) => [name, `/api/v1/${name}`]));
    response.json({
      snapshot: "/api/v1/snapshot",
      ...lists,
      explain: "/api/v1/explain?kind={kind}&name={name}",
      overview: "/api/v1/overview?columns=100",
      ledger: "/api/v1/ledger?by=team,state&from=7d",
      ledgerBackup: "/api/v1/ledger/backup",
      history: "/api/v1/history?by=team,state&from=7d",
      waterfall: "/api/v1/waterfall?from=7d",
      costs: "/api/v1/costs?by=team&from=7d",
      budgets: "/api/v1/budgets",
      openapi: "/api/v1/openapi.json",
    });
  });
  router.get("/openapi.json", (_request, response) => {
    response.type("application/json").send(openApi);
  });
  router.get("/snapshot", async (_request, response) => {
    const publication = outputs.latest();
    if (publication === null) return noAnswersYet(response);
    await texts.send(response, snapshotOf(publication, adviceOf(publication)));
  });
  router.get("/explain", explainRoute(outputs, texts));
  router.get("/overview", (request, response) => {
    const columns = columnsIn(searchOf(request.originalUrl));
    if (columns === null) {
      const { min, max } = overviewColumns;
      return sendRefusal(
        response,
        refusal(
          "expected no parameter but columns, a whole number in range",
          `Ask for /api/v1/overview?columns=${min} to ${max}.`,
        ),
      );
    }
    const publication = outputs.latest();
    if (publication === null) return noAnswersYet(response);
    const { analysis } = publication;
    response.json(overviewRecord(analysis, problemsOf(publication), adviceOf(publication), columns));
  });
  router.get("/ledger", ledgerRoute(outputs));
  router.get("/ledger/backup", ledgerBackupRoute(outputs));
  addHistoryRoutes(router, outputs);
  addAdviceRoutes(router, outputs);
  router.get("/:list", async (request, response, next) => {
    const list = findList(request.params.list);
    if (list === null) return next();
    const query = parseListQuery(list, searchOf(request.originalUrl));
    if (!query.ok) return sendRefusal(response, query);
    const publication = outputs.latest();
    if (publication === null) return noAnswersYet(response);
    const { chosen, limit, offset } = query;
    const problems = problemRecords(problemsOf(publication));
    const advice = adviceOf(publication);
    const all = list.select(
      {
        lists: listsOf(publication.analysis),
        problems,
        recommendations: () => recommendationRecords(advice),
        withheld: () => withheldRecords(advice),
      },
      chosen,
      visibleTeams(outputs.teams, response),
    );
    const items = all.slice(offset, offset + limit);
    const answer = { at: momentOf(publication.analysis.snapshot.at), total: all.length, limit, offset, items };
    if (items.length > recordsAtOnce) await texts.send(response, textOf(answer));
    else response.json(answer);
  });
  return router;
}

/**
 * Answers `GET /api/v1/explain?kind=team&name=search`: how the numbers of one team, queue, workload, pod or node came about.
 */
function explainRoute(outputs: Outputs, texts: Texts): RequestHandler {
  return async (request, response) => {
    const search = searchOf(request.originalUrl);
    const kind = explainedKinds.find((known) => known === search.get("kind"));
    const name = search.get("name");
    if (kind === undefined || name === null || name === "" || [...search].length !== 2) {
      return sendRefusal(
        response,
        refusal(
          "expected the parameters kind and name",
          `Ask for /api/v1/explain?kind=${explainedKinds.join("|")}&name=NAME; a workload's name is NAMESPACE/KIND/NAME, a pod's NAMESPACE/NAME, a LocalQueue's may be.`,
        ),
      );
    }
    const explained = outputs.explain(kind, name);
    if (explained === null) return noAnswersYet(response);
    if (!explained.ok) return sendRefusal(response, refusal(explained.error, explained.nextStep, 404));
    if (explained.explanation.parts.length <= recordsAtOnce) response.json(explained.explanation);
    else await texts.send(response, textOf(explained.explanation));
  };
}

/**
 * Remembers the text of a publication's document: it is made once for each cycle and each change of the advice, however many
 * ask for it.
 */
function rememberSnapshot(
  make: (publication: Publication, advice: Advice) => Text,
): (publication: Publication, advice: Advice) => Text {
  const known = new WeakMap<Publication, { readonly advice: Advice; readonly text: Text }>();
  return (publication, advice) => {
    const made = known.get(publication);
    if (made?.advice === advice) return made.text;
    const text = make(publication, advice);
    known.set(publication, { advice, text });
    return text;
  };
}

/** The number of columns that is asked for, or the standard where none is; `null` for anything else. */
function columnsIn(search: URLSearchParams): number | null {
  const { min, max, standard } = overviewColumns;
  if (search.size === 0) return standard;
  const columns = /^\d{1,4}$/.test(search.get("columns") ?? "") ? Number(search.get("columns")) : 0;
  return search.size === 1 && columns >= min && columns <= max ? columns : null;
}

function noAnswersYet(response: Response): void {
  response.set("Retry-After", "5");
  sendRefusal(
    response,
    refusal("no answers yet: the first cycle is not complete", "See /readyz for what is missing.", 503),
  );
}
