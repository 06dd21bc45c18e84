import type { Config } from "../../config/schema.ts";
import type { QuotedPrice } from "../../model/prices.ts";
import type { Problem } from "../../model/problem.ts";
import type { GetPool } from "../http/getPool.ts";
import {
  labelOf,
  matcherTexts,
  queryUrl,
  readEnvelope,
  readSeries,
  type Series,
  vectorOf,
} from "../http/prometheusApi.ts";
import { shownAddress, shownText } from "../http/shownText.ts";
import { type Freshness, freshnessOf } from "../port.ts";

/** The place of OpenCost's series, and how they are read; `prices.openCost` of the configuration. */
export type OpenCostSettings = NonNullable<Config["prices"]["openCost"]>;

/** The prices of OpenCost. */
export interface OpenCostReader {
  /** Asks the server once. Never rejects. */
  ask(): Promise<void>;
  /** The prices by node, none older than `maxAgeSeconds`. */
  quoted(): ReadonlyMap<string, QuotedPrice>;
  freshness(): Freshness;
  problems(): readonly Problem[];
  close(): Promise<void>;
}

/** The failure of the last answer. */
interface Fault {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string;
}

const checkUrl = "Check prices.openCost.url (it ends where /api/v1 begins), matchers, headers and credentials.";

/** Reads OpenCost's prices from a Prometheus-compatible server; a node that an answer lacks keeps its price for a while. */
export function createOpenCostReader(settings: OpenCostSettings, pool: GetPool, now: () => number): OpenCostReader {
  const { auth, caFile, insecureSkipVerify, headers, nodeLabel, maxAgeSeconds } = settings;
  const request = {
    url: openCostUrl(settings.url, settings, settings.timeoutSeconds),
    auth,
    caFile: caFile ?? null,
    insecureSkipVerify,
    headers,
  };
  const server = shownAddress(settings.url);
  let known: ReadonlyMap<string, QuotedPrice> = new Map();
  let [goodAt, oldest]: [number | null, number] = [null, Number.POSITIVE_INFINITY];
  let fault: Fault | null = null;

  const keep = (quoted: ReadonlyMap<string, QuotedPrice>): void => {
    const at = now();
    known = new Map([...quoted].filter((entry) => at - entry[1].at <= maxAgeSeconds));
    oldest = [...known.values()].reduce((least, quote) => Math.min(least, quote.at), Number.POSITIVE_INFINITY);
  };

  const asked = async (): Promise<Fault | null> => {
    const result = await pool.get(request, (bytes) => Buffer.from(bytes));
    if (!result.ok)
      return { code: "opencost-unreachable", message: `gives no prices: ${result.message}`, nextStep: checkUrl };
    const answer = readOpenCostAnswer(result.value, nodeLabel, now());
    if (!answer.ok) return { code: "opencost-odd-answer", message: answer.message, nextStep: checkUrl };
    if (answer.nodes === 0)
      return {
        code: "opencost-no-series",
        message: `has no series of OpenCost with the label ${nodeLabel}`,
        nextStep:
          "Check that it scrapes OpenCost, and prices.openCost.matchers and nodeLabel (exported_node without honor_labels).",
      };
    goodAt = now();
    keep(new Map([...known, ...answer.quoted]));
    return null;
  };

  return {
    ask: async () => {
      fault = await asked();
    },
    quoted: () => {
      if (now() - oldest > maxAgeSeconds) keep(known);
      return known;
    },
    freshness: () => freshnessOf("opencost", goodAt, now(), maxAgeSeconds),
    problems: () => (fault === null ? [] : [faultProblem(server, fault, known.size > 0)]),
    close: () => pool.close(),
  };
}

/** The content of a server's answer about nodes, or why it has none. */
type OpenCostAnswer =
  | {
      readonly ok: true;
      readonly quoted: ReadonlyMap<string, QuotedPrice>;
      /** Number of nodes in the answer, priced or not. */
      readonly nodes: number;
      /** Number of nodes whose GPUs OpenCost does not count, or prices at 0: it does not know what they cost. */
      readonly withoutGpus: number;
    }
  | { readonly ok: false; readonly message: string };

