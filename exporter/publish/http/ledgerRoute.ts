import type { RequestHandler } from "express";
import { parseAccountsQuery, type QuestionText } from "../../accounts/ledger/parseAccountsQuery.ts";
import { parseQueueQuery } from "../../accounts/ledger/parseQueueQuery.ts";
import { isQueueSubject, queueSubjects } from "../../accounts/ledger/queueQuery.ts";
import { answerRecord } from "../ledger/answerRecord.ts";
import { queueAnswerRecord } from "../ledger/queueAnswer.ts";
import type { Faces } from "./faces.ts";
import { defaultLimit, maxLimit } from "./listQuery.ts";

/** Parameters beyond this number are a mistake, or somebody who wants to keep the ledger busy. */
const maxParameters = 100;

/**
 * `GET /api/v1/ledger?from=7d&by=team,state&pool=h100`: booked GPU time (or, with `of=queues`, `waits` or `evictions`, what
 * happened in queues), and how much of the window is covered.
 */
export function ledgerRoute(faces: Faces): RequestHandler {
  return async (request, response) => {
    const refuse = (status: number, error: string, nextStep: string): void =>
      void response.status(status).json({ error, nextStep });
    if (faces.ledger === undefined) {
      return refuse(
        404,
        "no ledger is kept",
        "Set ledger.path to keep one; without it, history is what Prometheus keeps.",
      );
    }
    const start = request.originalUrl.indexOf("?");
    const search = new URLSearchParams(start < 0 ? "" : request.originalUrl.slice(start));
    if (search.size > maxParameters) return refuse(400, "too many parameters", `Give at most ${maxParameters}.`);
    const twice = [...ownParameters].find((name) => search.getAll(name).length > 1);
    if (twice !== undefined) return refuse(400, `parameter ${twice} is given twice`, "Give it once.");
    const limit = limitIn(search.get("limit"));
    if (limit === null) return refuse(400, "limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
    const where = [...search].filter(([name]) => !ownParameters.has(name));
    const text = { from: search.get("from"), to: search.get("to"), by: search.get("by"), where, limit };
    const of = search.get("of") ?? gpuTime;
    const answer = await (of === gpuTime
      ? gpuTimeAnswer(text, faces.ledger, faces.now())
      : queueAnswer(of, text, faces));
    if (answer.ok) response.json(answer.record);
    else refuse(answer.status, answer.error, answer.nextStep);
  };
}

const ownParameters: ReadonlySet<string> = new Set(["of", "from", "to", "by", "limit"]);
const gpuTime = "gpu-time";

type RouteAnswer =
  | { readonly ok: true; readonly record: object }
  | { readonly ok: false; readonly status: number; readonly error: string; readonly nextStep: string };

async function gpuTimeAnswer(text: QuestionText, ask: NonNullable<Faces["ledger"]>, now: number): Promise<RouteAnswer> {
  const parsed = parseAccountsQuery({ ...text, by: text.by ?? "team,state" }, now);
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await ask(parsed.query);
  return result.ok ? { ok: true, record: answerRecord(result.answer) } : { ...result, status: statusOf(result.fault) };
}

async function queueAnswer(of: string, text: QuestionText, faces: Faces): Promise<RouteAnswer> {
  if (!isQueueSubject(of) || faces.ledgerQueues === undefined) {
    const nextStep = `Use ${[gpuTime, ...queueSubjects].join(", ")}.`;
    return { ok: false, status: 400, error: "of is none of what the ledger keeps", nextStep };
  }
  const parsed = parseQueueQuery(of, text, faces.now());
  if (!parsed.ok) return { ...parsed, status: 400 };
  const result = await faces.ledgerQueues(parsed.query);
  if (!result.ok) return { ...result, status: statusOf(result.fault) };
  return { ok: true, record: queueAnswerRecord(result.answer) };
}

const statusOf = (fault: "question" | "ledger"): number => (fault === "question" ? 400 : 503);

function limitIn(text: string | null): number | null {
  if (text === null) return defaultLimit;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= maxLimit ? limit : null;
}
