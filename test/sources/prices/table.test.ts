import { describe, expect, test } from "vitest";
import { canonicalModel } from "../../../exporter/join/gpuModel.ts";
import { gpusOfInstanceType } from "../../../exporter/join/instanceTypes.ts";
import data from "../../../exporter/sources/prices/table.json" with { type: "json" };
import { tablePrices, tableRows } from "../../../exporter/sources/prices/table.ts";

describe("the table of list prices", () => {
  test("every row of the data is a price", () => {
    expect(tableRows).toHaveLength(data.prices.length);
    expect(tablePrices).toHaveLength(data.prices.length);
    expect(data.prices.length).toBeGreaterThan(100);
  });

  test("every source is used, and says where and when", () => {
    const used = new Set(data.prices.map((row) => row[5]));
    expect([...used].sort()).toEqual(Object.keys(data.sources).sort());
    for (const { origin } of tableRows) expect(origin.length).toBeGreaterThan(10);
  });

  test("no instance type twice, no model of a provider twice", () => {
    const keys = tableRows.map((row) => row.instanceType ?? `${row.provider} ${row.gpuModel}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("prices per GPU are in the range of real ones: no sentinel, no 0, no instance price taken for a GPU's", () => {
    for (const { perNodeHour, gpus, instanceType } of tableRows) {
      const perGpu = perNodeHour / gpus;
      expect(perGpu, instanceType ?? "").toBeGreaterThan(0.4);
      expect(perGpu, instanceType ?? "").toBeLessThan(30);
    }
  });

  test("one model costs no provider a tenth of another", () => {
    const byModel = Map.groupBy(tableRows, (row) => row.gpuModel);
    for (const [model, rows] of byModel) {
      const perGpu = rows.map((row) => row.perNodeHour / row.gpus);
      expect(Math.max(...perGpu) / Math.min(...perGpu), model).toBeLessThan(10);
    }
  });

  test("dates are those of this table's making", () => {
    for (const { date } of tableRows) {
      expect(date).toBeGreaterThanOrEqual(Date.UTC(2026, 5, 1) / 1000);
      expect(date).toBeLessThanOrEqual(Date.UTC(2026, 10, 21) / 1000);
      expect(date % 86_400).toBe(0);
    }
  });

  test("GPU counts are whole, or a part of one card, and those by which nodes are counted", () => {
    const parts = [1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2];
    for (const { gpus, instanceType } of tableRows) {
      const isPart = parts.some((part) => Math.abs(part - gpus) < 1e-4);
      expect(isPart || (Number.isInteger(gpus) && gpus >= 1 && gpus <= 16), instanceType ?? "").toBe(true);
      const counted = gpusOfInstanceType(instanceType ?? undefined);
      if (counted !== null) expect(gpus, instanceType ?? "").toBe(counted);
    }
  });

  test("models are spelt as the cluster's are", () => {
    for (const { gpuModel } of tableRows) expect(canonicalModel(gpuModel)).toBe(gpuModel);
  });

  test("what is not sold on demand, or has no published price, is not there", () => {
    const types = new Set(tableRows.map((row) => row.instanceType));
    for (const absent of ["p5e.48xlarge", "p6e-gb200.36xlarge", "a3-highgpu-1g", "a3-highgpu-4g", "a4-highgpu-8g"])
      expect(types.has(absent)).toBe(false);
    for (const { capacityType, basis, currency } of tablePrices)
      expect([capacityType, basis, currency]).toEqual(["on-demand", "whole-instance", "USD"]);
  });
});
