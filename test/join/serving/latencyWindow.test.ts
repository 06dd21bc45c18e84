import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countsInWindow, type LatencyMemory, latencyAfter } from "../../../exporter/join/serving/latencyWindow.ts";
import type { LatencyBucket } from "../../../exporter/model/serving.ts";
import { readServingPage } from "../../../exporter/sources/serving/readPage.ts";

const inf = Number.POSITIVE_INFINITY;

/** Requests within a second, and all, by engine. */
const page = (engines: Readonly<Record<string, readonly [within: number, all: number]>>) => ({
  latencies: Object.entries(engines).flatMap(([engine, counts]) =>
    [1, inf].map(
      (bound, i): LatencyBucket => ({ of: "firstToken", key: `${engine} ${bound}`, bound, value: counts[i] ?? 0 }),
    ),
  ),
});

/** What the window has after these looks, half a minute apart. */
function windowAfter(pages: readonly ReturnType<typeof page>[], begin = 1000): ReadonlyMap<number, number> {
  let memory: LatencyMemory | undefined;
  for (const [i, one] of pages.entries()) memory = latencyAfter(memory, one, begin + 30 * i) ?? undefined;
  return memory === undefined ? new Map() : countsInWindow(memory).firstToken;
}

describe("latencies of the last five minutes", () => {
  test("are what the buckets gained since the first look", () => {
    const counts = windowAfter([page({ a: [10, 20] }), page({ a: [11, 25] }), page({ a: [12, 26] })]);
    expect(counts).toEqual(
      new Map([
        [1, 2],
        [inf, 6],
      ]),
    );
  });

  test("forget what is older, and keep what came since", () => {
    const looks = Array.from({ length: 30 }, (_, i) => page({ a: [i < 5 ? 100 * i : 400, i < 5 ? 100 * i : 396 + i] }));
    const counts = windowAfter(looks);
    expect(counts.get(1)).toBe(0);
    // Ten to twelve looks lie within five to six minutes, with one request each.
    expect(counts.get(inf)).toBeGreaterThanOrEqual(10);
    expect(counts.get(inf)).toBeLessThanOrEqual(12);
  });

  test("do not count an engine again that was missing or restarted", () => {
    const seen = [page({ a: [10, 20], b: [500, 900] }), page({ a: [10, 21] }), page({ a: [10, 21], b: [3, 4] })];
    expect(windowAfter([...seen, page({ a: [10, 21], b: [4, 7] })])).toEqual(
      new Map([
        [1, 1],
        [inf, 4],
      ]),
    );
  });

  test("are none without histograms", () => {
    expect(latencyAfter(undefined, {}, 0)).toBeNull();
  });

  test("are those of one name where a page has both of vLLM", () => {
    const lines = ["time_per_output_token_seconds", "inter_token_latency_seconds"].flatMap((name) => [
      `vllm:${name}_bucket{engine="0",le="0.5"} 3`,
      `vllm:${name}_bucket{engine="0",le="+Inf"} 4`,
    ]);
    const read = readServingPage(Buffer.from(`vllm:num_requests_running 0\n${lines.join("\n")}\n`));
    if (!read.ok) throw new Error(read.because);
    expect(read.record.latencies?.map(({ of, bound, value }) => [of, bound, value])).toEqual([
      ["perToken", 0.5, 3],
      ["perToken", inf, 4],
    ]);
  });
});

test("whatever happens, counts of the window are cumulative and never negative", () => {
  const look = fc.record({ within: fc.nat(9), over: fc.nat(9), restarts: fc.boolean(), isHidden: fc.boolean() });
  fc.assert(
    fc.property(fc.array(look, { minLength: 1, maxLength: 40 }), (looks) => {
      const reads: [number, number] = [50, 80];
      const pages = looks.map(({ within, over, restarts, isHidden }) => {
        if (restarts) reads.fill(0);
        reads[0] += within;
        reads[1] += within + over;
        return page(isHidden ? { b: [1, 1] } : { a: [...reads], b: [1, 1] });
      });
      const counts = windowAfter(pages);
      const [within = 0, all = 0] = [counts.get(1), counts.get(inf)];
      expect(within).toBeGreaterThanOrEqual(0);
      expect(all).toBeLessThanOrEqual(looks.reduce((sum, one) => sum + one.within + one.over, 0));
      if (looks.every(({ restarts }) => !restarts)) expect(within).toBeLessThanOrEqual(all);
    }),
  );
});
