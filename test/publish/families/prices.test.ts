import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { nothingPriced } from "../../../exporter/analysis/prices/prices.ts";
import { pricesMetrics } from "../../../exporter/catalogue/prices.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { at, health } from "../moment.ts";
import { readPage } from "../readPage.ts";
import { nodePrice, pricedMoment, priceGroup } from "./priceListMoment.ts";

/** Values of one metric by the values of its labels, `cluster` left out. */
function series(analysis: Analysis, name: string): Readonly<Record<string, number>> {
  const page = renderPage(
    buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } }).families,
  );
  return Object.fromEntries(
    readPage(page.toString("utf8"))
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [
        [...labels].flatMap(([label, text]) => (label === "cluster" ? [] : [text])).join(" "),
        value,
      ]),
  );
}

describe("the page", () => {
  test("has every metric of prices, with formula and example", () => {
    for (const [name, { formula, example }] of Object.entries(pricesMetrics)) {
      expect(Object.keys(series(pricedMoment, name)), name).not.toEqual([]);
      expect(formula.length * example.length, name).toBeGreaterThan(0);
    }
  });

  test("has each price by its source, basis and currency", () => {
    expect(series(pricedMoment, "fairlead_price_per_gpu_hour")).toEqual({
      "H100 train p5.48xlarge on-demand USD whole-instance table": 6.88,
      "H100 train p5.48xlarge on-demand USD whole-instance file": 5.16,
      "H100 train p5.48xlarge on-demand EUR whole-instance file": 4,
    });
  });

  test("of several prices with the same labels has their mean, weighted by GPUs", () => {
    const groups = [priceGroup(), priceGroup({ physicalGpus: 48, price: nodePrice({ perGpuHour: 2.88 }) })];
    const analysis = { ...pricedMoment, prices: { byNode: new Map(), groups } };
    const [mean] = Object.values(series(analysis, "fairlead_price_per_gpu_hour"));
    expect(mean).toBeCloseTo((16 * 6.88 + 48 * 2.88) / 64, 12);
  });

  test("has the age of the oldest price of each source and currency, and how many GPUs have a stale one", () => {
    expect(series(pricedMoment, "fairlead_price_age_seconds")).toEqual({
      "table USD": 10_713_600,
      "file USD": 864_000,
      "file EUR": 10_713_600,
    });
    expect(series(pricedMoment, "fairlead_stale_price_gpus")).toEqual({ H100: 16 });
  });

  test("has the GPUs without a price, by the reason", () => {
    expect(series(pricedMoment, "fairlead_unpriced_gpus")).toEqual({
      "H100 train spot no-price-for-capacity-type": 8,
      "L4 unknown unknown no-price": 4,
    });
  });

  test("a date to come is no negative age", () => {
    const prices = { byNode: new Map(), groups: [priceGroup({ price: nodePrice({ date: at + 3600 }) })] };
    expect(series({ ...pricedMoment, prices }, "fairlead_price_age_seconds")).toEqual({ "table USD": 0 });
  });

  test("has nothing of prices where there is none", () => {
    for (const name of Object.keys(pricesMetrics))
      expect(series({ ...pricedMoment, prices: nothingPriced }, name)).toEqual({});
  });
});

describe("the document", () => {
  const document = buildDocument(pricedMoment);
  const pool = (name: string) => document.pools.find((record) => record.pool === name);

  test("is of its schema", () => {
    expect(documentSchema.safeParse(document).error).toBeUndefined();
  });

  test("gives a pool the mean of its prices in the currency of most of its GPUs, and what has none", () => {
    expect(pool("H100")?.price).toEqual({
      perGpuHour: expect.closeTo((16 * 6.88 + 8 * 5.16) / 24, 12),
      perHour: expect.closeTo(16 * 6.88 + 8 * 5.16, 9),
      gpus: 24,
      currency: "USD",
      basis: "whole-instance",
      source: null,
      date: new Date((at - 124 * 86_400) * 1000).toISOString(),
      isStale: true,
    });
    expect([pool("H100")?.unpricedGpus, pool("L4")?.price, pool("L4")?.unpricedGpus]).toEqual([8, null, 4]);
  });

  test("gives a node its price; null where nobody knows", () => {
    const nodes = document.nodes.map(({ name, pricePerHour, currency }) => [name, pricePerHour, currency]);
    expect(nodes).toEqual([
      ["h100-01", 55.04, "USD"],
      ["l4-01", null, null],
    ]);
  });

  test("lists every price with its nodes, and nodes without one with the reason", () => {
    expect(document.prices).toHaveLength(5);
    expect(document.prices[0]).toMatchObject({
      pool: "H100",
      physicalGpus: 16,
      unpriced: null,
      price: { origin: "a list" },
    });
    expect(document.prices[4]).toMatchObject({ pool: "L4", price: null, unpriced: "no-price" });
  });
});
