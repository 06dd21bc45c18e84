import { z } from "zod";
import { own, readEnvelope } from "../sources/http/prometheusApi.ts";

/** One series of an answer: its labels, and its values in the order of time. Its text is untrusted. */
export interface AnsweredSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** The points: seconds since the epoch, and a finite value. */
  readonly points: readonly (readonly [at: number, value: number])[];
}

/** The answer of a server to a query. */
export type ParsedAnswer =
  | { readonly kind: "series"; readonly series: readonly AnsweredSeries[] }
  /** The server reports that it failed; `reason` is its own message. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The answer does not have the form of the API. */
  | { readonly kind: "odd"; readonly finding: string };

/** The most series of an answer; no question of this folder has more. */
const maxSeries = 200_000;

const point = z.tuple([z.number(), z.string().max(400)]);
const labels = z.record(z.string(), z.string());
const dataSchema = z.discriminatedUnion("resultType", [
  z.object({
    resultType: z.literal("vector"),
    result: z.array(z.object({ metric: labels, value: point })).max(maxSeries),
  }),
  z.object({
    resultType: z.literal("matrix"),
    result: z.array(z.object({ metric: labels, values: z.array(point) })).max(maxSeries),
  }),
]);

/** Reads the answer to a query of Prometheus' HTTP API. Points that are not a finite number are left out. Never throws. */
export function parseHistoryAnswer(text: string): ParsedAnswer {
  const envelope = readEnvelope(text);
  if (envelope.kind === "refused") return envelope;
  if (envelope.kind === "not-json")
    return { kind: "odd", finding: envelope.found === "html" ? "a web page" : "no JSON" };
  if (envelope.kind === "odd") return { kind: "odd", finding: "no vector or matrix" };
  // VictoriaMetrics' cluster reports this when a storage node did not answer.
  if (own(envelope.answer, "isPartial") === true) return { kind: "refused", reason: "it can answer only in part now" };
  const checked = dataSchema.safeParse(envelope.data);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const place = issue === undefined ? "" : ` at ${["data", ...issue.path].slice(0, 6).join(".")}`;
    return { kind: "odd", finding: `no vector or matrix${place}` };
  }
  const { result, resultType } = checked.data;
  return {
    kind: "series",
    series:
      resultType === "vector"
        ? result.map(({ metric, value }) => ({ labels: metric, points: finite([value]) }))
        : result.map(({ metric, values }) => ({ labels: metric, points: finite(values) })),
  };
}

/** The value of a label; empty where it is absent, as in Prometheus itself. */
export function labelIn(labels: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? "") : "";
}

function finite(points: readonly (readonly [number, string])[]): readonly (readonly [number, number])[] {
  return points
    .map(([at, text]) => [at, text.trim() === "" ? Number.NaN : Number(text)] as const)
    .filter(([, value]) => Number.isFinite(value));
}
