import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { defaultConfig } from "../../exporter/config/defaults.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";

let played: PlayedCluster | null = null;
beforeAll(async () => {
  const startAt = Date.UTC(2026, 10, 21) / 1000;
  played = await playCluster({ scenario: demoScenario(), seed: 1, startAt, config: defaultConfig });
  await played.step(60);
});
afterAll(() => played?.stop());

describe("the demo's cluster", () => {
  test("has list prices for all but its spot node, each with its source, basis and date", () => {
    const groups = played?.stack.cycle.latest()?.prices.groups ?? [];
    const reported = groups.map(({ pool, instanceType, physicalGpus, price, unpriced }) =>
      [pool, instanceType, physicalGpus, price?.perGpuHour ?? unpriced].join(" "),
    );
    expect(reported.sort()).toEqual([
      "A100-SXM4-80GB p4de.24xlarge 56 3.4308875",
      "A100-SXM4-80GB p4de.24xlarge 8 no-price-for-capacity-type",
      "H100-80GB-HBM3 p5.48xlarge 96 6.88",
      "L4 g6.12xlarge 16 1.1504",
    ]);
    for (const { price } of groups)
      if (price !== null) expect([price.source, price.basis, price.isStale]).toEqual(["table", "whole-instance", true]);
  });

  test("says that its prices are old, and what the spot node lacks", () => {
    const codes = (played?.stack.problems() ?? []).flatMap(({ source, code }) => (source === "prices" ? [code] : []));
    expect(codes).toEqual(["stale-prices", "unpriced-no-price-for-capacity-type"]);
  });

  test("the table is no source of its own that could be down", () => {
    expect(played?.stack.health().sources.map(({ source }) => source)).not.toContain("prices");
  });
});
