import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonChunks, jsonText } from "../../../exporter/publish/document/jsonText.ts";
import type { Explanation } from "../../../exporter/publish/explain/schema.ts";
import { askApp } from "../askApp.ts";

const written = (value: unknown): unknown => JSON.parse(jsonText({ value })).value;

describe("a number in JSON", () => {
  test.each([
    ["what adding up leaves", 8.000000000000002, 8],
    ["a sum of tenths", 0.1 + 0.2, 0.3],
    ["money", 110.07999999999998, 110.08],
    ["a third", 1 / 3, 0.333333333333],
    ["what is left of nothing", 0.3 - 0.2 - 0.1, 0],
    ["less than nothing", -2.7755575615628914e-17, 0],
  ])("%s has the digits that mean something", (_what, number, text) => {
    expect(written(number)).toBe(text);
  });

  test.each([0, 1, -4, 1_099_511_627_776, 85_899_345_920, Number.MAX_SAFE_INTEGER, 0.375, 312.25, 6.88])(
    "%s stays as it is",
    (number) => {
      expect(written(number)).toBe(number);
    },
  );

  test("is off by nothing that matters, whatever it is", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (number) => {
        expect(Math.abs(Number(written(number)) - number)).toBeLessThanOrEqual(Math.abs(number) * 1e-11 + 1e-12);
      }),
    );
  });

  test("in pieces is the same", async () => {
    const document = {
      items: Array.from({ length: 1200 }, (_, i) => ({ gpus: i + 0.1 + 0.2 })),
      sum: 8.000000000000002,
    };
    let text = "";
    for await (const chunk of jsonChunks(document)) text += chunk;
    expect(JSON.parse(text)).toEqual(JSON.parse(jsonText(document)));
    expect(text).toContain('"sum":8}');
  });

  test("of the API is no other", async () => {
    const explanation: Explanation = {
      kind: "node",
      name: "a",
      cluster: "default",
      at: "2026-11-21T12:00:00Z",
      facts: [],
      localQueues: [],
      entitlements: [],
      parts: [],
      problems: [],
      coverage: { since: "2026-11-21T11:00:00Z", coveredSeconds: 0.1 + 0.2, gaps: [] },
    };
    const { body } = await askApp("/api/v1/explain?kind=node&name=a", {
      explain: () => ({ ok: true, explanation }),
    });
    expect(body).toMatchObject({ coverage: { coveredSeconds: 0.3 } });
  });
});
