import { own, readEnvelope, vectorOf } from "../http/prometheusApi.ts";
import type { AnswerFault } from "./prometheusProblems.ts";
import * as problems from "./prometheusProblems.ts";

/** What a server answered, before its series are looked at. */
export type Answer =
  | {
      readonly ok: true;
      /** The series of a vector; nothing about them has been checked. */
      readonly result: readonly unknown[];
      /**
       * The server's warnings that something is missing from its answer (Thanos and Mimir may answer in part). Untrusted text.
       */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly fault: AnswerFault };

/** Reads an answer of `/api/v1/query`. Never throws, whatever the bytes are. */
export function parseAnswer(bytes: Buffer | string): Answer {
  const envelope = readEnvelope(bytes);
  if (envelope.kind === "refused") return { ok: false, fault: problems.queryFailed(envelope.reason) };
  if (envelope.kind === "not-json") return { ok: false, fault: problems.notJson(envelope.found) };
  if (envelope.kind === "odd") return { ok: false, fault: problems.notAnAnswer(envelope.finding) };
  const { answer, data } = envelope;
  const result = vectorOf(data);
  if (result === null) return { ok: false, fault: problems.notAnAnswer("the answer is not a vector") };
  const warnings = own(answer, "warnings");
  const texts = Array.isArray(warnings) ? warnings.filter((text) => typeof text === "string") : [];
  return { ok: true, result, warnings: texts };
}

/** The server's own message in the body of an error, if it has the form of the API; otherwise `null`. */
export function errorOf(body: string): string | null {
  const envelope = readEnvelope(body);
  return envelope.kind === "refused" ? envelope.reason : null;
}
