import type { Auth } from "../../config/prometheusSchema.ts";
import type { Problem } from "../../model/problem.ts";
import type { TelemetryPage } from "../../model/telemetry.ts";
import type { GetPool } from "../http/getPool.ts";
import type { GetResult } from "../http/getResult.ts";
import { createRounds } from "../http/rounds.ts";
import { shownAddress } from "../http/shownText.ts";
import { freshnessOf } from "../port.ts";
import type { BelievedExporters } from "./believedExporters.ts";
import { type DcgmSource, scheduleOnMachine } from "./dcgmSource.ts";
import { frozenAfterSeconds } from "./frozen.ts";
import type { PageLimits } from "./pageShape.ts";
import { errorOf, parseAnswer } from "./prometheusAnswer.ts";
import { pagesOfRows } from "./prometheusPages.ts";
import * as problems from "./prometheusProblems.ts";
import { type QueryScope, telemetryUrl } from "./prometheusQuery.ts";
import { readServerRows } from "./prometheusRows.ts";
import { type NodeMovement, watchMovement } from "./prometheusStandstill.ts";

/** A server with the HTTP API of Prometheus: Prometheus, Thanos, Mimir, VictoriaMetrics. */
export interface PrometheusServer extends QueryScope {
  /** The part of the address before `/api/v1`. */
  readonly url: string;
  readonly auth: Auth;
  readonly caFile: string | null;
  readonly insecureSkipVerify: boolean;
  /** Headers that are sent with each query, such as `X-Scope-OrgID`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

export interface PrometheusSourceOptions {
  readonly server: PrometheusServer;
  /** Sends the requests, with deadline and size cap. The source owns it and closes it on `stop`. */
  readonly pool: GetPool;
  /** The server is asked once in this time. */
  readonly intervalSeconds: number;
  /** The greatest age of a sample that is used: by default 3 intervals, at least 60 s, as for a scraped page. */
  readonly maxSampleAgeSeconds?: number;
  /** The exporter pods that the Kubernetes API shows now, and those that only look like exporters. */
  readonly exporters: () => Pick<BelievedExporters, "pods" | "rejected">;
  /** Names of all nodes; `null` while they are not known. */
  readonly knownNodes: () => ReadonlySet<string> | null;
  readonly limits?: Partial<PageLimits>;
  /** The current time, seconds since the epoch. */
  readonly now: () => number;
  readonly schedule?: (seconds: number, callback: () => void) => () => void;
}

/** The greatest number of rows of one answer, enough for the telemetry of a cluster with 16,000 GPUs of 16 instances. */
const maxRows = 262_144;
const leastMaxAgeSeconds = 60;

/** What is remembered between answers. It is replaced as a whole after each answer. */
interface Memory {
  readonly byNode: ReadonlyMap<string, readonly TelemetryPage[]>;
  /** How long the values of each node have been the same. */
  readonly movements: ReadonlyMap<string, NodeMovement>;
  readonly lastGoodAt: number | null;
  readonly fault: (problems.AnswerFault & { readonly since: number }) | null;
  readonly problems: readonly Problem[];
  readonly wasTried: boolean;
}

/**
 * Asks a server for the telemetry of all exporters that it scrapes, once in each interval. A page's time is that of its scrape,
 * reported by the server and placed on Fairlead's clock by its age, so the two clocks need not agree. A node that an answer
 * lacks (its exporter is down, so the server marks its series stale) keeps its last page up to the age limit, like a target
 * that is scraped directly, and is then unobserved. The same holds for all nodes when the server is down, and for samples that
 * the server still shows within its lookback of five minutes. A server scrapes a frozen exporter as faithfully as any other, so
 * its samples stay young. Therefore their values are compared, as for a target that is scraped directly, and values that never
 * change are no data.
 */
