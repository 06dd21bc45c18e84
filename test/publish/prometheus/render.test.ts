import fc from "fast-check";
import { Gauge, Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import type { Family } from "../../../exporter/publish/family.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { hostileNames } from "../moment.ts";
import { readPage } from "../readPage.ts";

/** The naive twin: the official client library. */
async function renderWithClientLibrary(family: Family): Promise<string> {
  const registry = new Registry();
  const gauge = new Gauge({
    name: family.name,
    help: family.help,
    labelNames: [...family.labelNames],
    registers: [registry],
  });
  for (const { labelValues, value } of family.series) {
    const labels = Object.fromEntries(family.labelNames.map((name, index) => [name, labelValues[index] ?? ""]));
    gauge.set(labels, value);
  }
  return registry.metrics();
}

const sorted = (page: string) =>
  page
    .split("\n")
    .filter((line) => line !== "")
    .sort();

const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom('"', "\\", "\n", "\\n", "a\\"));
const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, 1e21, 1e-7, 0.1 + 0.2));
const family: fc.Arbitrary<Family> = fc
  .uniqueArray(fc.record({ labelValues: fc.tuple(text, text), value }), {
    selector: (one) => one.labelValues.join("\u0000"),
  })
  .map((series) => ({
    name: "fairlead_gpus",
    help: "Some help.",
    type: "gauge",
    labelNames: ["pool", "state"],
    series,
  }));

describe("Prometheus text format", () => {
  test("says what the official client library says, for any labels and values", async () => {
    await fc.assert(
      fc.asyncProperty(family, async (one) => {
        const own = renderPage([one]).toString("utf8");
        const official = await renderWithClientLibrary(one);
        expect(sorted(own)).toEqual(sorted(Buffer.from(official).toString("utf8").replaceAll("Nan", "NaN")));
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("gives back every label and value to a reader of the format", () => {
    fc.assert(
      fc.property(family, (one) => {
        const read = readPage(renderPage([one]).toString("utf8"));
        expect(read).toHaveLength(one.series.length);
        for (const { labelValues, value: wanted } of one.series) {
          const found = read.find(
            (sample) => sample.labels.get("pool") === labelValues[0] && sample.labels.get("state") === labelValues[1],
          );
          expect(found?.value).toBe(Object.is(wanted, -0) ? 0 : wanted);
        }
      }),
      { seed: 2, numRuns: 200 },
    );
  });

  test("does not depend on the order of the series", () => {
    const series = hostileNames.map((name, index) => ({ labelValues: [name.toWellFormed()], value: index }));
    const base = { name: "fairlead_gpus", help: "h", type: "gauge", labelNames: ["team"] } as const;
    const forward = renderPage([{ ...base, series }]);
    const backward = renderPage([{ ...base, series: series.toReversed() }]);
    expect(forward.equals(backward)).toBe(true);
  });

  test("spells what is no number as Go does, and numbers without a trailing zero", () => {
    const series = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 3, 0.5].map((one, index) => ({
      labelValues: [`${index}`],
      value: one,
    }));
    const page = renderPage([{ name: "m", help: "a\\b\nc", type: "counter", labelNames: ["i"], series }]).toString();
    expect(page).toBe(
      '# HELP m a\\\\b\\nc\n# TYPE m counter\nm{i="0"} NaN\nm{i="1"} +Inf\nm{i="2"} -Inf\nm{i="3"} 3\nm{i="4"} 0.5\n',
    );
  });
});
