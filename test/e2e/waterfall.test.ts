import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playCluster } from "../../cli/demo/playCluster.ts";
import type { RunningPrometheus } from "../../cli/demo/prometheus.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { openToQuery } from "../../exporter/accounts/ledger/openToQuery.ts";
import { queryAccounts } from "../../exporter/accounts/ledger/queryAccounts.ts";
import type { Config } from "../../exporter/config/schema.ts";
import type { History } from "../../exporter/history/history.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import { createPrometheusHistory } from "../../exporter/history/prometheusHistory.ts";
import { askWaterfall, type WaterfallAnswer, type WaterfallStage } from "../../exporter/history/waterfall.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";
import { clientOf } from "../history/contract/client.ts";
import type { ScrapedValue } from "../history/contract/lifecycle.ts";
import { prometheusWith, victoriaMetricsWith } from "../history/contract/servers.ts";
import { startAt, teamsByNamespaceLabel } from "./accounting.ts";
import { hasPrometheus, hasVictoriaMetrics } from "./scrapedByPrometheus.ts";

const folder = mkdtempSync(path.join(tmpdir(), "fairlead-waterfall-"));
const config: Config = { ...teamsByNamespaceLabel("harbor"), ledger: ledgerSettings() };
const stepSeconds = config.interval;
const hour = 3600;

function ledgerSettings(): NonNullable<Config["ledger"]> {
  return { path: path.join(folder, "ledger.db"), hourlyDays: 400, dailyDays: 400, workloadDays: 400 };
}

/** What a server scraped of the page after each cycle, seven seconds later. */
const scraped: ScrapedValue[] = [];

/** A process of Fairlead over the same ledger; what a server calls it changes with its pod. */
async function live(from: number, to: number, pod: string): Promise<void> {
  const prepared = await prepareLedger(config);
  if (!prepared.ok || prepared.output === null) throw new Error("the ledger cannot be opened");
  const cluster = await playCluster({
    scenario: demoScenario(),
    seed: 7,
    startAt: from,
    config,
    stack: { ledger: prepared.output },
  });
  await cluster.step(0);
  note(cluster.stack.latest()?.page, from + 7, pod);
  for (let at = from + stepSeconds; at <= to; at += stepSeconds) {
    await cluster.step(stepSeconds);
    note(cluster.stack.latest()?.page, at + 7, pod);
  }
  await cluster.stop();
  await prepared.output.close();
}

const counters = /^(fairlead_(?:gpu_seconds|cost|unpriced_gpu_seconds|covered_seconds)_total)\{(.*)\} (\S+)$/gm;

function note(page: Buffer | undefined, at: number, pod: string): void {
  for (const [, metric = "", labels = "", value] of (page?.toString() ?? "").matchAll(counters)) {
    const own = [...labels.matchAll(/(\w+)="([^"\\]*)"/g)].map(([, name = "", text = ""]) => [name, text] as const);
    const given = Object.fromEntries(own.filter(([, text]) => text !== ""));
    scraped.push({
      metric,
      labels: { ...given, job: "fairlead", instance: `${pod}:10836`, pod },
      at,
      value: Number(value),
    });
  }
}

const begin = startAt;
const end = startAt + 3 * hour;

