import {
  type History,
  type TotalsAnswer,
  type TotalsQuestion,
  type TotalsResult,
  tooManyGroups,
  wrongWindow,
} from "./history.ts";
import type { PrometheusClient } from "./prometheusClient.ts";
import { type Chunk, type CountedDay, dayChunks, totalsOfDay } from "./prometheusDay.ts";
import type { SeriesScope } from "./prometheusQueries.ts";
import { type CountedQueueDay, queueTotalsOfDay } from "./prometheusQueueDay.ts";
import { type QueueTotalsQuestion, type QueueTotalsResult, sumQueueTotals } from "./queueHistory.ts";
import { createTotalsSum, type TotalsSum } from "./totalsSum.ts";

type Failure = Extract<TotalsResult, { readonly ok: false }>;

/** The series that belong to this cluster, and the server that has them. */
interface PrometheusHistoryOptions {
  readonly client: PrometheusClient;
  readonly scope: SeriesScope;
  /** The current time in seconds since the epoch; the time after it is not queried. */
  readonly now: () => number;
}

/** The most questions that may be running; more would pile up at the server. */
const maxUnderWay = 8;
const maxGroups = 100_000;

/**
 * The history that a server with Prometheus' HTTP API keeps of Fairlead's counters. A window is queried day by day: the total
 * of each day is the increase of the counters within it, and only those of one process count wherever several cover the same
 * time. What counters counted before their first or after their last scrape in a window is included as far as the server's
 * `increase` extrapolates it.
 */
export function createPrometheusHistory({ client, scope, now }: PrometheusHistoryOptions): History {
  const days = createSettledDays<CountedDay, Failure>(now, ({ parts }) => parts.length);
  const queueDays = createSettledDays<CountedQueueDay, Failure>(now, ({ parts }) => parts.length);
  let underWay = 0;

  async function totals(question: TotalsQuestion): Promise<TotalsResult> {
    const to = Math.min(question.to, Math.floor(now()));
    const wrong = wrongWindow({ from: question.from, to });
    if (wrong !== null) return wrong;
    const sum = createTotalsSum();
    let coveredSeconds = 0;
    const clusters = new Set<string>();
    let isUnpricedKnown = true;
    let groups = 0;
    for (const chunk of dayChunks(question.from, to)) {
      const asked = [question.by, Object.entries(question.where).sort()];
      const result = await days(asked, chunk, () => totalsOfDay(client, scope, chunk, question));
      if (!result.ok) return result;
      const { day } = result;
      coveredSeconds += day.coveredSeconds;
      for (const cluster of day.clusters) clusters.add(cluster);
      isUnpricedKnown &&= day.isUnpricedKnown;
      groups += day.parts.length;
      if (groups > maxGroups * 3) return tooManyGroups(maxGroups);
      addDay(sum, day, question, chunk);
    }
    if (clusters.size === 0) return nothingFound(client.name, scope);
    if (clusters.size > 1) return severalClusters(client.name, [...clusters]);
    const answer: TotalsAnswer = { rows: sum.rows(isUnpricedKnown), coveredSeconds, from: question.from, to };
    return answer.rows.length > maxGroups ? tooManyGroups(maxGroups) : { ok: true, answer };
  }

  async function queueTotals({ from, to: end, team }: QueueTotalsQuestion): Promise<QueueTotalsResult> {
    const to = Math.min(end, Math.floor(now()));
    const wrong = wrongWindow({ from, to });
    if (wrong !== null) return wrong;
    const parts: CountedQueueDay["parts"][number][] = [];
    const clusters = new Set<string>();
    for (const chunk of dayChunks(from, to)) {
      const result = await queueDays(team, chunk, () => queueTotalsOfDay(client, scope, chunk, team));
      if (!result.ok) return result;
      for (const part of result.day.parts) parts.push(part);
      for (const cluster of result.day.clusters) clusters.add(cluster);
    }
    if (clusters.size === 0) return nothingFound(client.name, scope);
    return clusters.size > 1 ? severalClusters(client.name, [...clusters]) : { ok: true, rows: sumQueueTotals(parts) };
  }

  /** Runs a query, unless too many are running. */
  async function inTurn<Result>(ask: () => Promise<Result>): Promise<Result | Failure> {
    if (underWay >= maxUnderWay) {
      return {
        ok: false,
        error: `too many questions are waiting for ${client.name}`,
        nextStep: "Ask again in a minute.",
      };
    }
    underWay += 1;
    try {
      return await ask();
    } finally {
      underWay -= 1;
    }
  }

  return {
    name: client.name,
    kind: "prometheus",
    totals: (question) => inTurn(() => totals(question)),
    queues: { queueTotals: (question) => inTurn(() => queueTotals(question)) },
  };
}

/** A day, or the reason why it is not known. */
type Asked<Day, Failure> = { readonly ok: true; readonly day: Day } | Failure;

/** Seconds after which a day that is over does not change any more; samples may come late. */
const settledAfterSeconds = 7200;
const keptSeconds = 21_600;
const maxKeptParts = 50_000;

/** Keeps the answers about days that are over, so that they are queried once; `partsOf` is the size of a day. */
function createSettledDays<Day, Failure extends { readonly ok: false }>(
  now: () => number,
  partsOf: (day: Day) => number,
) {
  const kept = new Map<string, { readonly at: number; readonly day: Day }>();
  let keptParts = 0;

  function forget(key: string): void {
    const known = kept.get(key);
    if (known !== undefined) keptParts -= partsOf(known.day);
    kept.delete(key);
  }

  /** Returns the day as it was answered lately, or as `ask` answers now. */
  return async (
    question: unknown,
    chunk: Chunk,
    ask: () => Promise<Asked<Day, Failure>>,
  ): Promise<Asked<Day, Failure>> => {
    const key = JSON.stringify([chunk.from, chunk.to, question]);
    const known = kept.get(key);
    if (known !== undefined && now() - known.at < keptSeconds) return { ok: true, day: known.day };
    const result = await ask();
    if (!result.ok || chunk.to > now() - settledAfterSeconds) return result;
    forget(key);
    kept.set(key, { at: now(), day: result.day });
    keptParts += partsOf(result.day);
    for (const oldest of kept.keys()) {
      if (keptParts <= maxKeptParts && kept.size <= maxKeptParts) break;
      forget(oldest);
    }
    return result;
  };
}

function addDay(sum: TotalsSum, day: CountedDay, { by }: TotalsQuestion, chunk: Chunk): void {
  for (const part of day.parts) {
    let next = 0;
    const values = by.map((dimension) => (dimension === "day" ? chunk.day : (part.values[next++] ?? "")));
    sum.add({ ...part, values });
  }
}

function nothingFound(name: string, { cluster, matchers }: SeriesScope): Failure {
  const asked = Object.entries({ ...(cluster === null ? {} : { cluster }), ...matchers })
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(", ");
  return {
    ok: false,
    isEmpty: true,
    error: `${name} has no fairlead_covered_seconds_total{${asked}} in this window; that is no data, not idle GPUs`,
    nextStep:
      "Look at the server's targets page (does it scrape Fairlead, with honor_labels: true where it adds a label cluster?), at history.prometheus.matchers, and at how long the server keeps samples.",
  };
}

function severalClusters(name: string, clusters: readonly string[]): Failure {
  const shown = clusters.slice(0, 3).map((cluster) => cluster.slice(0, 60));
  return {
    ok: false,
    error: `${name} has ${clusters.length} clusters in this window (${shown.join(", ")}${clusters.length > 3 ? ", ..." : ""})`,
    nextStep: "Name one: cluster in the configuration, or --cluster.",
  };
}
