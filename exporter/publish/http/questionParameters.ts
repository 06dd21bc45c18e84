import type { QuestionText } from "../../accounts/ledger/parseAccountsQuery.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** The most parameters: more of them are a mistake, or an attempt to keep the ledger or the history busy. */
const maxParameters = 100;

/** A question in an address, with its parameters divided by who reads them. */
export interface QuestionParameters {
  readonly text: QuestionText;
  /** The parameters that only this route has, each at most once. */
  readonly own: ReadonlyMap<string, string>;
}

/** The parameters of an address, or why they are refused. */
type ParsedParameters = { readonly ok: true; readonly parameters: QuestionParameters } | Refusal;

const common: readonly string[] = ["from", "to", "by", "limit"];

/**
 * Reads the parameters of an address. `own` are the names of parameters besides `from`, `to`, `by` and `limit` that are not
 * filters.
 */
export function parseQuestionParameters(address: string, own: readonly string[]): ParsedParameters {
  const search = searchOf(address);
  if (search.size > maxParameters) return refusal("too many parameters", `Give at most ${maxParameters}.`);
  const single = [...common, ...own];
  const twice = single.find((name) => search.getAll(name).length > 1);
  if (twice !== undefined) return refusal(`parameter ${twice} is given twice`, "Give it once.");
  const limit = wholeNumber(search.get("limit"), defaultLimit);
  if (limit === null || limit < 1 || limit > maxLimit)
    return refusal("limit is not a whole number in range", `Use 1 to ${maxLimit}.`);
  const given = own.flatMap((name) => {
    const value = search.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const where = [...search].filter(([name]) => !single.includes(name));
  const text = { from: search.get("from"), to: search.get("to"), by: search.get("by"), where, limit };
  return { ok: true, parameters: { text, own: new Map(given) } };
}

/**
 * Restricts the question of a user who may see only some teams to those that it names, or to all that the user may see. It is
 * refused if it names others.
 */
export function withinTeams<Text extends Pick<QuestionText, "where">>(
  text: Text,
  visible: ReadonlySet<string> | null,
): { readonly ok: true; readonly text: Text } | Refusal {
  if (visible === null) return { ok: true, text };
  const named = text.where.filter(([name]) => name === "team");
  if (named.some(([, team]) => !visible.has(team)))
    return refusal("you may not see that team", `Choose by some of: ${[...visible].join(", ")}.`, 403);
  const own = [...visible].map((team) => ["team", team] as const);
  return { ok: true, text: named.length > 0 ? text : { ...text, where: [...text.where, ...own] } };
}

/** The parameters of an address. */
export function searchOf(address: string): URLSearchParams {
  const start = address.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : address.slice(start));
}

/** A whole number of at most nine digits, or the standard where none is given; `null` if the text is no such number. */
export function wholeNumber(text: string | null | undefined, standard: number): number | null {
  if (text == null) return standard;
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** How many items an answer has where the question does not say. */
export const defaultLimit = 1000;
export const maxLimit = 10_000;
