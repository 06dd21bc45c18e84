import type { Problem } from "../../model/problem.ts";
import type { GetErrorCode, GetFailure } from "../http/getResult.ts";
import { maxShown, shownText } from "../http/shownText.ts";

/** Name of the source in problems, on `/` and in metrics. */
export const prometheusSourceName = "dcgm-prometheus";

/** Why a server gave no usable answer. */
export interface AnswerFault {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
}

const maxNamed = 3;

export function notJson(what: "empty" | "html" | "other"): AnswerFault {
  const found = { empty: "with nothing", html: "with a web page", other: "with something that is no JSON" }[what];
  return {
    code: "server-not-json",
    message: `answers ${found}, not with JSON`,
    nextStep:
      "Check dcgm.prometheus.url: it ends where /api/v1 begins; a login page in front needs credentials (dcgm.prometheus.auth).",
  };
}

export function notAnAnswer(finding: string): AnswerFault {
  return {
    code: "server-odd-answer",
    message: `is not answered as Prometheus answers a query: ${finding}`,
    nextStep: "Check that dcgm.prometheus.url is a server with Prometheus' HTTP API, and ask it by hand.",
  };
}

export function queryFailed(text: string): AnswerFault {
  return {
    code: "server-query-failed",
    message: `refuses the query: ${shownText(text)}`,
    nextStep:
      "Read the server's reason; limits on samples or series are widened at the server, or the query is narrowed by dcgm.prometheus.matchers.",
  };
}

export function nothingFound(): AnswerFault {
  return {
    code: "server-no-gpu-series",
    message: "has no series of a GPU exporter that match; that is no data, not idle GPUs",
    nextStep:
      "Look at the server's targets page (does it scrape dcgm-exporter?), dcgm.prometheus.matchers and headers.",
  };
}

/** The fault of a request without an answer; `said` is the reason that the server gave in the API's own form. */
export function requestFailed(failure: GetFailure, said: string | null): AnswerFault {
  const reason = said === null ? "" : ` (${shownText(said)})`;
  return {
    code: `server-${failure.code.replaceAll("_", "-")}`,
    message: `${failure.message}${reason}`,
    nextStep: nextStepAfter(failure),
  };
}

const refused =
  "Read the server's reason; limits are widened at the server, or the query narrowed by dcgm.prometheus.matchers.";
const credentials = "Give credentials that may query in dcgm.prometheus.auth.";
const tooLong = "Shorten dcgm.prometheus.matchers: something refuses so long a URL.";
const ofStatus: Readonly<Record<number, string>> = {
  400: refused,
  401: credentials,
  403: credentials,
  404: "Check the path in dcgm.prometheus.url: it ends where /api/v1 begins.",
  414: tooLong,
  422: refused,
  431: tooLong,
};
const ofCode: Partial<Record<GetErrorCode, string>> = {
  status: "Read the server's log; if it is overloaded, narrow the query by dcgm.prometheus.matchers.",
  timeout: "Look at the server's load and at network policies, or raise dcgm.prometheus.timeoutSeconds.",
  tls: "Check the scheme of dcgm.prometheus.url and dcgm.prometheus.caFile.",
  credentials: "Check that the file exists, is mounted and may be read by Fairlead.",
  bad_redirect:
    "Give the final URL in dcgm.prometheus.url; credentials are never sent elsewhere, and a redirect often means a login page.",
  too_large: "Select fewer series by dcgm.prometheus.matchers, or raise dcgm.prometheus.maxAnswerBytes.",
};

function nextStepAfter({ code, status }: GetFailure): string {
  const step = code === "status" && status !== null ? (ofStatus[status] ?? ofCode.status) : ofCode[code];
  return step ?? "Check dcgm.prometheus.url and the network policies between Fairlead and the server.";
}

