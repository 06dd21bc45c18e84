import type { Auth } from "../../config/prometheusSchema.ts";
import type { Pod } from "../../model/pod.ts";
import type { Problem } from "../../model/problem.ts";
import type { ServingPage } from "../../model/serving.ts";
import type { GetResult } from "../http/getResult.ts";
import { readEnvelope, vectorOf } from "../http/prometheusApi.ts";
import { createRounds } from "../http/rounds.ts";
import { shownAddress, shownText } from "../http/shownText.ts";
import { freshnessOf } from "../port.ts";
import { pagesOfSeries, servingUrl } from "./serverSeries.ts";
import type { ServingSource, ServingSourceOptions } from "./servingSource.ts";

/** A server with the HTTP API of Prometheus that scrapes inference servers. */
export interface ServingServerSettings {
  /** The part of the address before `/api/v1`. */
  readonly url: string;
  readonly auth: Auth;
  readonly caFile?: string | undefined;
  readonly insecureSkipVerify: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly matchers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

export interface ServerSourceOptions extends Omit<ServingSourceOptions, "targets"> {
  readonly server: ServingServerSettings;
  /** Returns the pods that hold or request GPUs. */
  readonly pods: () => readonly Pick<Pod, "uid" | "namespace" | "name">[];
}

const leastMaxAgeSeconds = 60;

/**
 * Asks a Prometheus server for what it scraped from inference servers, once in each interval. A sample that it still shows may
 * be five minutes old, so a request is noticed later by at most that time; a lack of requests is never noticed too early.
 */
export function createServingServerSource(options: ServerSourceOptions): ServingSource {
  const { server, pool, now, intervalSeconds, schedule } = options;
  const { auth, insecureSkipVerify, headers } = server;
  const maxAgeSeconds = Math.max(leastMaxAgeSeconds, 3 * intervalSeconds);
  const name = shownAddress(server.url);
  const request = {
    url: servingUrl(server.url, server.matchers, server.timeoutSeconds),
    auth,
    caFile: server.caFile ?? null,
    insecureSkipVerify,
    headers,
  };
  let pages: readonly ServingPage[] = [];
  let goodAt: number | null = null;
  let problems: readonly Problem[] = [];

  function take(result: GetResult<readonly unknown[] | string>, at: number): void {
    const answer = result.ok ? result.value : result.message;
    if (typeof answer === "string") {
      problems = [serverFails(name, answer)];
      return;
    }
    const found = pagesOfSeries(answer, options.pods(), at);
    pages = found.pages;
    goodAt = at;
    problems = [
      ...(found.pages.length === 0 ? [nothingFound(name, found.ofOthers)] : []),
      ...(found.unread > 0 ? [unreadSeries(name, found.unread)] : []),
    ];
  }

  const rounds = createRounds({
    ask: async (endedAt) => take(await pool.get(request, seriesIn), endedAt()),
    pool,
    intervalSeconds,
    now,
    schedule,
  });

  return {
    name: "serving-prometheus",
    ...rounds,
    read: () => ({ pages: goodAt !== null && now() - goodAt <= maxAgeSeconds ? pages : [] }),
    freshness: () => [freshnessOf(name, goodAt, now(), maxAgeSeconds)],
    problems: () => problems,
  };
}

/** The series of an answer, or a text that describes what is wrong with it. */
function seriesIn(bytes: Buffer): readonly unknown[] | string {
  const envelope = readEnvelope(bytes);
  if (envelope.kind === "refused") return `it refuses the query: ${shownText(envelope.reason)}`;
  if (envelope.kind !== "success") return "its answer is not what Prometheus answers to a query";
  return vectorOf(envelope.data) ?? "its answer is not a vector";
}

function problem(server: string, code: string, message: string, nextStep: string): Problem {
  return { source: "serving-prometheus", code, severity: "warning", subject: server, message, nextStep };
}

const serverFails = (server: string, because: string): Problem =>
  problem(
    server,
    "serving-server-failed",
    `${server} does not say what servers publish about requests: ${because}; whether they have requests is unknown`,
    "Check serving.prometheus (url, auth, matchers), and ask the same query by hand.",
  );

const nothingFound = (server: string, ofOthers: number): Problem =>
  problem(
    server,
    "serving-server-no-series",
    ofOthers === 0
      ? `${server} has no series of a server; that is no data, not idle GPUs`
      : `${server} has ${ofOthers} series of servers, but none whose labels namespace and pod name a pod with GPUs`,
    "Look at the server's targets page: does it scrape your servers, with labels namespace and pod of the pod? See docs/serving.md.",
  );

const unreadSeries = (server: string, series: number): Problem =>
  problem(
    server,
    "serving-server-unread-series",
    `${series} series of ${server} are not what Prometheus answers, or are more than are read; they are left out`,
    "Select this cluster's series by serving.prometheus.matchers.",
  );
