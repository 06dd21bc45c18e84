import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningPrometheus } from "../../../cli/demo/prometheus.ts";
import { queryAccounts } from "../../../exporter/accounts/ledger/queryAccounts.ts";
import type {
  History,
  TotalsAnswer,
  TotalsDimension,
  TotalsQuestion,
  TotalsRow,
} from "../../../exporter/history/history.ts";
import { createLedgerHistory } from "../../../exporter/history/ledgerHistory.ts";
import { createPrometheusHistory } from "../../../exporter/history/prometheusHistory.ts";
import { isoDay } from "../../../exporter/kernel/isoTime.ts";
import { ledgerOf } from "../../accounts/ledger/memoryLedger.ts";
import { hasPrometheus, hasVictoriaMetrics } from "../../e2e/scrapedByPrometheus.ts";
import { clientOf } from "./client.ts";
import {
  ledgerEntries,
  lifecycle,
  oneAfterTheOther,
  type Process,
  type ScrapedValue,
  scrapedValues,
  secondReplica,
} from "./lifecycle.ts";
import { prometheusWith, victoriaMetricsWith } from "./servers.ts";
import { type TrueGroup, type Truth, truthOf } from "./truth.ts";

const hour = 3600;
const day = 86_400;

interface Implementation {
  readonly name: string;
  readonly isThere: boolean;
  /** What a scrape at each end of a process and a window cannot see; nothing for a ledger. */
  readonly isScraped: boolean;
  readonly processes: readonly Process[];
  readonly start: () => Promise<{ readonly history: History; readonly stop: () => Promise<void> }>;
}

const server = (
  name: string,
  isThere: boolean,
  start: (values: readonly ScrapedValue[]) => Promise<RunningPrometheus>,
  processes = oneAfterTheOther,
): Implementation => ({
  name,
  isThere,
  isScraped: true,
  processes,
  async start() {
    const { url, stop } = await start(onceScraped(processes));
    const scope = { cluster: "harbor", matchers: { job: "fairlead" } };
    return { history: createPrometheusHistory({ client: clientOf(url), scope, now: () => lifecycle.to + hour }), stop };
  },
});

/** Servers are given the same lifecycle, and asked the same. */
const valuesOf = new Map<readonly Process[], readonly ScrapedValue[]>();
const truths = new Map<string, Truth>();

function onceScraped(processes: readonly Process[]): readonly ScrapedValue[] {
  const values = valuesOf.get(processes) ?? scrapedValues(processes);
  valuesOf.set(processes, values);
  return values;
}

function onceTrue(question: TotalsQuestion, processes: readonly Process[]): Truth {
  const key = JSON.stringify([question, processes]);
  const truth = truths.get(key) ?? truthOf(question, processes);
  truths.set(key, truth);
  return truth;
}

const both = [...oneAfterTheOther, ...secondReplica];
const isPrometheusThere = hasPrometheus();
const isVictoriaMetricsThere = hasVictoriaMetrics();

const implementations: readonly Implementation[] = [
  {
    name: "ledger",
    isThere: true,
    isScraped: false,
    processes: oneAfterTheOther,
    async start() {
      const db = ledgerOf(ledgerEntries());
      const history = createLedgerHistory("ledger.db", async (query) => queryAccounts(db, query));
      return { history, stop: async () => db.close() };
    },
  },
  server("Prometheus", isPrometheusThere, prometheusWith),
  server("Prometheus, with two replicas", isPrometheusThere, prometheusWith, both),
  server("VictoriaMetrics", isVictoriaMetricsThere, victoriaMetricsWith),
  server("VictoriaMetrics, with two replicas", isVictoriaMetricsThere, victoriaMetricsWith, both),
];

const windows = {
  "all three days": { from: lifecycle.from, to: lifecycle.to },
  "a day with two replicas": { from: lifecycle.from + day, to: lifecycle.from + 2 * day },
  "hours with a restart in place": { from: lifecycle.from + 8 * hour, to: lifecycle.from + 12 * hour },
  "an hour with a restart as another pod": { from: lifecycle.from + 26 * hour, to: lifecycle.from + 27 * hour },
  "over a midnight": { from: lifecycle.from + 22 * hour, to: lifecycle.from + 27 * hour },
  "before and after all": { from: lifecycle.from - 2 * day, to: lifecycle.to + hour },
} as const;

