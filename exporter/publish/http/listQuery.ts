import type { Chosen, List } from "./lists.ts";

export const defaultLimit = 1000;
export const maxLimit = 10_000;

/** What a request asks of a list, or what is wrong with it. */
export type ListQuery =
  | { readonly ok: true; readonly chosen: Chosen; readonly limit: number; readonly offset: number }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

/** Reads `?team=ads&limit=100&offset=200`. A parameter that the list does not know is an error, not ignored. */
export function parseListQuery(list: List, search: URLSearchParams): ListQuery {
  const allowed = [...list.filters, "limit", "offset"];
  const chosen = new Map<string, string>();
  for (const [name, value] of search) {
    if (!allowed.includes(name))
      return failure(`unknown parameter ${JSON.stringify(name.slice(0, 60))}`, `Use one of: ${allowed.join(", ")}.`);
    if (chosen.has(name)) return failure(`parameter ${JSON.stringify(name)} is given twice`, "Give it once.");
    chosen.set(name, value);
  }
  const limit = wholeNumber(chosen.get("limit"), defaultLimit);
  if (limit === null || limit < 1 || limit > maxLimit) {
    return failure("limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
  }
  const offset = wholeNumber(chosen.get("offset"), 0);
  if (offset === null) return failure("offset is not a whole number", "Use 0 or more.");
  return { ok: true, chosen, limit, offset };
}

function failure(error: string, nextStep: string): ListQuery {
  return { ok: false, error, nextStep };
}

function wholeNumber(text: string | undefined, fallback: number): number | null {
  if (text === undefined) return fallback;
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
