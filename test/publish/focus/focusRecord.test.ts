import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FocusRecord, focusColumns } from "../../../exporter/publish/focus/columns.ts";
import { focusHeading, focusLine, focusRecord, noFocusReason } from "../../../exporter/publish/focus/focusRecord.ts";
import { exportRow } from "./exportRow.ts";

const context = { cluster: "prod", provider: "ACME platform", charge: "allocation" } as const;

/** FOCUS 1.2, tables of columns with feature level "Mandatory": 21 of them; those with `null` may be null. */
const mandatory: Readonly<Record<string, "not null" | "null">> = {
  BilledCost: "not null",
  BillingAccountId: "not null",
  BillingAccountName: "null",
  BillingCurrency: "not null",
  BillingPeriodEnd: "not null",
  BillingPeriodStart: "not null",
  ChargeCategory: "not null",
  ChargeClass: "null",
  ChargeDescription: "null",
  ChargePeriodEnd: "not null",
  ChargePeriodStart: "not null",
  ContractedCost: "not null",
  EffectiveCost: "not null",
  InvoiceIssuerName: "not null",
  ListCost: "not null",
  PricingQuantity: "not null",
  PricingUnit: "not null",
  ProviderName: "not null",
  PublisherName: "not null",
  ServiceCategory: "not null",
  ServiceName: "not null",
};

function record(row = exportRow()): FocusRecord {
  const made = focusRecord(row, context);
  if (made === null) throw new Error("the row has no FOCUS record");
  return made;
}

const amount = fc.double({ min: 1e-6, max: 1e8, noNaN: true });
const rows = fc
  .record({
    gpuSeconds: amount,
    cost: fc.oneof(fc.constant(0), amount),
    active: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ gpuSeconds, cost, active }) => exportRow({ gpuSeconds, cost, activeGpuSeconds: active * gpuSeconds }));

describe("a FOCUS row", () => {
  test("has all mandatory columns, the specification's order, and its own columns last", () => {
    expect(Object.keys(mandatory)).toHaveLength(21);
    expect(focusColumns).toEqual(expect.arrayContaining(Object.keys(mandatory)));
    const own = focusColumns.filter((column) => column.startsWith("x_"));
    const theirs = focusColumns.filter((column) => !column.startsWith("x_"));
    expect(focusColumns).toEqual([...theirs.toSorted(), ...own.toSorted()]);
    expect(focusHeading).toBe(`${focusColumns.join(",")}\r\n`);
  });

  test("says what a job held, used and cost on a day", () => {
    expect(record()).toMatchObject({
      BilledCost: 0,
      EffectiveCost: 2359.68,
      ListUnitPrice: 12.29,
      PricingQuantity: 192,
      PricingUnit: "GPU-Hours",
      ConsumedQuantity: 96,
      BillingPeriodStart: "2026-11-01T00:00:00Z",
      BillingPeriodEnd: "2026-12-01T00:00:00Z",
      ChargePeriodStart: "2026-11-02T00:00:00Z",
      ChargePeriodEnd: "2026-11-03T00:00:00Z",
      ResourceId: "prod/ads-jobs/Job/train",
      ResourceType: "Job",
      SkuPriceId: "H100/gpu%2Flarge/on-demand",
      SubAccountId: "ads",
      SubAccountType: "Team",
      PricingCategory: "Standard",
      x_EnergyKilowattHours: 1000,
    });
  });

  test("leaves to the platform what nobody is charged for, and says who held it", () => {
    const free = record(
      exportRow({
        team: null,
        queue: null,
        namespace: null,
        priorityClass: null,
        workload: null,
        state: "free",
        isCharged: false,
      }),
    );
    expect(free).toMatchObject({ SubAccountId: null, SubAccountType: null, ResourceType: "NodePool", Tags: "{}" });
    expect(free.ChargeDescription).toBe("H100 GPU time that was allocated to nobody (free)");
    const idle = record(exportRow({ state: "idle", isCharged: false }));
    expect(idle).toMatchObject({ SubAccountId: null, x_Team: "ads", x_State: "idle" });
  });

  test("billing periods end with the year", () => {
    expect(record(exportRow({ from: 1_798_675_200 }))).toMatchObject({
      BillingPeriodStart: "2026-12-01T00:00:00Z",
      BillingPeriodEnd: "2027-01-01T00:00:00Z",
    });
  });

  test("has no null where there must be none, and costs that are quantity times unit price", () => {
    fc.assert(
      fc.property(rows, (row) => {
        const made = record(row);
        for (const [column, rule] of Object.entries(mandatory)) {
          const value = Object.entries(made).find(([name]) => name === column)?.[1];
          expect(rule === "null" || (value !== null && value !== "")).toBe(true);
        }
        const quantity = Number(made.PricingQuantity);
        expect(quantity * Number(made.ListUnitPrice)).toBe(made.ListCost);
        expect(quantity * Number(made.ContractedUnitPrice)).toBe(made.ContractedCost);
        expect(Math.abs(Number(made.EffectiveCost) - (row.cost ?? 0))).toBeLessThanOrEqual(1e-11 * (row.cost ?? 0));
        expect(Number(made.ConsumedQuantity)).toBeLessThanOrEqual(quantity * (1 + 1e-11));
        expect(focusLine(made)).not.toMatch(/,-?\d[\d.]*e[-+]?\d+,/);
      }),
      { seed: 11 },
    );
  });

  test("does not exist for time without a price, nor in a currency that ISO 4217 does not have", () => {
    expect(focusRecord(exportRow({ cost: null, currency: null }), context)).toBeNull();
    expect(noFocusReason(exportRow({ cost: null, currency: null }))).toBe("unpriced");
    expect(noFocusReason(exportRow({ currency: "credits" }))).toBe("currency");
  });

  test("quotes text, and writes whole numbers as decimals", () => {
    const cells = focusLine(record(exportRow({ nodePool: 'a "b", c' })));
    expect(cells).toContain(',"a ""b"", c",');
    expect(cells.startsWith("0.0,prod,prod,USD,")).toBe(true);
    expect(cells.endsWith("\r\n")).toBe(true);
  });
});