/** The problem that an answer is incomplete, in the server's own words. */
export function incomplete(server: string, warnings: readonly string[]): Problem {
  return problem(
    server,
    "server-incomplete-answer",
    `${server} answers in part: ${shownText(some(warnings))}`,
    "Look at the stores behind the server; GPUs that it leaves out keep their last values up to the age limit and are then unobserved.",
  );
}

export function oldSamples(server: string, rows: number, youngestSeconds: number, maxAgeSeconds: number): Problem {
  return problem(
    server,
    "server-samples-too-old",
    `${server}: ${rows} GPU rows are older than ${maxAgeSeconds} s (the youngest of them ${Math.round(youngestSeconds)} s) and are not used`,
    "Look at the server's targets page; where the scrape interval is longer, raise dcgm.prometheus.maxSampleAgeSeconds.",
  );
}

export function timelessRows(server: string, rows: number): Problem {
  return problem(
    server,
    "server-samples-without-time",
    `${server} gives no time for ${rows} GPU rows; they are not used, for they may be old`,
    "Look whether the server answers in part, and whether it knows PromQL's timestamp().",
  );
}

export function malformedSeries(server: string, series: number): Problem {
  return problem(
    server,
    "server-malformed-series",
    `${series} series of ${server} are not what Prometheus answers, or have labels of more than 4096 characters; the others are used`,
    "Ask the server by hand (/api/v1/query) and look for labels that are no GPU exporter's.",
  );
}

export function tooManyRows(server: string, rows: number): Problem {
  return problem(
    server,
    "server-too-many-rows",
    `${server} has more GPU rows than the ${rows} that are read; the rest is left out`,
    "Select one cluster by dcgm.prometheus.matchers, and look for exporters that write labels without end.",
  );
}

export function namelessRows(server: string, rows: number, nodeLabel: string | null): Problem {
  const finding =
    nodeLabel === null
      ? "come from no exporter pod that the Kubernetes API has (by namespace, pod and instance), and name no node without one (Hostname)"
      : `have no label ${nodeLabel}`;
  return problem(
    server,
    "server-rows-without-node",
    `${rows} GPU rows of ${server} ${finding}; their node is unknown, and they are left out`,
    "Check dcgm.discovery and dcgm.prometheus.matchers; or name a label that you trust in dcgm.prometheus.nodeLabel, such as one that relabelling takes from __meta_kubernetes_pod_node_name.",
  );
}

export function unknownNodes(server: string, nodes: readonly string[]): Problem {
  return problem(
    server,
    "server-unknown-nodes",
    `${server} has GPUs of ${nodes.length} nodes that the Kubernetes API does not have (${shownText(some(nodes))}); they are left out`,
    "Select this cluster's series by dcgm.prometheus.matchers; where the exporter's host label is no node name, set dcgm.prometheus.nodeLabel.",
  );
}

export function missingNodes(server: string, nodes: readonly string[]): Problem {
  return problem(
    server,
    "server-missing-nodes",
    `${nodes.length} nodes run an exporter without a fresh sample on ${server} (${shownText(some(nodes))}); the activity of their GPUs is unknown`,
    "Look at the server's targets page for these exporters, and at dcgm.prometheus.matchers.",
  );
}

export function severalClusters(server: string, clusters: readonly string[]): Problem {
  return problem(
    server,
    "server-several-clusters",
    `${server} answers with series of ${clusters.length} clusters (${shownText(some(clusters))}); nodes of one name would be mixed`,
    "Select this cluster: dcgm.prometheus.matchers: { cluster: NAME }.",
  );
}

function problem(server: string, code: string, message: string, nextStep: string): Problem {
  return { source: prometheusSourceName, code, severity: "warning", subject: server, message, nextStep };
}

function some(names: readonly string[]): string {
  const more = names.length > maxNamed ? ", ..." : "";
  return `${names
    .slice(0, maxNamed)
    .map((name) => name.slice(0, maxShown / maxNamed))
    .join(", ")}${more}`;
}
