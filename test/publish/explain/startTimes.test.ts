import { describe, expect, it } from "vitest";
import type { PastStart } from "../../../exporter/analysis/startTimes/startTimes.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { explain } from "../../../exporter/publish/explain/explain.ts";
import type { ExplainedKind } from "../../../exporter/publish/explain/kinds.ts";
import { explanationSchema } from "../../../exporter/publish/explain/schema.ts";
import { explanationText } from "../../../exporter/publish/terminal/explanation.ts";
import { at } from "../moment.ts";
import { queueMoment } from "../queueMoment.ts";

const hour = 3600;

/** One start of 16 GPUs an hour in the queue `search`, until an hour ago, each after waiting for one to three hours. */
const pastStarts: readonly PastStart[] = Array.from({ length: 250 }, (_, i) => {
  const since = at - (255 - i) * hour;
  const startedAt = since + hour + ((i * 7) % 120) * 60;
  return { queue: "search", domain: "H100", since, startedAt, gpus: 16, priority: 100 };
});

function explained(kind: ExplainedKind, name: string, past: readonly PastStart[] = pastStarts) {
  const input = { analysis: queueMoment, settings: defaultConfig, problems: [], accountedTime: null, pastStarts: past };
  const result = explain(kind, name, input);
  if (!result.ok) throw new Error(result.error);
  expect(explanationSchema.parse(JSON.parse(JSON.stringify(result.explanation)))).toEqual(result.explanation);
  return result.explanation;
}

describe("when work will start, in an explanation", () => {
  it("of its queue: an interval, and how often such intervals have held", () => {
    const queue = explained("queue", "search");
    const start = queue.entitlements[0]?.waiting[0]?.start;
    if (start?.from == null || start.half === null || start.to === null) throw new Error("it is unknown");
    expect([start.from < start.half, start.half < start.to, start.unknownBecause]).toEqual([true, true, null]);
    expect(start.hits / start.intervals).toBeGreaterThan(0.6);
    const text = explanationText(queue).replaceAll(/\s+/g, " ");
    expect(text).toMatch(/starts 2026-\d\d-\d\d \d\d:\d\d to .* UTC, half by .* \(\d+ % of \d+ such intervals held\)/);
    expect(text).toContain("docs/backtest.md, When will it start");
  });

  it("of the workload: the same, as a fact of its own", () => {
    const facts = explained("workload", "search/Job/rank-big").facts.filter(({ name }) => name === "will start");
    expect(facts).toEqual([
      {
        name: "will start",
        value: expect.stringMatching(/UTC, half by/),
        how: expect.stringMatching(/of the last \d+ such intervals .* % held \(docs\/backtest.md/),
      },
    ]);
  });

  it("is unknown without a history, for work that is paused and for work of unknown size, with the reason", () => {
    const startOf = (queue: string, gang: number, past?: readonly PastStart[]) =>
      explained("queue", queue, past).entitlements[0]?.waiting[gang]?.start;
    const nothing = { from: null, half: null, to: null, intervals: 0, hits: 0 };
    expect(startOf("search", 0, [])).toEqual({ ...nothing, unknownBecause: "short-history" });
    expect(startOf("vision", 0)).toEqual({ ...nothing, unknownBecause: "cannot-start" });
    expect(startOf("ads", 1)).toEqual({ ...nothing, unknownBecause: "no-line" });
    const text = explanationText(explained("queue", "vision")).replaceAll(/\s+/g, " ");
    expect(text).toContain("start unknown: nothing that happens in the line will start it");
    const facts = explained("workload", "search/Job/rank-big", []).facts;
    expect(facts).toContainEqual({
      name: "will start",
      value: "unknown",
      how: "too few starts of its queue are known (docs/backtest.md, When will it start)",
    });
  });
});
