import type { Request, RequestHandler, Router } from "express";
import { type CostDimension, costDimensions, costQuestion, costsOf } from "../../history/costs.ts";
import type { History, TotalsResult } from "../../history/history.ts";
import { parseTotalsQuestion } from "../../history/parseTotalsQuestion.ts";
import { askWaterfall } from "../../history/waterfall.ts";
import { chargeBases } from "../../model/charge.ts";
import { budgetsRecord, costsRecord, totalsRecord, waterfallRecord } from "../history/records.ts";
import type { Outputs } from "./outputs.ts";
import { parseQuestionParameters, type QuestionParameters, withinTeams } from "./questionParameters.ts";
import { type Refusal, refusal, sendRefusal } from "./refusal.ts";
import { visibleTeams } from "./teamView.ts";

/**
 * Serves `/api/v1/history`, `/waterfall`, `/costs` and `/budgets`: questions about the past, answered from the ledger or from
 * the Prometheus server that the configuration names.
 */
export function addHistoryRoutes(router: Router, outputs: Outputs): void {
  router.get("/history", answering(outputs, [], totalsAnswer));
  router.get("/waterfall", answering(outputs, [], waterfallAnswer));
  router.get("/costs", answering(outputs, ["charge", "shareUnallocated"], costsAnswer));
  router.get("/budgets", budgetsRoute(outputs));
}

type Answered = { readonly ok: true; readonly record: object } | Refusal;

interface Asked extends QuestionParameters {
  readonly history: History;
  readonly now: number;
  readonly notCharged: readonly string[];
}

/** Makes a route that asks the history. */
function answering(
  outputs: Outputs,
  own: readonly string[],
  answer: (asked: Asked) => Promise<Answered>,
): RequestHandler {
  return async (request: Request, response) => {
    const { past } = outputs;
    if (past === undefined) return sendRefusal(response, nobodyKnows);
    const parsed = parseQuestionParameters(request.originalUrl, own);
    if (!parsed.ok) return sendRefusal(response, parsed);
    const within = withinTeams(parsed.parameters.text, visibleTeams(outputs.teams, response));
    if (!within.ok) return sendRefusal(response, within);
    const found = await answer({ ...parsed.parameters, text: within.text, ...past, now: outputs.now() });
    if (found.ok) response.json(found.record);
    else sendRefusal(response, found);
  };
}

const nobodyKnows = refusal(
  "nothing keeps the past",
  "Set ledger.path to keep a ledger, or history.prometheus to a server that scrapes Fairlead.",
  404,
);

async function totalsAnswer({ text, history, now }: Asked): Promise<Answered> {
  const parsed = parseTotalsQuestion({ ...text, by: text.by ?? "team,state" }, now);
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await history.totals(parsed.question);
  if (!result.ok) return failed(result);
  return { ok: true, record: totalsRecord(result.answer, parsed.question, history, text.limit, now) };
}

async function waterfallAnswer({ text, history, now }: Asked): Promise<Answered> {
  if (text.by !== null) return refusal("a waterfall is always by state", "Leave by out; /api/v1/history has it.");
  const parsed = parseTotalsQuestion(text, now);
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await askWaterfall(history, parsed.question);
  return result.ok ? { ok: true, record: waterfallRecord(result.answer, now) } : failed(result);
}

async function costsAnswer({ text, own, history, now, notCharged }: Asked): Promise<Answered> {
  const words = [...new Set((text.by ?? "team").split(",").filter((word) => word !== ""))];
  const by = words.flatMap((word): readonly CostDimension[] => costDimensions.filter((name) => name === word));
  if (by.length < words.length)
    return refusal("costs are not kept by that", `Use some of: ${costDimensions.join(", ")}.`);
  const charge = chargeBases.find((basis) => basis === (own.get("charge") ?? "allocation"));
  if (charge === undefined) return refusal("charge is no basis", `Use one of: ${chargeBases.join(", ")}.`);
  const share = own.get("shareUnallocated") ?? "";
  if (share !== "" && share !== "allocation")
    return refusal("shareUnallocated is no way to share", "Use allocation, or leave it out.");
  if (text.where.some(([name]) => name !== "pool" && name !== "capacityType"))
    return refusal(
      "a bill cannot be of a part of the holders",
      "Choose by pool or capacityType, and group by the rest.",
    );
  const parsed = parseTotalsQuestion({ ...text, by: costQuestion(by).join(",") }, now);
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await history.totals(parsed.question);
  if (!result.ok) return failed(result);
  const view = { by, charge, notCharged, sharesUnallocated: share !== "" };
  const costs = costsOf(result.answer.rows, view);
  return { ok: true, record: costsRecord(result.answer, costs, view, history, text.limit, now) };
}

function budgetsRoute(outputs: Outputs): RequestHandler {
  return (_request, response) => {
    const known = outputs.budgets?.() ?? null;
    if (known !== null) {
      const visible = visibleTeams(outputs.teams, response);
      const budgets = known.budgets.filter(({ team }) => visible === null || visible.has(team));
      response.json(budgetsRecord({ ...known, budgets }));
      return;
    }
    const nextStep = "Set cost.budgets, and keep the past (ledger.path or history.prometheus); / says what is wrong.";
    sendRefusal(response, refusal("no budget is known", nextStep, 404));
  };
}

function failed(result: Extract<TotalsResult, { readonly ok: false }>): Refusal {
  const status = result.isRefused === true ? 400 : result.isEmpty === true ? 404 : 503;
  return refusal(result.error, result.nextStep, status);
}
