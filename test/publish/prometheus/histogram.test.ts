import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import type { Family } from "../../../exporter/publish/family.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { readPage } from "../readPage.ts";

const bounds = [0.5, 1, 60] as const;

interface Observed {
  readonly labelValues: readonly [string, string];
  readonly values: readonly number[];
}

/** The naive twin: the official client library. */
async function renderWithClientLibrary(all: readonly Observed[]): Promise<string> {
  const registry = new Registry();
  const histogram = new Histogram({
    name: "m",
    help: "Some help.",
    labelNames: ["queue", "phase"],
    buckets: [...bounds],
    registers: [registry],
  });
  for (const { labelValues, values } of all) {
    const [queue, phase] = labelValues;
    for (const value of values) histogram.observe({ queue, phase }, value);
  }
  return registry.metrics();
}

function familyOf(all: readonly Observed[]): Family {
  return {
    name: "m",
    help: "Some help.",
    type: "histogram",
    labelNames: ["queue", "phase"],
    bounds,
    series: all.map(({ labelValues, values }) => ({
      labelValues,
      value: values.length,
      histogram: {
        buckets: [...bounds, Number.POSITIVE_INFINITY].map((bound) => values.filter((value) => value <= bound).length),
        sum: values.reduce((sum, value) => sum + value, 0),
      },
    })),
  };
}

const keyed = (page: string) =>
  readPage(page)
    .map(({ name, labels, value }) => `${name} ${JSON.stringify([...labels].sort())} ${value}`)
    .sort();

const observed: fc.Arbitrary<readonly Observed[]> = fc.uniqueArray(
  fc.record({
    labelValues: fc.tuple(fc.string({ minLength: 1 }), fc.constantFrom("admission", 'a"b\\')),
    values: fc.array(fc.constantFrom(0, 0.25, 0.5, 1, 7, 60, 61, 1e9), { minLength: 1, maxLength: 9 }),
  }),
  { selector: ({ labelValues }) => labelValues.join("\u0000"), maxLength: 6 },
);

describe("a histogram in the text format", () => {
  test("says what the official client library says", async () => {
    await fc.assert(
      fc.asyncProperty(observed, async (all) => {
        const own = renderPage([familyOf(all)]).toString("utf8");
        const official = Buffer.from(await renderWithClientLibrary(all)).toString("utf8");
        expect(keyed(own)).toEqual(keyed(official));
      }),
      { seed: 7, numRuns: 100 },
    );
  });

  test("is announced once, its buckets rise, and +Inf is the count", () => {
    const page = renderPage([familyOf([{ labelValues: ["search", "start"], values: [0.2, 30, 90] }])]).toString();
    expect(page).toBe(
      [
        "# HELP m Some help.",
        "# TYPE m histogram",
        'm_bucket{queue="search",phase="start",le="0.5"} 1',
        'm_bucket{queue="search",phase="start",le="1"} 1',
        'm_bucket{queue="search",phase="start",le="60"} 2',
        'm_bucket{queue="search",phase="start",le="+Inf"} 3',
        'm_sum{queue="search",phase="start"} 120.2',
        'm_count{queue="search",phase="start"} 3',
        "",
      ].join("\n"),
    );
  });

  test("without labels has le alone", () => {
    const family: Family = {
      ...familyOf([]),
      labelNames: [],
      series: [{ labelValues: [], value: 0, histogram: { buckets: [0, 0, 0, 0], sum: 0 } }],
    };
    expect(renderPage([family]).toString()).toContain('m_bucket{le="0.5"} 0\n');
  });
});
