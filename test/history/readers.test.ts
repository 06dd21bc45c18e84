import { describe, expect, it } from "vitest";
import type { AnsweredSeries } from "../../exporter/history/prometheusAnswer.ts";
import { chooseReaders } from "../../exporter/history/readers.ts";

const step = 300;

/** A process that covered so many seconds in each step. */
const process = (pod: string, covered: readonly number[]): AnsweredSeries => ({
  labels: { pod },
  points: covered.map((seconds, i) => [(i + 1) * step, seconds] as const),
});

const choose = (series: readonly AnsweredSeries[], steps: number) =>
  chooseReaders(series, 0, steps * step, step).map(({ from, to, process: labels, coveredSeconds }) => ({
    from,
    to,
    pod: labels?.pod ?? null,
    coveredSeconds,
  }));

describe("whose counters are read", () => {
  it("everybody's, where one process follows the other", () => {
    const found = choose([process("old", [300, 150, 0, 0]), process("new", [0, 100, 300, 300])], 4);
    expect(found).toEqual([{ from: 0, to: 1200, pod: null, coveredSeconds: 1150 }]);
  });

  it("one of two replicas, the same one throughout", () => {
    const found = choose([process("a", [300, 290, 300]), process("b", [290, 300, 300])], 3);
    expect(found).toEqual([{ from: 0, to: 900, pod: "a", coveredSeconds: 890 }]);
  });

  it("the other replica from where the first covers clearly less", () => {
    const found = choose([process("a", [300, 100, 0, 300]), process("b", [300, 300, 300, 300])], 4);
    expect(found).toEqual([
      { from: 0, to: 300, pod: "a", coveredSeconds: 300 },
      { from: 300, to: 1200, pod: "b", coveredSeconds: 900 },
    ]);
  });

  it("the one that covers longest, where replicas come and go all the time", () => {
    const flapping = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? 300 : 0));
    const other = flapping.map((seconds, i) => (i % 4 === 0 ? 300 : i % 2 === 0 ? 0 : 300 - seconds));
    const found = choose([process("a", flapping), process("b", other)], 200);
    expect(found).toEqual([{ from: 0, to: 60_000, pod: "b", coveredSeconds: 45_000 }]);
  });

  it("covers the whole window, in order and without holes", () => {
    const found = choose([process("a", [300, 0, 300, 0, 300]), process("b", [300, 300, 0, 300, 300])], 5);
    expect(found[0]?.from).toBe(0);
    expect(found.at(-1)?.to).toBe(1500);
    for (const [i, { from }] of found.entries()) expect(from).toBe(found[i - 1]?.to ?? 0);
  });
});