export function createPrometheusSource(options: PrometheusSourceOptions): DcgmSource {
  const { server, pool, now, intervalSeconds } = options;
  const schedule = options.schedule ?? scheduleOnMachine;
  const maxAge = options.maxSampleAgeSeconds ?? Math.max(leastMaxAgeSeconds, 3 * intervalSeconds);
  const url = telemetryUrl(server.url, server, server.timeoutSeconds);
  const name = shownAddress(server.url);
  const { auth, caFile, insecureSkipVerify, headers } = server;
  let memory: Memory = {
    byNode: new Map(),
    movements: new Map(),
    lastGoodAt: null,
    fault: null,
    problems: [],
    wasTried: false,
  };

  const isYoung = ({ receivedAt }: TelemetryPage): boolean => now() - receivedAt <= maxAge;

  const failed = (fault: problems.AnswerFault, at: number): Memory => ({
    ...memory,
    fault: { ...fault, since: memory.fault?.since ?? at },
    problems: [],
    wasTried: true,
  });

  function after(result: GetResult<Buffer>, at: number): Memory {
    if (!result.ok) return failed(problems.requestFailed(result, errorOf(result.body ?? "")), at);
    const answer = parseAnswer(result.value);
    if (!answer.ok) return failed(answer.fault, at);
    if (answer.result.length === 0) return failed(problems.nothingFound(), at);
    const rows = readServerRows(answer.result, server, maxRows);
    const believed = options.exporters();
    const found = pagesOfRows(rows, {
      server: name,
      nodeLabel: server.nodeLabel,
      exporters: believed.pods,
      rejected: believed.rejected,
      knownNodes: options.knownNodes(),
      maxSampleAgeSeconds: maxAge,
      at,
      limits: options.limits,
    });
    const watched = watchMovement(memory.movements, found.byNode, name, frozenAfterSeconds(maxAge));
    const isKept = ([node, pages]: readonly [string, readonly TelemetryPage[]]): boolean =>
      !watched.still.has(node) && pages.some(({ receivedAt }) => at - receivedAt <= maxAge);
    const moving = [...found.byNode]
      .filter(([node]) => !watched.still.has(node))
      .map(([node, pages]) => [node, withMovedAt(pages, watched.movements.get(node))] as const);
    const warnings = answer.warnings.length > 0 ? [problems.incomplete(name, answer.warnings)] : [];
    return {
      byNode: new Map([...[...memory.byNode].filter(isKept), ...moving]),
      movements: watched.movements,
      lastGoodAt: at,
      fault: null,
      problems: [...watched.problems, ...warnings, ...found.problems],
      wasTried: true,
    };
  }

  const rounds = createRounds({
    ask: async (endedAt) => {
      const result = await pool.get({ url, auth, caFile, insecureSkipVerify, headers }, copyOf);
      memory = after(result, endedAt());
    },
    pool,
    intervalSeconds,
    now,
    schedule,
  });

  return {
    name: problems.prometheusSourceName,
    ...rounds,
    read: () => ({
      pages: [...memory.byNode.values()].flat().filter(isYoung),
      targets: 1,
      targetsUp: memory.wasTried && memory.fault === null ? 1 : 0,
    }),
    freshness: () => [freshnessOf(name, memory.lastGoodAt, now(), maxAge)],
    problems: () => (memory.fault === null ? memory.problems : [faultProblem(memory, name, isYoung)]),
  };
}

/** The pages; if they have the same numbers as the ones before, they carry the time since which these are the same. */
function withMovedAt(pages: readonly TelemetryPage[], movement: NodeMovement | undefined): readonly TelemetryPage[] {
  if (movement === undefined || movement.stillPages === 0) return pages;
  return pages.map((page) => ({ ...page, movedAt: movement.movedAt }));
}

/** The bytes of an answer are only valid until they have been read once, and reading them takes several turns. */
const copyOf = (bytes: Buffer): Buffer => Buffer.from(bytes);

function faultProblem(memory: Memory, name: string, isYoung: (page: TelemetryPage) => boolean): Problem {
  const isUsable = [...memory.byNode.values()].some((pages) => pages.some(isYoung));
  const since = new Date((memory.fault?.since ?? 0) * 1000).toISOString();
  const effect = isUsable ? "its last answer is still used" : "the activity of the GPUs that it reports is unknown";
  return {
    source: problems.prometheusSourceName,
    code: memory.fault?.code ?? "server-failed",
    severity: isUsable ? "warning" : "error",
    subject: name,
    message: `${name}: ${memory.fault?.message ?? "no answer"}; failing since ${since}; ${effect}`,
    nextStep: memory.fault?.nextStep ?? "Read the server's log.",
  };
}
