import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Costs, type CostView, costsOf } from "../../exporter/history/costs.ts";
import type { TotalsRow } from "../../exporter/history/history.ts";
import { gpuStates } from "../../exporter/model/gpuStates.ts";

const row = (team: string, state: string, costs: Readonly<Record<string, number>>): TotalsRow => ({
  values: [team, state],
  gpuSeconds: 100,
  costs,
  unpricedGpuSeconds: 0,
});

const view: CostView = { by: ["team"], charge: "allocation", notCharged: ["unavailable"], sharesUnallocated: false };

const rows = [
  row("a", "active", { USD: 60 }),
  row("a", "idle", { USD: 30 }),
  row("a", "unavailable", { USD: 5 }),
  row("b", "active", { USD: 10 }),
  row("", "free", { USD: 50 }),
];

describe("costs of a window", () => {
  it("by allocation: what was allocated, and what nobody held stays with the platform", () => {
    expect(costsOf(rows, view)).toEqual({
      items: [
        { values: ["a"], allocatedGpuSeconds: 300, costs: { USD: { charged: 90, platform: 5, shared: 0 } } },
        { values: ["b"], allocatedGpuSeconds: 100, costs: { USD: { charged: 10, platform: 0, shared: 0 } } },
      ],
      unallocated: { USD: 50 },
      bill: { USD: 155 },
    });
  });

  it("by use: only what was active", () => {
    const { items } = costsOf(rows, { ...view, charge: "use" });
    expect(items.map(({ costs }) => costs.USD)).toEqual([
      { charged: 60, platform: 35, shared: 0 },
      { charged: 10, platform: 0, shared: 0 },
    ]);
  });

  it("shared: what nobody held goes to who held most, 90 : 10", () => {
    const { items, unallocated } = costsOf(rows, { ...view, sharesUnallocated: true });
    expect(items.map(({ costs }) => costs.USD?.shared)).toEqual([45, 5]);
    expect(unallocated).toEqual({ USD: 0 });
  });

  it("stays with the platform when there is nobody to share it", () => {
    expect(costsOf([row("", "free", { USD: 50 })], { ...view, sharesUnallocated: true })).toEqual({
      items: [],
      unallocated: { USD: 50 },
      bill: { USD: 50 },
    });
  });

  it("all parts add up to the bill, in each currency, whatever the view", () => {
    const drawn = fc.array(
      fc
        .tuple(
          fc.constantFrom("", "a", "b", "__proto__"),
          fc.constantFrom(...gpuStates),
          fc.constantFrom("USD", "EUR", "__proto__"),
          fc.integer({ min: 0, max: 100_000 }),
        )
        .map(([team, state, currency, cost]) => row(team, state, Object.fromEntries([[currency, cost]]))),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(drawn, fc.constantFrom("allocation", "use"), fc.boolean(), (all, charge, sharesUnallocated) => {
        const found = costsOf(all, { ...view, charge, sharesUnallocated });
        for (const currency of ["USD", "EUR", "__proto__"]) {
          const bill = all.reduce(
            (sum, { costs }) => sum + (Object.hasOwn(costs, currency) ? (costs[currency] ?? 0) : 0),
            0,
          );
          expect(found.bill[currency] ?? 0).toBe(bill);
          expect(partsOf(found, currency)).toBeCloseTo(bill, 6);
        }
      }),
      { seed: 3 },
    );
  });
});

function partsOf({ items, unallocated }: Costs, currency: string): number {
  return items.reduce((sum, { costs }) => {
    const parts = costs[currency];
    return parts === undefined ? sum : sum + parts.charged + parts.platform + parts.shared;
  }, unallocated[currency] ?? 0);
}