describe("a waterfall of three simulated hours with a restart", () => {
  let ledger: WaterfallAnswer;
  const window = { from: begin, to: end, where: {} };

  const answerOf = async (history: History, where = {}): Promise<WaterfallAnswer> => {
    const result = await askWaterfall(history, { ...window, where });
    if (!result.ok) throw new Error(`${result.error} -> ${result.nextStep}`);
    return result.answer;
  };

  function askLedger(): History {
    const opened = openToQuery(config.ledger?.path ?? "");
    if (!opened.ok) throw new Error(opened.problem.message);
    return createLedgerHistory("ledger.db", async (query) => queryAccounts(opened.db, query));
  }

  beforeAll(async () => {
    await live(begin, begin + 1.5 * hour, "fairlead-1");
    await live(begin + 1.5 * hour + 180, end, "fairlead-2");
    ledger = await answerOf(askLedger());
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("is all GPUs of the cluster for the time that is covered, and closes at every level", () => {
    expect(ledger.coveredSeconds).toBe(end - begin - 180);
    const [capacity] = ledger.stages;
    expect(capacity?.gpuSeconds).toBeCloseTo(176 * ledger.coveredSeconds, 3);
    for (const [i, { gpuSeconds, drops }] of ledger.stages.entries()) {
      const below = ledger.stages[i + 1]?.gpuSeconds ?? gpuSeconds;
      const lost = drops.reduce((sum, drop) => sum + drop.gpuSeconds, 0);
      expect(below + lost).toBeCloseTo(gpuSeconds, 6);
    }
    expect(ledger.stages.flatMap(({ drops }) => drops).length).toBeGreaterThan(4);
    expect(capacity?.costs.USD).toBeGreaterThan(0);
  });

  const servers = [
    { name: "Prometheus", isThere: hasPrometheus(), start: prometheusWith },
    { name: "VictoriaMetrics", isThere: hasVictoriaMetrics(), start: victoriaMetricsWith },
  ];

  describe.each(servers)("$name", ({ isThere, start }) => {
    let server: RunningPrometheus;
    let history: History;
    beforeAll(async () => {
      if (!isThere) return;
      server = await start(scraped);
      const scope = { cluster: "harbor", matchers: {} };
      history = createPrometheusHistory({ client: clientOf(server.url), scope, now: () => end + hour });
    });
    afterAll(async () => {
      if (isThere) await server.stop();
    });

    it.skipIf(!isThere)("is the ledger's within 1 % and one scrape at each end", async () => {
      const found = await answerOf(history);
      for (const [i, wanted] of ledger.stages.entries()) expectSameStage(found.stages[i], wanted);
      expect(Math.abs(found.coveredSeconds - ledger.coveredSeconds)).toBeLessThanOrEqual(4 * stepSeconds);
      if (found.unpricedGpuSeconds !== null)
        expectNear(found.unpricedGpuSeconds, ledger.unpricedGpuSeconds ?? 0, "without a price");
    });

    it.skipIf(!isThere)("of one pool: the ledger's, too", async () => {
      const where = { pool: [poolOf(scraped)] };
      const [wanted, found] = [await answerOf(askLedger(), where), await answerOf(history, where)];
      expect(wanted.stages[0]?.gpuSeconds).toBeGreaterThan(0);
      expect(wanted.stages[0]?.gpuSeconds).toBeLessThan(ledger.stages[0]?.gpuSeconds ?? 0);
      for (const [i, { level, gpuSeconds }] of wanted.stages.entries())
        expectNear(found.stages[i]?.gpuSeconds ?? 0, gpuSeconds, level);
    });
  });

  function expectSameStage(found: WaterfallStage | undefined, wanted: WaterfallStage): void {
    expect(found?.level).toBe(wanted.level);
    for (const drop of wanted.drops) {
      const same = found?.drops.find(
        ({ state, isAllocated }) => state === drop.state && isAllocated === drop.isAllocated,
      );
      expectNear(same?.gpuSeconds ?? 0, drop.gpuSeconds, `${wanted.level} ${drop.state}`);
    }
    expect(Object.keys(found?.costs ?? {})).toEqual(Object.keys(wanted.costs));
    for (const [currency, cost] of Object.entries(wanted.costs))
      expectNear(found?.costs[currency] ?? 0, cost, `${wanted.level} ${currency}`);
    expectNear(found?.gpuSeconds ?? 0, wanted.gpuSeconds, wanted.level);
  }

  /** Within 1 %, and one scrape at each end of both processes, of what there is of it on average. */
  function expectNear(found: number, wanted: number, what: string): void {
    const scrapes = (4 * stepSeconds * wanted) / ledger.coveredSeconds;
    // A state of a few minutes may be at an end as a whole.
    const least = 2 * stepSeconds;
    expect(Math.abs(found - wanted), `${what}: ${found}, ledger ${wanted}`).toBeLessThanOrEqual(
      0.01 * wanted + scrapes + least,
    );
  }
});

function poolOf(values: readonly ScrapedValue[]): string {
  return values.find(({ labels }) => labels.pool !== undefined)?.labels.pool ?? "";
}