const groupings: readonly (readonly TotalsDimension[])[] = [
  [],
  ["state"],
  ["day", "team"],
  ["state", "team", "queue", "pool", "capacityType", "priorityClass"],
  ["pool"],
];

const filters: readonly TotalsQuestion["where"][] = [
  {},
  { team: ["a", "b (x|y)"] },
  { team: [""], state: ["free", "unavailable"] },
  { pool: ["a100"] },
  { capacityType: [""] },
  { queue: ["b.q"], priorityClass: [""] },
];

describe.each(implementations)("history of three known days: $name", ({ isThere, isScraped, processes, start }) => {
  let history: History;
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    if (isThere) ({ history, stop } = await start());
  });
  afterAll(async () => await stop());

  const answerOf = async (question: TotalsQuestion): Promise<TotalsAnswer> => {
    const result = await history.totals(question);
    if (!result.ok) throw new Error(`${result.error} -> ${result.nextStep}`);
    return result.answer;
  };

  describe.each(Object.entries(windows))("%s", (_, { from, to }) => {
    it.skipIf(!isThere).each(groupings.map((by) => [by] as const))("by %j: every group, and only those", async (by) => {
      const { rows, coveredSeconds } = await answerOf({ from, to, by, where: {} });
      const truth = onceTrue({ from, to, by, where: {} }, processes);
      expectAlike(rows, truth, isScraped);
      const allowed = isScraped ? 0.01 * truth.coveredSeconds + truth.unseenSeconds : 1e-6;
      expect(Math.abs(coveredSeconds - truth.coveredSeconds)).toBeLessThanOrEqual(allowed);
    });
  });

  it.skipIf(!isThere).each(filters)("only what is asked for: %j", async (where) => {
    const question = { ...windows["all three days"], by: ["state", "team"] as const, where };
    const { rows } = await answerOf(question);
    expect(rows.length).toBeGreaterThan(0);
    expectAlike(rows, onceTrue(question, processes), isScraped);
  });

  it.skipIf(!isThere)("days are UTC days", async () => {
    const { rows } = await answerOf({ ...windows["over a midnight"], by: ["day"], where: {} });
    expect(rows.map(({ values }) => values[0])).toEqual([isoDay(lifecycle.from), isoDay(lifecycle.from + day)]);
  });

  it.skipIf(!isThere)("a window that ends before it begins is refused with a next step", async () => {
    const result = await history.totals({ from: lifecycle.to, to: lifecycle.from, by: [], where: {} });
    expect(result).toMatchObject({ ok: false, nextStep: "Give a later end." });
  });

  it.skipIf(!isThere)("a name that means something else elsewhere is only a name", async () => {
    const where = { team: ["__proto__", ".*", 'a"} or vector(1) #'] };
    expect((await answerOf({ ...windows["all three days"], by: ["team"], where })).rows).toEqual([]);
  });
});

/** Every group within 1 % and one scrape at each end of the window and of each process. */
function expectAlike(rows: TotalsAnswer["rows"], truth: Truth, isScraped: boolean): void {
  const found = new Map(rows.map((row) => [JSON.stringify(row.values), row]));
  for (const key of found.keys()) expect([...truth.groups.keys()]).toContain(key);
  for (const [key, wanted] of truth.groups) {
    const row = found.get(key);
    const allowed = isScraped ? 0.01 * wanted.gpuSeconds + wanted.unseen : 1e-6 * wanted.gpuSeconds;
    const off = Math.abs((row?.gpuSeconds ?? 0) - wanted.gpuSeconds);
    expect(off, `${key} GPU-seconds`).toBeLessThanOrEqual(allowed);
    if (row !== undefined && wanted.gpuSeconds > 0) expectSameMoney(row, wanted, allowed / wanted.gpuSeconds, key);
  }
}

function expectSameMoney(row: TotalsRow, wanted: TrueGroup, part: number, key: string): void {
  for (const [currency, cost] of wanted.costs)
    expect(Math.abs((row.costs[currency] ?? 0) - cost), `${key} ${currency}`).toBeLessThanOrEqual(part * cost + 1e-6);
  for (const currency of Object.keys(row.costs)) expect([...wanted.costs.keys()]).toContain(currency);
  if (row.unpricedGpuSeconds === null) return;
  const off = Math.abs(row.unpricedGpuSeconds - wanted.unpricedGpuSeconds);
  expect(off, `${key} without a price`).toBeLessThanOrEqual(part * wanted.gpuSeconds + 1e-6);
}
