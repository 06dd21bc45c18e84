import { isRecord, type JsonRecord } from "../../kernel/parseJson.ts";
import { own, readEnvelope } from "../http/prometheusEnvelope.ts";
import type { AnswerFault } from "./prometheusProblems.ts";
import * as problems from "./prometheusProblems.ts";

/** What a server answered, before its series are looked at. */
export type Answer =
  | {
      readonly ok: true;
      /** Series of a vector; nothing about them is checked yet. */
      readonly result: readonly unknown[];
      /** What the server says is missing from its answer (Thanos and Mimir answer in part). Untrusted text. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly fault: AnswerFault };

/** One series of a vector, checked. */
export interface Series {
  /** Untrusted names and values; read with `labelOf`. */
  readonly metric: JsonRecord;
  /** When the query was evaluated, by the server's clock, seconds since the epoch. */
  readonly evaluatedAt: number;
  /** `NaN` where the text is no finite number. */
  readonly value: number;
}

const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Longer texts are no numbers: the longest that Go writes have 309 digits. */
const maxNumberLength = 400;

/** Reads an answer of `/api/v1/query`. Never throws, whatever the bytes are. */
export function parseAnswer(bytes: Buffer | string): Answer {
  const envelope = readEnvelope(bytes);
  if (envelope.kind === "refused") return { ok: false, fault: problems.queryFailed(envelope.reason) };
  if (envelope.kind === "not-json") return { ok: false, fault: problems.notJson(envelope.found) };
  if (envelope.kind === "odd") return { ok: false, fault: problems.notAnAnswer(envelope.finding) };
  const { answer, data } = envelope;
  const result = own(data, "result");
  if (own(data, "resultType") !== "vector" || !Array.isArray(result)) {
    return { ok: false, fault: problems.notAnAnswer("the answer is not a vector") };
  }
  const warnings = own(answer, "warnings");
  const texts = Array.isArray(warnings) ? warnings.filter((text) => typeof text === "string") : [];
  return { ok: true, result, warnings: texts };
}

/** A series of the vector, or `null` where it has not the form of one. */
export function readSeries(entry: unknown): Series | null {
  if (!isRecord(entry)) return null;
  const metric = own(entry, "metric");
  const sample = own(entry, "value");
  if (!isRecord(metric) || !Array.isArray(sample) || sample.length !== 2) return null;
  const [evaluatedAt, text]: readonly unknown[] = sample;
  if (typeof evaluatedAt !== "number" || typeof text !== "string") return null;
  const isNumber = text.length <= maxNumberLength && decimal.test(text);
  const value = isNumber ? Number(text) : Number.NaN;
  return { metric, evaluatedAt, value: Number.isFinite(value) ? value : Number.NaN };
}

/** A label's value; `""` where it is absent, as for Prometheus itself; `null` where it is no text. */
export function labelOf(metric: JsonRecord, name: string): string | null {
  const value = own(metric, name);
  if (value === undefined) return "";
  return typeof value === "string" ? value : null;
}

/** The server's own message in the body of an error, if it has the form of the API; otherwise `null`. */
export function errorOf(body: string): string | null {
  const envelope = readEnvelope(body);
  return envelope.kind === "refused" ? envelope.reason : null;
}
