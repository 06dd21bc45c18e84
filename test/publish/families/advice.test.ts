import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { adviceMetrics } from "../../../exporter/catalogue/advice.ts";
import {
  type Advice,
  type AdviceKind,
  adviceKinds,
  adviceStates,
  noAdvice,
  type Recommendation,
  withheldReasons,
} from "../../../exporter/model/recommendation.ts";
import { buildFamilies, type PageLimits } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { askPage } from "../adviceServer.ts";
import { hostileAdvice } from "../hostileAdvice.ts";
import { at, health, hostileNames, smallMoment } from "../moment.ts";
import { readPage } from "../readPage.ts";
import { severalAdvice } from "../severalAdvice.ts";
import { reclaimAdvice, someAdvice } from "../someAdvice.ts";

const wide: PageLimits = { teams: 1000, series: 50_000 };

function textOf(advice: Advice | null, limits = wide, analysis: Analysis | null = smallMoment): string {
  const { families } = buildFamilies({ analysis, health: health(), limits, advice });
  return renderPage(families).toString("utf8");
}

const samplesOf = (advice: Advice | null, limits = wide, analysis: Analysis | null = smallMoment) =>
  readPage(textOf(advice, limits, analysis)).filter(({ name }) => name in adviceMetrics);

const valuesOf = (samples: ReturnType<typeof readPage>, name: string) =>
  samples.filter((one) => one.name === name).map(({ labels, value }) => ({ ...Object.fromEntries(labels), value }));

const copies = (kind: AdviceKind, count: number): readonly Recommendation[] =>
  Array.from({ length: count }, (_, index) => ({ ...reclaimAdvice, kind, id: `r-${kind}-${index}` }));

const advice = (recommendations: readonly Recommendation[]): Advice => ({ ...noAdvice, recommendations });

describe("series of recommendations", () => {
  test("say what an open one gains, costs and saves, since when, and what it is", () => {
    const samples = samplesOf(someAdvice);
    const { id } = reclaimAdvice;
    const labels = {
      cluster: "harbor",
      kind: "reclaim",
      id,
      from_team: "ads",
      for_team: "search",
      queue: "search",
      pool: "H100",
    };
    expect(valuesOf(samples, "fairlead_recommendation_gpus")).toEqual([{ ...labels, value: 16 }]);
    expect(valuesOf(samples, "fairlead_recommendation_lost_gpu_seconds")).toEqual([{ ...labels, value: 11_160 }]);
    expect(valuesOf(samples, "fairlead_recommendation_saving_per_week")).toEqual([
      { ...labels, currency: "USD", value: 0 },
    ]);
    expect(valuesOf(samples, "fairlead_recommendation_first_seen_timestamp_seconds")).toEqual([
      { cluster: "harbor", kind: "reclaim", id, value: at - 600 },
    ]);
    expect(valuesOf(samples, "fairlead_recommendation_info")).toEqual([
      { cluster: "harbor", id, title: reclaimAdvice.title, act: "do", value: 1 },
    ]);
    expect(valuesOf(samples, "fairlead_reducible_fragmentation_gpus")).toEqual([
      { cluster: "harbor", pool: "H100", value: 3.5 },
    ]);
  });

  test("are of the worse placement rule", () => {
    const effect = { ...reclaimAdvice.effect, gainedGpus: { worst: 8, best: 16 } };
    const samples = samplesOf(advice([{ ...reclaimAdvice, effect }]));
    expect(valuesOf(samples, "fairlead_recommendation_gpus")).toMatchObject([{ value: 8 }]);
  });

  test("are of the few of each kind that are worth most, in the order of the list", () => {
    const all = advice([...copies("reclaim", 5), ...copies("scale_in", 2), ...copies("reclaim", 5)]);
    const ids = (limits: PageLimits) =>
      valuesOf(samplesOf(all, limits), "fairlead_recommendation_info").map((one) => ("id" in one ? one.id : ""));
    expect(ids(wide).sort()).toEqual(["r-reclaim-0", "r-reclaim-1", "r-reclaim-2", "r-scale_in-0", "r-scale_in-1"]);
    expect(ids({ ...wide, topRecommendations: 1 }).sort()).toEqual(["r-reclaim-0", "r-scale_in-0"]);
    expect(ids({ ...wide, topRecommendations: 0 })).toEqual([]);
    expect(
      valuesOf(samplesOf(all, { ...wide, topRecommendations: 0 }), "fairlead_recommendations").reduce(
        (sum, { value }) => sum + value,
        0,
      ),
    ).toBe(12);
  });

  test("are not of closed ones; these are counted for 24 h", () => {
    const closed = (state: "taken" | "expired" | "dismissed", id: string, ago: number): Recommendation => ({
      ...reclaimAdvice,
      id,
      state,
      closedAt: at - ago,
      closedBecause: "x",
    });
    const samples = samplesOf(
      advice([
        reclaimAdvice,
        closed("taken", "r-1", 0),
        closed("taken", "r-2", 86_400),
        closed("taken", "r-3", 86_401),
        closed("dismissed", "r-4", 60),
        closed("expired", "r-5", 90_000),
      ]),
    );
    expect(valuesOf(samples, "fairlead_recommendation_gpus")).toHaveLength(1);
    const counts = samples
      .filter(({ name, value }) => name === "fairlead_recommendations" && value > 0)
      .map(({ labels, value }) => [labels.get("kind"), labels.get("state"), value]);
    expect(counts.sort()).toEqual([
      ["reclaim", "dismissed", 1],
      ["reclaim", "open", 1],
      ["reclaim", "taken", 2],
    ]);
  });

  test("count every kind and state, 0 as well, so that a count can fall to 0; of what is withheld only what there is", () => {
    const samples = samplesOf(noAdvice);
    const counts = valuesOf(samples, "fairlead_recommendations");
    expect(counts).toHaveLength(adviceKinds.length * adviceStates.length);
    expect(counts.every(({ value }) => value === 0)).toBe(true);
    expect(valuesOf(samples, "fairlead_recommendations_withheld")).toEqual([]);
    const withheld = valuesOf(samplesOf(severalAdvice), "fairlead_recommendations_withheld");
    expect(withheld).toHaveLength(5);
    expect(withheld).toContainEqual({ cluster: "harbor", kind: "defragment", reason: "guard", value: 6 });
  });

  test("are not there where nobody advises, before the first cycle, and when the moment is too old", async () => {
    expect(samplesOf(null)).toEqual([]);
    expect(samplesOf(someAdvice, wide, null)).toEqual([]);
    const namesAt = async (now: number) =>
      readPage(await askPage(someAdvice, now)).filter(({ name }) => name in adviceMetrics).length;
    expect(await namesAt(at + 5)).toBeGreaterThan(0);
    expect(await namesAt(at + 4000)).toBe(0);
  });
});

