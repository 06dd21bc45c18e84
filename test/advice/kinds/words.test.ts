import { describe, expect, it } from "vitest";
import { countWords, durationWords, gpuWords, hourlyCostWords } from "../../../exporter/advice/kinds/words.ts";
import type { NodePrice } from "../../../exporter/analysis/prices/prices.ts";
import { nameWords } from "../../../exporter/kernel/nameWords.ts";
import { now } from "../../join/clusterBuilder.ts";

describe("words", () => {
  it.each([
    [-5, "0 s"],
    [59, "59 s"],
    [60, "1 min"],
    [3599, "59 min"],
    [3600, "1 h"],
    [11_400, "3 h 10 min"],
    [172_800, "2 d"],
  ] as const)("of a duration of %s s", (seconds, words) => {
    expect(durationWords(seconds)).toBe(words);
  });

  it("of a day and some hours", () => {
    expect(durationWords(86_400 + 4 * 3600 + 120)).toBe("1 d 4 h");
  });

  it("of amounts have no more digits than they need", () => {
    expect([gpuWords(8), gpuWords(1 / 7), gpuWords(0.5)]).toEqual(["8", "0.14", "0.5"]);
    expect([countWords(1, "pod"), countWords(3, "pod")]).toEqual(["1 pod", "3 pods"]);
  });

  it("of names end after the third", () => {
    expect(nameWords([])).toBe("");
    expect(nameWords(["a"])).toBe("a");
    expect(nameWords(["a", "b", "c"])).toBe("a, b and c");
    expect(nameWords(["a", "b", "c", "d", "e"])).toBe("a, b, c and 2 more");
  });
});

describe("money", () => {
  const price = (perGpuHour: number, currency: string): NodePrice => ({
    perGpuHour,
    perNodeHour: perGpuHour * 8,
    currency,
    basis: "whole-instance",
    source: "file",
    capacityType: "on-demand",
    date: now,
    isStale: false,
    origin: "contract",
  });
  const prices = {
    byNode: new Map([
      ["a", price(2.5, "USD")],
      ["b", price(2, "EUR")],
    ]),
    groups: [],
  };

  it("is price x GPUs an hour, apart for each currency, of what has a price", () => {
    const gpus = new Map([
      ["a", 8],
      ["b", 1],
      ["unpriced", 100],
    ]);
    expect(hourlyCostWords(prices, gpus)).toBe("2 EUR an hour and 20 USD an hour");
    expect(hourlyCostWords(prices, new Map([["a", 0.5]]))).toBe("1.25 USD an hour");
    expect(hourlyCostWords(prices, new Map([["a", 800_000]]))).toBe("2,000,000 USD an hour");
  });

  it("of nothing is nothing", () => {
    expect(hourlyCostWords(prices, new Map([["unpriced", 1]]))).toBe("");
  });
});
