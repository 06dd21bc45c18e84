import { afterAll, beforeAll, expect, it } from "vitest";
import { type UnpackedPast, unpackPast } from "../../../../cli/demo/past/unpackPast.ts";
import { demoStartAt } from "../../../../cli/demo/startDemo.ts";
import { createReviewOutput } from "../../../../cli/review/reviewOutput.ts";
import { createLedgerReader, type LedgerReader } from "../../../../exporter/accounts/ledger/ledgerReader.ts";
import { budgetDays } from "../../../../exporter/history/budget.ts";
import { createLedgerHistory } from "../../../../exporter/history/ledgerHistory.ts";
import { askWaterfall } from "../../../../exporter/history/waterfall.ts";
import { demoScenario } from "../../../../simulator/scenarios/demo.ts";

const week = 7 * 86_400;
const monday = Date.parse("2026-11-09T00:00:00Z") / 1000;
const physicalGpus = 176;

let past: UnpackedPast;
let reader: LedgerReader;
beforeAll(() => {
  past = unpackPast();
  reader = createLedgerReader(past.ledgerPath);
});
afterAll(async () => {
  await reader.close();
  past.remove();
});

it("the states of the last whole week add up to all GPUs of the demo at all times", async () => {
  const result = await reader.query({
    from: monday,
    to: monday + week,
    groupBy: ["state"],
    where: new Map(),
    limit: 100,
  });
  if (!result.ok) throw new Error(result.error);
  const { coverage, rows } = result.answer;
  expect(coverage.coveredSeconds).toBe(week);
  const sum = rows.reduce((all, { gpuSeconds }) => all + gpuSeconds, 0);
  expect(sum / (physicalGpus * week)).toBeCloseTo(1, 9);
  const amounts = Object.fromEntries(rows.map(({ values: [state = null], gpuSeconds }) => [state, gpuSeconds]));
  for (const state of ["active", "idle", "underutilized", "free", "cordoned"])
    expect(amounts[state], state).toBeGreaterThan(0);
});

it("the review of the last whole week is covered and has all teams of the demo", async () => {
  const history = createLedgerHistory("the demo's past", reader.query);
  const output = createReviewOutput(
    { cluster: "harbor", history, accounts: reader, budgets: [], notCharged: [] },
    () => demoStartAt + 3600,
  );
  const asked = { week: "2026-W46", month: null, from: null, to: null, team: null, compare: 1 } as const;
  const json = await output.write({ ...asked, format: "json" });
  if (!json.ok) throw new Error(json.error);
  const review = JSON.parse(json.body);
  expect(review.coverage.ratio).toBe(1);
  expect(review.coverage.gaps).toEqual([]);
  const teams = demoScenario().namespaces.flatMap(({ team }) => (team === null ? [] : [team]));
  for (const team of teams) expect(json.body).toContain(`"team": "${team}"`);
  const markdown = await output.write({ ...asked, format: "markdown" });
  if (!markdown.ok) throw new Error(markdown.error);
  expect(markdown.body).toContain("Covered: 100");
});

it("the waterfall of the last whole week begins with all GPUs, and each level is the next one and its losses", async () => {
  const history = createLedgerHistory("the demo's past", reader.query);
  const result = await askWaterfall(history, { from: monday, to: monday + week, where: {} });
  if (!result.ok) throw new Error(result.error);
  const { stages } = result.answer;
  expect((stages[0]?.gpuSeconds ?? 0) / (physicalGpus * week)).toBeCloseTo(1, 9);
  expect(stages.at(-1)?.gpuSeconds).toBeGreaterThan(0);
  for (const [i, { level, gpuSeconds, drops }] of stages.entries()) {
    const lost = drops.reduce((sum, drop) => sum + drop.gpuSeconds, 0);
    const next = stages[i + 1]?.gpuSeconds ?? gpuSeconds - lost;
    expect((next + lost) / gpuSeconds, level).toBeCloseTo(1, 9);
  }
});

it("the days of the demo's month are all known, as its budgets need them", async () => {
  const history = createLedgerHistory("the demo's past", reader.query);
  const first = Date.parse("2026-11-01T00:00:00Z") / 1000;
  const days = await budgetDays(history, first, demoStartAt, ["ads"]);
  if ("error" in days) throw new Error(days.error);
  expect(days.map(({ from, to, coveredSeconds }) => coveredSeconds - (to - from))).toEqual(days.map(() => 0));
  expect(days).toHaveLength(16);
});
