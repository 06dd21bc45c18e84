import { describe, expect, it } from "vitest";
import { budgetStatus, type DayTotals } from "../../exporter/history/budget.ts";
import { createBudgetWatch } from "../../exporter/history/budgetWatch.ts";
import type { History, TotalsQuestion, TotalsResult, TotalsRow } from "../../exporter/history/history.ts";

const day = 86_400;
const november = Date.parse("2026-11-01T00:00:00Z") / 1000;
const budget = { team: "ads", perMonth: 60_000, currency: "USD" };
const notCharged = ["unavailable"];

const row = (team: string, state: string, costs: Readonly<Record<string, number>>): TotalsRow => ({
  values: [team, state],
  gpuSeconds: 100,
  costs,
  unpricedGpuSeconds: 0,
});

/** A covered day of 2400 USD, used or not, and 100 USD that nobody pays for. */
const usualRows: readonly TotalsRow[] = [
  row("ads", "active", { USD: 1400 }),
  row("ads", "idle", { USD: 1000 }),
  row("ads", "unavailable", { USD: 100 }),
  row("other", "active", { USD: 7777 }),
];

function days(from: number, count: number, rows = usualRows): readonly DayTotals[] {
  return Array.from({ length: count }, (_, i) => {
    const begin = from + i * day;
    return { from: begin, to: begin + day, coveredSeconds: day, rows };
  });
}

describe("a budget", () => {
  it("counts what the team held in this month, and burns it by the part of the month that has passed", () => {
    const now = november + 20 * day;
    const status = budgetStatus(budget, days(november - 8 * day, 28), now, notCharged);
    expect(status).toMatchObject({ month: "2026-11", spent: 48_000, coveredRatio: 1, otherCurrencies: [] });
    // As docs/metrics.md has it: (48000 / 60000) / (20 / 30), and 48000 + 10 x 2400.
    expect(status.burnRate).toBeCloseTo(1.2, 9);
    expect(status.forecast?.mid).toBeCloseTo(72_000, 6);
  });

  it("is not known where the team's time has no price, and 0 where the team held nothing", () => {
    const now = november + 2 * day;
    const unpriced = days(november, 2, [row("ads", "active", {})]);
    expect(budgetStatus(budget, unpriced, now, [])).toMatchObject({ spent: null, forecast: null, burnRate: null });
    expect(budgetStatus(budget, days(november, 2, []), now, [])).toMatchObject({ spent: 0, burnRate: 0 });
  });

  it("is not known while nothing of the month is covered", () => {
    const before = days(november - 5 * day, 5);
    expect(budgetStatus(budget, before, november + 60, [])).toMatchObject({
      spent: null,
      forecast: null,
      coveredRatio: 0,
    });
  });

  it("adds up no currencies, and names the others", () => {
    const mixed = days(november, 1, [row("ads", "active", { USD: 10, EUR: 99 })]);
    expect(budgetStatus(budget, mixed, november + day, [])).toMatchObject({ spent: 10, otherCurrencies: ["EUR"] });
  });

  it("says how much of the month is covered", () => {
    expect(budgetStatus(budget, days(november, 5), november + 10 * day, []).coveredRatio).toBe(0.5);
  });

  it("of a month in the next year ends with the year", () => {
    const december = Date.parse("2026-12-31T12:00:00Z") / 1000;
    const status = budgetStatus(budget, days(december - 1.5 * day, 1), december, notCharged);
    expect(status.month).toBe("2026-12");
    expect(status.forecast?.mid).toBeCloseTo(2400 + 2400 / 2, 6);
  });
});

describe("the watch over budgets", () => {
  const settings = { budgets: [budget], notCharged };

  function historyOf(answer: (question: TotalsQuestion) => TotalsResult) {
    const asked: TotalsQuestion[] = [];
    const history: History = {
      name: "http://server",
      kind: "prometheus",
      async totals(question) {
        asked.push(question);
        return answer(question);
      },
    };
    return { history, asked };
  }

  const covered = ({ from, to }: TotalsQuestion): TotalsResult => ({
    ok: true,
    answer: { rows: usualRows, coveredSeconds: to - from, from, to },
  });

  it("asks every five minutes, and for days that are over only once", async () => {
    let now = november + 20.5 * day;
    const { history, asked } = historyOf(covered);
    const watch = createBudgetWatch(settings, history, () => now);
    await watch.refreshWhenDue();
    expect(asked.length).toBe(28);
    await watch.refreshWhenDue();
    expect(asked.length).toBe(28);
    now += 300;
    await watch.refreshWhenDue();
    expect(asked.slice(28).map(({ from, to }) => [from, to])).toEqual([[november + 20 * day, now]]);
    expect(watch.latest()?.budgets[0]?.spent).toBe(21 * 2400);
    expect(watch.problems()).toEqual([]);
  });

  it("says that nothing keeps the past, once there are budgets", () => {
    const watch = createBudgetWatch(settings, null, () => november);
    expect(watch.problems()).toMatchObject([{ code: "budgets-without-history" }]);
    expect(createBudgetWatch({ budgets: [], notCharged }, null, () => november).problems()).toEqual([]);
  });

  it("says why the history does not answer, and shows an old answer for an hour", async () => {
    let now = november + 2 * day;
    let isDown = false;
    const down: TotalsResult = { ok: false, error: "http://server: no connection", nextStep: "Start it." };
    const { history } = historyOf((question) => (isDown ? down : covered(question)));
    const watch = createBudgetWatch(settings, history, () => now);
    await watch.refreshWhenDue();
    isDown = true;
    now += 600;
    await watch.refreshWhenDue();
    expect(watch.problems()).toMatchObject([{ code: "budgets-history-failed", nextStep: "Start it." }]);
    expect(watch.latest()).not.toBeNull();
    now += 3600;
    expect(watch.latest()).toBeNull();
  });

  it("takes days about which the history has nothing for days that are not covered", async () => {
    const empty: TotalsResult = { ok: false, isEmpty: true, error: "nothing", nextStep: "Wait." };
    const { history } = historyOf((question) => (question.from < november ? empty : covered(question)));
    const watch = createBudgetWatch(settings, history, () => november + day / 2);
    await watch.refreshWhenDue();
    expect(watch.problems()).toEqual([]);
    expect(watch.latest()?.budgets[0]).toMatchObject({ spent: 2400, forecast: null, coveredRatio: 1 });
  });
});
