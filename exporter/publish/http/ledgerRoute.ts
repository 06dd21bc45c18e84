import type { RequestHandler } from "express";
import { parseAccountsQuery } from "../../accounts/ledger/parseAccountsQuery.ts";
import { answerRecord } from "../ledger/answerRecord.ts";
import type { Faces } from "./faces.ts";
import { defaultLimit, maxLimit } from "./listQuery.ts";

/** Parameters beyond this number are a mistake, or somebody who wants to keep the ledger busy. */
const maxParameters = 100;

/** `GET /api/v1/ledger?from=7d&by=team,state&pool=h100`: booked GPU time, and how much of the window is covered. */
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
    const twice = ["from", "to", "by", "limit"].find((name) => search.getAll(name).length > 1);
    if (twice !== undefined) return refuse(400, `parameter ${twice} is given twice`, "Give it once.");
    const limit = limitIn(search.get("limit"));
    if (limit === null) return refuse(400, "limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
    const where = [...search].filter(([name]) => !["from", "to", "by", "limit"].includes(name));
    const parsed = parseAccountsQuery(
      { from: search.get("from"), to: search.get("to"), by: search.get("by") ?? "team,state", where, limit },
      faces.now(),
    );
    if (!parsed.ok) return refuse(400, parsed.error, parsed.nextStep);
    const result = await faces.ledger(parsed.query);
    if (result.ok) response.json(answerRecord(result.answer));
    else refuse(result.fault === "question" ? 400 : 503, result.error, result.nextStep);
  };
}

function limitIn(text: string | null): number | null {
  if (text === null) return defaultLimit;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= maxLimit ? limit : null;
}
