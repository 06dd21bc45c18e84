import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { firstPrice, pricesInForce } from "../../../exporter/analysis/prices/listedPrices.ts";
import type { ListedPrice } from "../../../exporter/model/prices.ts";
import { parsePriceFile, readPriceFile } from "../../../exporter/sources/prices/readPriceFile.ts";

const bad = path.join(import.meta.dirname, "bad");
const example = path.join(import.meta.dirname, "../../../prices.example.yaml");

const rejected: Readonly<Record<string, readonly string[]>> = {
  "bad-day": [
    'date: found "2026-02-30", expected a day such as 2026-10-01, or a time such as 2026-10-01T00:00:00Z',
    'prices[0].validFrom: found "next week", expected a day such as 2026-10-01, or a time such as 2026-10-01T00:00:00Z',
  ],
  "bad-names": [
    "currency: expected a short word such as USD",
    'prices[0].capacityType: found "on_demand", expected one of on-demand, spot, reserved',
    'prices[0].basis: found "gpu", expected one of whole-instance, gpu-share',
    'prices[0].instance_type: unknown setting, did you mean "instanceType"?',
  ],
  free: ["prices[0].perNodeHour: found 0, expected more than 0"],
  "no-date": [
    "prices[0].date: missing, expected the day on which the price was last checked, here or once for the whole file (date: 2026-10-01)",
  ],
  "no-list": ["prices: found a map, expected a list"],
  "no-price": ["prices[0]: has no price, expected perNodeHour or perGpuHour"],
  "not-yaml": [],
  "price-as-text": ['prices[0].perNodeHour: found "55,04", expected a number'],
  repeated: [
    "prices[2]: is for the same nodes as prices[0], which is before it, expected other nodes, another capacityType or another validFrom",
  ],
  "two-prices": ["prices[0]: has both perNodeHour and perGpuHour, expected one of them"],
};

describe("a file that is wrong", () => {
  test("every file in bad/ is tried", () => {
    expect(readdirSync(bad).sort()).toEqual(Object.keys(rejected).map((name) => `${name}.yaml`));
  });

  test.each(Object.entries(rejected))("%s", async (name, lines) => {
    const read = await readPriceFile(path.join(bad, `${name}.yaml`));
    if (read.ok) throw new Error("accepted");
    const found = read.errors.map((error) => (error.path === "" ? error.message : `${error.path}: ${error.message}`));
    if (name === "not-yaml") expect(found[0]).toMatch(/^line \d+, column \d+: /);
    else expect(found).toEqual(lines);
  });

  test("a file that is not there", async () => {
    expect(await readPriceFile(path.join(bad, "none.yaml"))).toMatchObject({ ok: false });
  });
});

describe("a good file", () => {
  const pricesIn = (text: string): readonly ListedPrice[] => {
    const parsed = parsePriceFile(text, "prices.yaml");
    if (!parsed.ok) throw new Error(parsed.errors[0]?.message);
    return parsed.value;
  };

  test("what an entry does not say is the file's, or the default", () => {
    const text =
      "date: 2026-10-01\ncurrency: EUR\nprices:\n  - perGpuHour: 2\n  - provider: aws\n    perNodeHour: 3\n    currency: USD\n";
    expect(pricesIn(text)).toMatchObject([
      {
        source: "file",
        currency: "EUR",
        basis: "whole-instance",
        capacityType: "on-demand",
        date: Date.UTC(2026, 9, 1) / 1000,
        origin: "prices.yaml",
        perGpuHour: 2,
        perNodeHour: null,
        validFrom: null,
      },
      { currency: "USD", perGpuHour: null, perNodeHour: 3 },
    ]);
  });

  test("an entry's date comes before its validFrom, that before the file's", () => {
    const dates =
      "  - {perGpuHour: 1, validFrom: 2026-03-01, date: 2026-04-01, provider: a}\n  - {perGpuHour: 1, validFrom: 2026-03-01}\n";
    const [first, second] = pricesIn(`date: 2026-01-01\nprices:\n${dates}`);
    expect([first?.date, second?.date]).toEqual([Date.UTC(2026, 3, 1) / 1000, Date.UTC(2026, 2, 1) / 1000]);
  });

  test("a time with a zone is that moment", () => {
    expect(pricesIn("prices: [{perGpuHour: 1, validFrom: '2026-03-01T02:00:00+02:00'}]")[0]?.validFrom).toBe(
      Date.UTC(2026, 2, 1) / 1000,
    );
  });

  test("a label called __proto__ is a label", () => {
    const [price] = pricesIn("date: 2026-10-01\nprices: [{perGpuHour: 1, labels: {constructor: x}}]");
    expect(Object.entries(price?.nodes.labels ?? {})).toEqual([["constructor", "x"]]);
  });
});

describe("prices.example.yaml", () => {
  const at = Date.UTC(2026, 10, 21) / 1000;
  const node = { instanceType: null, gpuModels: [], provider: null, region: null, nodePool: "unknown", labels: {} };

  async function perGpu(
    parts: Partial<Parameters<typeof firstPrice>[1]>,
    gpus: number,
    more: { capacityType?: ListedPrice["capacityType"]; at?: number; basis?: ListedPrice["basis"] } = {},
  ) {
    const read = await readPriceFile(example);
    if (!read.ok) throw new Error(JSON.stringify(read.errors));
    const prices = pricesInForce(read.value, more.at ?? at);
    const found = firstPrice(
      prices,
      { ...node, ...parts },
      more.capacityType ?? "on-demand",
      more.basis ?? "whole-instance",
    );
    if (found === null) return null;
    return `${found.perGpuHour ?? (found.perNodeHour ?? 0) / gpus} ${found.currency} ${found.basis}`;
  }

  const p5 = { instanceType: "p5.48xlarge", gpuModels: ["H100-80GB-HBM3"] };

  test("prices what its comments say", async () => {
    expect(await perGpu(p5, 8)).toBe("5.16 USD whole-instance");
    expect(await perGpu(p5, 8, { at: Date.UTC(2026, 11, 31, 23) / 1000 })).toBe("5.16 USD whole-instance");
    expect(await perGpu(p5, 8, { at: Date.UTC(2027, 0, 1) / 1000 })).toBe("4.8 USD whole-instance");
    expect(await perGpu(p5, 8, { capacityType: "spot" })).toBe("2.25 USD whole-instance");
    expect(await perGpu(p5, 8, { capacityType: "reserved" })).toBe("3.9325 USD whole-instance");
    expect(await perGpu({ ...p5, labels: { "example.com/owner": "lab-7" } }, 8)).toBe("2.1 USD whole-instance");
    const g6 = { instanceType: "g6.12xlarge", gpuModels: ["L4"] };
    expect(await perGpu({ ...g6, region: "eu-west-1" }, 4)).toBe("1.15 USD whole-instance");
    expect(await perGpu({ ...g6, region: "us-east-1" }, 4)).toBe("0.62 USD gpu-share");
    expect(await perGpu({ ...g6, region: "eu-west-1" }, 4, { basis: "gpu-share" })).toBe("0.62 USD gpu-share");
    expect(await perGpu({ gpuModels: ["A100-SXM4-80GB"], nodePool: "dc-east" }, 8)).toBe("1.45 EUR whole-instance");
    expect(await perGpu({ gpuModels: ["A100-SXM4-80GB"] }, 8)).toBeNull();
  });
});
