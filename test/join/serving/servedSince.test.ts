import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CounterReadings, servedSince } from "../../../exporter/join/serving/servedSince.ts";
import type { ServingCounter, ServingRecord } from "../../../exporter/model/serving.ts";
import { readServingPage } from "../../../exporter/sources/serving/readPage.ts";

/** A page whose counters of tokens are these, by what distinguishes them. */
function pageOf(tokens: Readonly<Record<string, number>>): ServingRecord {
  const counters = Object.entries(tokens).flatMap(([key, value]): readonly ServingCounter[] => [
    { counts: "requests", key: `requests ${key}`, value: Math.floor(value / 10) },
    { counts: "generated", key: `generated ${key}`, value },
  ]);
  const generatedTokens = Object.values(tokens).reduce((sum, value) => sum + value, 0);
  const gauges = { running: 0, waiting: 0, isEmpty: true, isAsleep: false } as const;
  return { servers: ["vllm"], ...gauges, finished: 1, promptTokens: null, generatedTokens, counters };
}

/** Generated tokens that are counted at each look; `null`: nothing is known. */
function countedOf(pages: readonly (Readonly<Record<string, number>> | null)[]): readonly (number | null)[] {
  let readings: CounterReadings | undefined;
  return pages.map((tokens) => {
    if (tokens === null) return null;
    const found = servedSince(readings, pageOf(tokens));
    readings = found.readings;
    return found.served?.generatedTokens ?? null;
  });
}

describe("what was done since the look before", () => {
  test("is nothing at the first look, and the increase at the next ones, lost pages included", () => {
    expect(countedOf([{ a: 1000 }, { a: 1200 }, null, { a: 1500 }])).toEqual([null, 200, null, 300]);
  });

  test("does not count an engine again that was missing for a while, as a sum would", () => {
    expect(countedOf([{ a: 1000, b: 9000 }, { a: 1100 }, { a: 1100, b: 9050 }])).toEqual([null, 100, 50]);
  });

  test("does not count the others again when one engine restarts", () => {
    expect(
      countedOf([
        { a: 1000, b: 9000 },
        { a: 20, b: 9010 },
        { a: 30, b: 9010 },
      ]),
    ).toEqual([null, 10, 10]);
  });

  test("of a new model is what it does from its first look on", () => {
    expect(countedOf([{ a: 1000 }, { a: 1000, b: 700 }, { a: 1000, b: 750 }])).toEqual([null, 0, 50]);
  });

  test("begins anew where the page comes from another place, so that nothing is counted in both", () => {
    const [direct, other] = [{ 'model="m"': 1000 }, { '[["model","m"]]': 1000 }];
    expect(countedOf([direct, other, { '[["model","m"]]': 1400 }, { 'model="m"': 1500 }])).toEqual([
      null,
      null,
      400,
      null,
    ]);
  });

  test("follows the counters of a page one by one, the largest of copies", () => {
    const text = (ended: number, other: number) =>
      [
        `vllm:request_success_total{engine="0",finished_reason="stop"} ${ended}`,
        `vllm:request_success_total{engine="1",finished_reason="stop"} 7`,
        `vllm:generation_tokens_total{engine="0",tp_rank="0"} ${10 * ended}`,
        `vllm:generation_tokens_total{engine="0",tp_rank="1"} ${10 * ended - 5}`,
        ...(other > 0 ? [`vllm:generation_tokens_total{engine="1"} ${other}`] : []),
        "",
      ].join("\n");
    let readings: CounterReadings | undefined;
    const served = [text(5, 900), text(6, 0), text(6, 930)].map((page) => {
      const read = readServingPage(Buffer.from(page));
      if (!read.ok) throw new Error(read.because);
      const found = servedSince(readings, read.record);
      readings = found.readings;
      return found.served;
    });
    expect(served).toEqual([
      null,
      { requests: 1, promptTokens: null, generatedTokens: 10 },
      { requests: 0, promptTokens: null, generatedTokens: 30 },
    ]);
  });
});

/** What happens to two engines of a server between two looks. */
const happening = fc.record({
  work: fc.tuple(fc.nat(500), fc.nat(500)),
  restarts: fc.tuple(fc.boolean(), fc.boolean()).map(([a, b]) => [a && b, a !== b] as const),
  isHidden: fc.tuple(fc.boolean(), fc.boolean()),
  isLost: fc.boolean(),
});

test("whatever happens, tokens are never negative and never counted twice; without restarts all are counted once", () => {
  fc.assert(
    fc.property(fc.array(happening, { minLength: 1, maxLength: 15 }), fc.boolean(), (all, canRestart) => {
      const reads = [10_000, 50_000];
      let done = 0;
      const pages: (Record<string, number> | null)[] = [{ a: 10_000, b: 50_000 }];
      for (const { work, restarts, isHidden, isLost } of all) {
        for (const [i, tokens] of work.entries()) {
          reads[i] = (canRestart && restarts[i] === true ? 0 : (reads[i] ?? 0)) + tokens;
          done += tokens;
        }
        const shown = Object.fromEntries(
          ["a", "b"].map((key, i) => [key, reads[i] ?? 0] as const).filter((_, i) => isHidden[i] !== true),
        );
        pages.push(isLost || Object.keys(shown).length === 0 ? null : shown);
      }
      pages.push({ a: reads[0] ?? 0, b: reads[1] ?? 0 });
      const counted = countedOf(pages).map((tokens) => tokens ?? 0);
      expect(Math.min(...counted)).toBeGreaterThanOrEqual(0);
      const sum = counted.reduce((total, tokens) => total + tokens, 0);
      expect(sum).toBeLessThanOrEqual(done);
      if (!canRestart) expect(sum).toBe(done);
    }),
  );
});