const mostNodes = 100_000;
const mostPerHour = 1_000_000;

/** The prices by node in an answer of `/api/v1/query`; `at` is the time of the answer by Fairlead's clock. Never throws. */
export function readOpenCostAnswer(body: Buffer, nodeLabel: string, at: number): OpenCostAnswer {
  const envelope = readEnvelope(body);
  if (envelope.kind === "refused") return { ok: false, message: `refuses the query: ${shownText(envelope.reason)}` };
  const result = envelope.kind === "success" ? vectorOf(envelope.data) : null;
  if (result === null) return { ok: false, message: "does not answer as Prometheus answers a query" };
  const found = new Map<string, NodeNumbers>();
  for (const entry of result) {
    const series = readSeries(entry);
    if (series !== null) take(found, series, nodeLabel);
  }
  const quoted = new Map<string, QuotedPrice>();
  let withoutGpus = 0;
  for (const [node, { perGpu, perNode, gpus }] of found) {
    // Without the GPUs, the node's total is only that of its CPU and memory.
    if (gpus === 0 || perGpu === 0) withoutGpus += 1;
    else if (perGpu !== null || perNode !== null) quoted.set(node, { perGpuHour: perGpu, perNodeHour: perNode, at });
  }
  return { ok: true, quoted, nodes: found.size, withoutGpus };
}

interface NodeNumbers {
  perGpu: number | null;
  perNode: number | null;
  gpus: number | null;
}

function take(found: Map<string, NodeNumbers>, { metric, value }: Series, nodeLabel: string): void {
  const node = labelOf(metric, nodeLabel) ?? "";
  const name = labelOf(metric, "__name__");
  if (node === "" || node.length > 253 || !(value >= 0) || value > mostPerHour) return;
  const known = found.get(node) ?? { perGpu: null, perNode: null, gpus: null };
  if (name === openCostMetrics.perGpu) known.perGpu = value;
  else if (name === openCostMetrics.perNode) known.perNode = value;
  else if (name === openCostMetrics.gpus) known.gpus = value;
  else return;
  if (found.size < mostNodes) found.set(node, known);
}

/** Names of the series of OpenCost that are read (opencost/opencost pkg/costmodel/metrics.go). */
const openCostMetrics = {
  /** Price of each GPU of the node, per hour. */
  perGpu: "node_gpu_hourly_cost",
  /** Price of the node with its CPUs, memory and GPUs, per hour. */
  perNode: "node_total_hourly_cost",
  /** Number of GPUs that OpenCost counts on the node. */
  gpus: "node_gpu_count",
} as const;

/** The series that are requested, and the label that names the node. */
interface OpenCostScope {
  readonly matchers: Readonly<Record<string, string>>;
  readonly nodeLabel: string;
}

/** One instant query. `max by` leaves one series for each node and metric where a server scrapes two replicas of OpenCost. */
export function openCostQuery({ matchers, nodeLabel }: OpenCostScope): string {
  const names = Object.values(openCostMetrics).join("|");
  return `max by(__name__,${nodeLabel})({${[`__name__=~"${names}"`, ...matcherTexts(matchers)].join(",")}})`;
}

/** The URL of the query. */
export function openCostUrl(base: string, scope: OpenCostScope, timeoutSeconds: number): string {
  const query = encodeURIComponent(openCostQuery(scope));
  return queryUrl(base, "query", `query=${query}&timeout=${Math.ceil(timeoutSeconds)}s`);
}

function faultProblem(server: string, { code, message, nextStep }: Fault, isUsable: boolean): Problem {
  const effect = isUsable ? "its last prices stay in use" : "its prices are unknown";
  return {
    source: "prices",
    code,
    severity: "warning",
    subject: server,
    message: `${server} ${message}; ${effect}`,
    nextStep,
  };
}
