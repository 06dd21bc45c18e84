import { finiteNumber } from "../../kernel/exposition/decimal.ts";
import { isRecord, type JsonRecord, parseJson } from "../../kernel/parseJson.ts";

/** What surrounds the series in the answer of a server with the HTTP API of Prometheus. */
export type PrometheusEnvelope =
  /**
   * `answer` is all of it, including what a server reports beside its data (`warnings`, `isPartial`); `data` has not been
   * checked.
   */
  | { readonly kind: "success"; readonly answer: JsonRecord; readonly data: JsonRecord }
  /** The server reports a failure, with its own message: untrusted text. */
  | { readonly kind: "refused"; readonly reason: string }
  /** `html`: most often the login page of something in front of the server. */
  | { readonly kind: "not-json"; readonly found: "empty" | "html" | "other" }
  | { readonly kind: "odd"; readonly finding: string };

/** Reads the envelope of an answer of `/api/v1/query` or `query_range`. Never throws, whatever the text is. */
export function readEnvelope(text: string | Buffer): PrometheusEnvelope {
  const answer = parseJson(text);
  if (answer === undefined) return { kind: "not-json", found: sniffed(text) };
  if (!isRecord(answer)) return { kind: "odd", finding: "the answer is no JSON object" };
  const status = own(answer, "status");
  if (status === "error") return { kind: "refused", reason: reasonIn(answer) };
  const data = own(answer, "data");
  if (status !== "success" || !isRecord(data)) return { kind: "odd", finding: "the answer has no status or no data" };
  return { kind: "success", answer, data };
}

/** A property of the object itself, never of its prototype. */
export function own(object: JsonRecord, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The series of a vector, which have not been checked; `null` where the data is something else. */
export function vectorOf(data: JsonRecord): readonly unknown[] | null {
  const result = own(data, "result");
  return own(data, "resultType") === "vector" && Array.isArray(result) ? result : null;
}

/** One series of a vector, which has been checked. */
export interface Series {
  /** Names and values of the labels. They are untrusted; read them with `labelOf`. */
  readonly metric: JsonRecord;
  /** The time when the query was evaluated, by the server's clock, seconds since the epoch. */
  readonly evaluatedAt: number;
  /** The value; `NaN` where the text is no finite number. */
  readonly value: number;
}

/** A series of the vector, or `null` where the entry does not have the form of one. */
export function readSeries(entry: unknown): Series | null {
  if (!isRecord(entry)) return null;
  const metric = own(entry, "metric");
  const sample = own(entry, "value");
  if (!isRecord(metric) || !Array.isArray(sample) || sample.length !== 2) return null;
  const [evaluatedAt, text]: readonly unknown[] = sample;
  if (typeof evaluatedAt !== "number" || typeof text !== "string") return null;
  return { metric, evaluatedAt, value: finiteNumber(text) };
}

/** A label's value; `""` where it is absent, as for Prometheus itself; `null` where it is no text. */
export function labelOf(metric: JsonRecord, name: string): string | null {
  const value = own(metric, name);
  if (value === undefined) return "";
  return typeof value === "string" ? value : null;
}

/**
 * The URL of a query: a GET, because read-only access to a server often forbids POST. `base` is the part before `/api/v1`; its
 * parameters are kept. `query` is already encoded.
 */
export function queryUrl(base: string, path: "query" | "query_range", query: string): string {
  const { protocol, host, pathname, search } = new URL(base);
  const place = `${protocol}//${host}${pathname.replace(/\/+$/, "")}/api/v1/${path}`;
  return `${place}${search === "" ? "?" : `${search}&`}${query}`;
}

/** Labels with the exact values that a series must have, in the form that PromQL has between braces. */
export function matcherTexts(matchers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(matchers).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
}

function reasonIn(answer: JsonRecord): string {
  const texts = [own(answer, "errorType"), own(answer, "error")];
  const said = texts.filter((text) => typeof text === "string" && text !== "");
  return said.length === 0 ? "it gives no reason" : said.join(": ");
}

function sniffed(text: string | Buffer): "empty" | "html" | "other" {
  if (text.length === 0) return "empty";
  const start = typeof text === "string" ? text.slice(0, 512) : text.toString("latin1", 0, 512);
  return start.trimStart().startsWith("<") ? "html" : "other";
}
