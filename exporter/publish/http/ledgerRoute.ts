import type { RequestHandler } from "express";
import type { LedgerResult } from "../../accounts/ledger/ledgerQuestion.ts";
import { isLedgerTable, ledgerTables } from "../../accounts/ledger/ledgerTableQuery.ts";
import {
  parseAccountsQuery,
  type QuestionFailure,
  type QuestionText,
} from "../../accounts/ledger/parseAccountsQuery.ts";
import { parseLedgerTableQuery } from "../../accounts/ledger/parseLedgerTableQuery.ts";
import { parsePriceQuery } from "../../accounts/ledger/priceQuery.ts";
import { answerRecord } from "../ledger/gpuTimeAnswer.ts";
import { ledgerTableRecord } from "../ledger/ledgerTableAnswer.ts";
import { priceAnswerRecord } from "../ledger/priceAnswer.ts";
import type { Outputs } from "./outputs.ts";
import { parseQuestionParameters, withinTeams } from "./questionParameters.ts";
import { type Refusal, refusal, sendRefusal } from "./refusal.ts";
import { beyondTeams, visibleTeams } from "./teamView.ts";

/**
 * Answers `GET /api/v1/ledger?from=7d&by=team,state&pool=h100`: counted GPU time, and how much of the window is covered. With
 * `of=queues`, `waits` or `evictions` it is what happened in queues, with `nodes` node time, and with `prices` what was paid.
 */
export function ledgerRoute(outputs: Outputs): RequestHandler {
  return async (request, response) => {
    const refuse = (refused: Refusal): void => sendRefusal(response, refused);
    if (outputs.ledger === undefined) return refuse(noLedger);
    const parsed = parseQuestionParameters(request.originalUrl, ["of"]);
    if (!parsed.ok) return refuse(parsed);
    const of = parsed.parameters.own.get("of") ?? gpuTime;
    const visible = visibleTeams(outputs.teams, response);
    const own = withinTeams(parsed.parameters.text, visible);
    if (!own.ok) return refuse(own);
    const beyond = visible === null ? null : beyondOwn(of, own.text, visible);
    if (beyond !== null) return refuse(beyond);
    const answer = await answerTo(of, own.text, outputs, outputs.ledger);
    if (answer.ok) response.json(answer.record);
    else refuse(answer);
  };
}

const noLedger = refusal(
  "no ledger is kept",
  "Set ledger.path to keep one; without it, history is what Prometheus keeps.",
  404,
);

/**
 * Why a question shows more than these teams' data: most of what is kept besides GPU time belongs to no team in particular.
 * `null` if it shows no more.
 */
function beyondOwn(of: string, { by, where }: QuestionText, visible: ReadonlySet<string>): Refusal | null {
  const byTeam = [gpuTime, "queues", "waits", "evictions", "failures"];
  if (!byTeam.includes(of)) return beyondTeams(visible, `Leave of out, or use one of: ${byTeam.join(", ")}.`);
  const names = [...(by ?? "").split(","), ...where.map(([name]) => name)];
  if (!names.some((name) => name.startsWith("preemptor"))) return null;
  return beyondTeams(visible, "Leave preemptor, preemptorTeam and preemptorQueue out.");
}

const gpuTime = "gpu-time";
const prices = "prices";

type RouteAnswer = { readonly ok: true; readonly record: object } | Refusal;

function answerTo(
  of: string,
  text: QuestionText,
  outputs: Outputs,
  ask: NonNullable<Outputs["ledger"]>,
): Promise<RouteAnswer> | Refusal {
  const now = outputs.now();
  if (of === gpuTime)
    return answerOf(parseAccountsQuery({ ...text, by: text.by ?? "team,state" }, now), ask, answerRecord);
  if (of === prices && outputs.ledgerPrices !== undefined)
    return answerOf(parsePriceQuery(text, now), outputs.ledgerPrices, priceAnswerRecord);
  if (!isLedgerTable(of) || outputs.ledgerTables === undefined)
    return refusal("of is none of what the ledger keeps", `Use ${[gpuTime, ...ledgerTables, prices].join(", ")}.`);
  return answerOf(parseLedgerTableQuery(of, text, now), outputs.ledgerTables, ledgerTableRecord);
}

async function answerOf<Query, Answer>(
  parsed: { readonly ok: true; readonly query: Query } | QuestionFailure,
  ask: (query: Query) => Promise<LedgerResult<Answer>>,
  record: (answer: Answer) => object,
): Promise<RouteAnswer> {
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await ask(parsed.query);
  return result.ok ? { ok: true, record: record(result.answer) } : { ...result, status: statusOf(result.fault) };
}

const statusOf = (fault: "question" | "ledger"): number => (fault === "question" ? 400 : 503);
