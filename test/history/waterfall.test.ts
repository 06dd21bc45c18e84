import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TotalsRow } from "../../exporter/history/history.ts";
import { waterfallOf } from "../../exporter/history/waterfall.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";

const row = (
  state: string,
  team: string,
  gpuSeconds: number,
  costs: Readonly<Record<string, number>> = {},
): TotalsRow => ({
  values: [state, team],
  gpuSeconds,
  costs,
  unpricedGpuSeconds: 0,
});

describe("a waterfall", () => {
  it("goes from capacity to active, and names what each step loses", () => {
    const { stages } = waterfallOf([
      row("active", "a", 100, { USD: 10 }),
      row("active", "b", 50, { EUR: 4 }),
      row("underutilized", "a", 20, { USD: 2 }),
      row("idle", "b", 30, { USD: 3 }),
      row("gang_wait", "b", 5),
      row("free", "", 200, { USD: 20 }),
      row("unavailable", "", 7, { USD: 0.7 }),
      row("unavailable", "a", 8, { USD: 0.8 }),
    ]);
    expect(stages.map(({ level, gpuSeconds }) => [level, gpuSeconds])).toEqual([
      ["capacity", 420],
      ["ready", 405],
      ["allocated", 205],
      ["started", 200],
      ["active", 150],
    ]);
    expect(
      stages.map(({ drops }) => drops.map(({ state, isAllocated, gpuSeconds }) => [state, isAllocated, gpuSeconds])),
    ).toEqual([
      [
        ["unavailable", false, 7],
        ["unavailable", true, 8],
      ],
      [["free", false, 200]],
      [["gang_wait", true, 5]],
      [
        ["idle", true, 30],
        ["underutilized", true, 20],
      ],
      [],
    ]);
    expect(stages[0]?.costs).toEqual({ EUR: 4, USD: 36.5 });
    expect(stages.at(-1)?.costs).toEqual({ EUR: 4, USD: 10 });
  });

  it("what has no price is unknown where any part of it is, unless the whole is known", () => {
    const unknown = { ...row("active", "a", 10), unpricedGpuSeconds: null };
    expect(waterfallOf([unknown]).unpricedGpuSeconds).toBeNull();
    expect(waterfallOf([unknown], 4).unpricedGpuSeconds).toBe(4);
    expect(waterfallOf([{ ...unknown, unpricedGpuSeconds: 3 }], 4).unpricedGpuSeconds).toBe(3);
  });

  it("of nothing is nothing at every level", () => {
    expect(waterfallOf([]).stages.map(({ gpuSeconds }) => gpuSeconds)).toEqual([0, 0, 0, 0, 0]);
  });

  it("leaves nothing out and counts nothing twice, whatever the rows are", () => {
    const rows = fc.array(
      fc.record({
        state: fc.constantFrom(...gpuStates),
        team: fc.constantFrom("", "a", "b", "__proto__"),
        gpuSeconds: fc.integer({ min: 0, max: 1_000_000 }),
        cost: fc.integer({ min: 0, max: 1000 }),
        currency: fc.constantFrom("USD", "EUR", "__proto__"),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(rows, (drawn) => {
        const all = drawn.map(({ state, team, gpuSeconds, cost, currency }) =>
          row(state, team, gpuSeconds, Object.fromEntries([[currency, cost]])),
        );
        const { stages } = waterfallOf(all);
        expect(stages[0]?.gpuSeconds).toBe(drawn.reduce((sum, { gpuSeconds }) => sum + gpuSeconds, 0));
        for (const currency of ["USD", "EUR", "__proto__"]) {
          const bill = drawn.reduce((sum, one) => sum + (one.currency === currency ? one.cost : 0), 0);
          expect(stages[0]?.costs[currency] ?? 0).toBe(bill);
        }
        for (const [i, stage] of stages.entries()) {
          const below = stages[i + 1]?.gpuSeconds ?? stage.gpuSeconds;
          expect(stage.drops.reduce((sum, drop) => sum + drop.gpuSeconds, below)).toBe(stage.gpuSeconds);
        }
      }),
      { seed: 11 },
    );
  });
});
