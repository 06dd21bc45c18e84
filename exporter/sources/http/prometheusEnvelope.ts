import { isRecord, type JsonRecord, parseJson } from "../../kernel/parseJson.ts";

/** What is around the series that a server with Prometheus' HTTP API answers to a query. */
export type PrometheusEnvelope =
  /** `answer` is all of it, with what a server says beside its data (`warnings`, `isPartial`); `data` is not checked yet. */
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