describe("labels of recommendations", () => {
  test("are bounded: a long title ends with an ellipsis, names are cut", () => {
    const samples = samplesOf(hostileAdvice("x".repeat(10_000)));
    const [info] = valuesOf(samples, "fairlead_recommendation_info");
    expect(info).toMatchObject({ title: `${"x".repeat(199)}…` });
    for (const { labels } of samples)
      for (const value of labels.values()) expect(value.length).toBeLessThanOrEqual(200);
  });

  test("survive the text format, whatever they hold; a title is one line without control characters", () => {
    for (const name of hostileNames) {
      const samples = samplesOf(hostileAdvice(name));
      const [info] = samples.filter(({ name: metric }) => metric === "fairlead_recommendation_info");
      expect(info?.value).toBe(1);
      expect(info?.labels.get("title") ?? "").not.toMatch(/\p{Cc}/u);
      expect(samples.filter(({ name: metric }) => metric === "fairlead_recommendation_gpus")).toHaveLength(1);
      const page = readPage(textOf(hostileAdvice(name)));
      expect(page.some(({ name: metric }) => metric === "fairlead_forged")).toBe(false);
    }
  });

  const promtool = spawnSync("promtool", ["--version"]).error === undefined;
  if (!promtool) process.stderr.write("skipped: promtool is not installed (Debian package prometheus)\n");
  test.skipIf(!promtool)("have nothing that promtool complains about", () => {
    for (const one of [severalAdvice, ...hostileNames.map(hostileAdvice)]) {
      const { families } = buildFamilies({ analysis: smallMoment, health: health(), limits: wide, advice: one });
      const own = families.filter(({ name }) => name in adviceMetrics);
      expect(own.length).toBeGreaterThan(5);
      const { stdout, stderr, status } = spawnSync("promtool", ["check", "metrics"], {
        input: renderPage(own),
        encoding: "utf8",
      });
      expect([status, `${stdout}${stderr}`.trim()]).toEqual([0, ""]);
    }
  });
});

describe("the budget of series", () => {
  test("cuts recommendations before anything else", () => {
    const every = advice(adviceKinds.flatMap((kind) => copies(kind, 3)));
    const all = readPage(textOf(every));
    const own = all.filter(({ name }) => name in adviceMetrics).length;
    const limit = all.length - own + 10;
    const few = readPage(textOf(every, { teams: 0, series: limit }));
    expect(few.length).toBeLessThanOrEqual(limit);
    const count = (samples: typeof all, isOwn: boolean) =>
      samples.filter(({ name }) => name in adviceMetrics === isOwn && name !== "fairlead_series_dropped").length;
    const without = readPage(textOf(noAdvice, { teams: 0, series: 50_000 }));
    expect(count(few, false)).toBe(count(without, false));
    expect(count(few, true)).toBeLessThan(own);
    expect(few.find(({ name }) => name === "fairlead_series_dropped")?.value).toBeGreaterThan(0);
  });

  test("has an upper bound for them, however much advice there is", () => {
    const every: Advice = {
      recommendations: adviceKinds.flatMap((kind) => copies(kind, 200)),
      withheld: adviceKinds.flatMap((kind) =>
        withheldReasons.flatMap((why) => [1, 2, 3].map(() => ({ kind, why, subject: "x", reason: "x" }))),
      ),
      reducibleFragmentation: new Map(),
    };
    const kinds = adviceKinds.length;
    expect(samplesOf(every)).toHaveLength(kinds * 3 * 5 + kinds * adviceStates.length + kinds * withheldReasons.length);
  });
});
