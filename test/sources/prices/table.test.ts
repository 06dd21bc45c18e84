import { describe, expect, test } from "vitest";
import { canonicalModel } from "../../../exporter/join/gpuModel.ts";
import { gpusOfInstanceType, modelOfInstanceType } from "../../../exporter/join/instanceTypes.ts";
import data from "../../../exporter/sources/prices/table.json" with { type: "json" };
import { type TableRow, tablePrices, tableRows } from "../../../exporter/sources/prices/table.ts";

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

  test("GPU counts are whole, or a part of one GPU, and those by which nodes are counted", () => {
    const parts = [1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2];
    for (const { gpus, instanceType } of tableRows) {
      const isPart = parts.some((part) => Math.abs(part - gpus) < 1e-4);
      expect(isPart || (Number.isInteger(gpus) && gpus >= 1 && gpus <= 16), instanceType ?? "").toBe(true);
      const counted = gpusOfInstanceType(instanceType ?? undefined);
      if (counted !== null) expect(gpus, instanceType ?? "").toBe(counted);
    }
  });

  test("every whole NVIDIA GPU that has a price is known by its instance type, with the same model", () => {
    const others = /^MI3\d\dX$/;
    const isPart = ({ gpus }: TableRow) => gpus < 1;
    const parts = tableRows.filter(isPart).map(({ instanceType }) => instanceType);
    expect(parts).toEqual([
      "g6f.2xlarge",
      "g6f.4xlarge",
      "g6f.large",
      "g6f.xlarge",
      "Standard_NV6ads_A10_v5",
      "Standard_NV12ads_A10_v5",
      "Standard_NV18ads_A10_v5",
      "g4-standard-6",
      "g4-standard-12",
      "g4-standard-24",
    ]);
    for (const row of tableRows) {
      const { instanceType, gpuModel, gpus } = row;
      if (instanceType === null) continue;
      const isKnown = !isPart(row) && !others.test(gpuModel);
      expect([gpusOfInstanceType(instanceType), modelOfInstanceType(instanceType)], instanceType).toEqual(
        isKnown ? [gpus, gpuModel] : [null, null],
      );
    }
  });

  test("prices that a person looked up", () => {
    const looked = new Map(tableRows.map((row) => [row.instanceType, row.perNodeHour]));
    // Linux: Azure's own table has 0.046 per vCPU more for Windows.
    expect(looked.get("Standard_NC48ads_A100_v4")).toBe(2 * 3.673);
    expect(looked.get("Standard_NC96ads_A100_v4")).toBe(4 * 3.673);
    expect(looked.get("Standard_NC80adis_H100_v5")).toBe(2 * 6.98);
    // An eighth, a quarter and half of a3-highgpu-8g.
    expect(looked.get("a3-highgpu-8g")).toBe(88.49);
    expect(looked.get("a3-highgpu-1g")).toBeCloseTo(88.49 / 8, 3);
    expect(looked.get("a3-highgpu-4g")).toBeCloseTo(88.49 / 2, 3);
    // Oracle's price list: 10 for each H100, 16 for each GB200, 3.05 for each A100 of 40 GB.
    expect(looked.get("BM.GPU.H100.8")).toBe(80);
    expect(looked.get("BM.GPU.GB200.4")).toBe(64);
    expect(looked.get("BM.GPU4.8")).toBe(24.4);
  });

  test("a price is of the region that its source names; Oracle, CoreWeave and Lambda have one everywhere", () => {
    for (const { provider, region, origin } of tableRows) {
      if (["aws", "azure", "gcp"].includes(provider)) expect(origin).toContain(` ${region}`);
      else expect(region, provider).toBeNull();
    }
  });

  test("models are spelt as the cluster's are", () => {
    for (const { gpuModel } of tableRows) expect(canonicalModel(gpuModel)).toBe(gpuModel);
  });

  test("what is not sold on demand, or has no published price, is not there", () => {
    const types = new Set(tableRows.map((row) => row.instanceType));
    for (const absent of ["p5e.48xlarge", "p6e-gb200.36xlarge", "a4-highgpu-8g", "a4x-highgpu-4g"])
      expect(types.has(absent)).toBe(false);
    for (const { capacityType, basis, currency } of tablePrices)
      expect([capacityType, basis, currency]).toEqual(["on-demand", "whole-instance", "USD"]);
  });
});
