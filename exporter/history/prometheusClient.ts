import type { Auth } from "../config/prometheusSchema.ts";
import type { GetPool } from "../sources/http/getPool.ts";
import type { GetFailure } from "../sources/http/getResult.ts";
import { queryUrl } from "../sources/http/prometheusApi.ts";
import { shownAddress, shownText } from "../sources/http/shownText.ts";
import { type AnsweredSeries, type ParsedAnswer, parseHistoryAnswer } from "./prometheusAnswer.ts";

/** A server with Prometheus' HTTP API: Prometheus, Thanos, Mimir, VictoriaMetrics. */
export interface HistoryServer {
  /** The part of the address before `/api/v1`; parameters after `?` are sent along. */
  readonly url: string;
  readonly auth: Auth;
  readonly caFile: string | null;
  readonly insecureSkipVerify: boolean;
  /** Headers that are sent with each query, such as `X-Scope-OrgID`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

/** Series, or the reason why there are none. */
export type Asked =
  | { readonly ok: true; readonly series: readonly AnsweredSeries[] }
  | { readonly ok: false; readonly error: string; readonly nextStep: string };

/** Queries one server. Never throws. */
export interface PrometheusClient {
  /** The address in the form to be shown. */
  readonly name: string;
  /** Runs a query as of one moment. */
  instant(query: string, at: number): Promise<Asked>;
  /** Runs a query at each step of [from, to]; times are in seconds. */
  range(query: string, from: number, to: number, step: number): Promise<Asked>;
}

/**
 * Creates a client. A partial answer counts as none (Thanos and VictoriaMetrics are asked to refuse it), because sums without
 * one of the stores look like less GPU time. The pool's own pauses after failures are not used, because the caller wants an
 * answer now.
 */
export function createPrometheusClient(server: HistoryServer, pool: GetPool): PrometheusClient {
  const { auth, caFile, insecureSkipVerify, headers } = server;
  const name = shownAddress(server.url);

  const ask = async (path: "query" | "query_range", parameters: Readonly<Record<string, string>>): Promise<Asked> => {
    const timeout = `${Math.ceil(server.timeoutSeconds)}s`;
    const url = queryUrl(server.url, path, `${new URLSearchParams({ ...parameters, timeout, ...whole })}`);
    const got = await pool.get({ url, auth, caFile, insecureSkipVerify, headers }, (bytes) => bytes.toString("utf8"));
    pool.retain(new Set());
    if (!got.ok) return failure(name, got);
    return answered(name, parseHistoryAnswer(got.value));
  };

  return {
    name,
    instant: (query, at) => ask("query", { query, time: `${at}` }),
    range: (query, from, to, step) =>
      ask("query_range", { query, start: `${from}`, end: `${to}`, step: `${step}`, nocache: "1" }),
  };
}

/** Parameters that make Thanos, and VictoriaMetrics' cluster, give whole answers or none. */
const whole = { partial_response: "false", deny_partial_response: "1" } as const;

function answered(name: string, answer: ParsedAnswer): Asked {
  if (answer.kind === "series") return { ok: true, series: answer.series };
  if (answer.kind === "refused") {
    return {
      ok: false,
      error: `${name} does not answer the query: ${shownText(answer.reason)}`,
      nextStep: "Read the server's reason; ask for a shorter window, or widen the server's limits on samples and time.",
    };
  }
  return {
    ok: false,
    error: `${name} answers with ${answer.finding}, not as Prometheus answers a query`,
    nextStep:
      "Check history.prometheus.url: it ends where /api/v1 begins; a login page in front needs credentials (history.prometheus.auth).",
  };
}

function failure(name: string, got: GetFailure): Asked {
  const answer = got.body === undefined ? null : parseHistoryAnswer(got.body);
  const said = answer?.kind === "refused" ? ` (${shownText(answer.reason)})` : "";
  return { ok: false, error: `${name}: ${got.message}${said}`, nextStep: nextStepAfter(got) };
}

function nextStepAfter({ code, status }: GetFailure): string {
  if (code === "status") {
    if (status === 401 || status === 403) return "Give credentials that may query in history.prometheus.auth.";
    if (status === 404) return "Check the path in history.prometheus.url: it ends where /api/v1 begins.";
    if (status === 400 || status === 422 || status === 413 || status === 414)
      return "Read the server's reason; ask for a shorter window or fewer values, or widen the server's limits.";
    return "Read the server's log; if it is overloaded, ask for a shorter window, or again later.";
  }
  switch (code) {
    case "timeout":
      return "Look at the server's load and at network policies, or raise history.prometheus.timeoutSeconds.";
    case "tls":
      return "Check the scheme of history.prometheus.url and history.prometheus.caFile.";
    case "credentials":
      return "Check that the file exists, is mounted and may be read by Fairlead.";
    case "bad_redirect":
      return "Give the final URL in history.prometheus.url; a redirect often means a login page.";
    case "too_large":
      return "Ask by fewer dimensions, or raise history.prometheus.maxAnswerBytes.";
    default:
      return "Check history.prometheus.url, that the server runs, and the network policies between Fairlead and it.";
  }
}
