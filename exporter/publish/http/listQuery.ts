import type { Chosen, List } from "./lists.ts";
import { defaultLimit, maxLimit, wholeNumber } from "./questionParameters.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** What a request asks of a list, or what is wrong with it. */
export type ListQuery =
  | { readonly ok: true; readonly chosen: Chosen; readonly limit: number; readonly offset: number }
  | Refusal;

/** Reads `?team=ads&limit=100&offset=200`. A parameter that the list does not know is an error, not ignored. */
export function parseListQuery(list: List, search: URLSearchParams): ListQuery {
  const allowed = [...list.filters, "limit", "offset"];
  const chosen = new Map<string, string>();
  for (const [name, value] of search) {
    if (!allowed.includes(name))
      return refusal(`unknown parameter ${JSON.stringify(name.slice(0, 60))}`, `Use one of: ${allowed.join(", ")}.`);
    if (chosen.has(name)) return refusal(`parameter ${JSON.stringify(name)} is given twice`, "Give it once.");
    chosen.set(name, value);
  }
  const limit = wholeNumber(chosen.get("limit"), defaultLimit);
  if (limit === null || limit < 1 || limit > maxLimit) {
    return refusal("limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
  }
  const offset = wholeNumber(chosen.get("offset"), 0);
  if (offset === null) return refusal("offset is not a whole number", "Use 0 or more.");
  return { ok: true, chosen, limit, offset };
}
