import type { Config } from "../../config/schema.ts";
import type { QuotedPrice } from "../../model/prices.ts";
import type { Problem } from "../../model/problem.ts";
import type { GetPool } from "../http/getPool.ts";
import { shownAddress } from "../http/shownAddress.ts";
import type { Freshness } from "../port.ts";
import { readOpenCostAnswer } from "./openCostAnswer.ts";
import { openCostUrl } from "./openCostQuery.ts";

/** Where OpenCost's series are, and how they are read; `prices.openCost` of the configuration. */
export type OpenCostSettings = NonNullable<Config["prices"]["openCost"]>;

/** The prices that OpenCost says. */
export interface OpenCostReader {
  /** Asks once. Never rejects. */
  ask(): Promise<void>;
  /** By node, none older than `maxAgeSeconds`. */
  quoted(): ReadonlyMap<string, QuotedPrice>;
  freshness(): Freshness;
  problems(): readonly Problem[];
  close(): Promise<void>;
}

/** What was wrong with the last answer. */
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
    freshness: () => ({
      part: "opencost",
      ageSeconds: goodAt === null ? null : Math.max(0, now() - goodAt),
      fresh: goodAt !== null && now() - goodAt <= maxAgeSeconds,
    }),
    problems: () => (fault === null ? [] : [faultProblem(server, fault, known.size > 0)]),
    close: () => pool.close(),
  };
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
