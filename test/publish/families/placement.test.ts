import { describe, expect, test } from "vitest";
import type { Analysis } from "../../../exporter/analysis/analysis.ts";
import { buildDocument } from "../../../exporter/publish/document/buildDocument.ts";
import { documentSchema } from "../../../exporter/publish/document/schema.ts";
import { buildFamilies } from "../../../exporter/publish/families.ts";
import { renderPage } from "../../../exporter/publish/prometheus/render.ts";
import { layOut, plainTerminal } from "../../../exporter/publish/terminal/layout.ts";
import { fitText, placementLines } from "../../../exporter/publish/terminal/placementLines.ts";
import { health } from "../moment.ts";
import { blockedWork, placementMoment, poolPlacement } from "../placementMoment.ts";
import { readPage } from "../readPage.ts";

const pageOf = (analysis: Analysis) =>
  readPage(
    renderPage(
      buildFamilies({ analysis, health: health(), limits: { teams: 1000, series: 50_000 } }).families,
    ).toString("utf8"),
  );

const valuesOf = (analysis: Analysis, name: string, label: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    pageOf(analysis)
      .filter((sample) => sample.name === name)
      .map(({ labels, value }) => [labels.get(label) ?? "", value]),
  );

describe("the page", () => {
  test("has what is free by what it is", () => {
    expect(valuesOf(placementMoment, "fairlead_pool_free_gpus", "part")).toEqual({
      whole: 16,
      shared: 0.5,
      partitioned: 0,
    });
  });

  test("has how many pods of each size fit, and what part of the free GPUs they leave", () => {
    expect(valuesOf(placementMoment, "fairlead_placeable_pods", "size")).toEqual({ 1: 16, 2: 7, 4: 3, 8: 1 });
    expect(valuesOf(placementMoment, "fairlead_shape_fragmentation_ratio", "size")).toEqual({
      1: 0,
      2: 0.125,
      4: 0.25,
      8: 0.5,
    });
  });

  test("has every cause and reason, those that are 0 included", () => {
    expect(valuesOf(placementMoment, "fairlead_stranded_gpus", "reason")).toEqual({
      constraint: 0,
      gpus: 0,
      cpu: 3,
      memory: 0,
      cpu_and_memory: 0,
    });
    const causes = valuesOf(placementMoment, "fairlead_expected_fragmentation_gpus", "cause");
    expect(Object.values(causes).reduce((sum, value) => sum + value, 0)).toBeCloseTo(6.6, 9);
    expect(Object.keys(causes)).toHaveLength(7);
  });

  test("has no ratio where nothing is free", () => {
    const full: Analysis = {
      ...placementMoment,
      placement: {
        ...placementMoment.placement,
        pools: [poolPlacement({ freeGpus: 0, expected: { gpus: 0, ratio: null, byCause: {} } })],
      },
    };
    expect(valuesOf(full, "fairlead_expected_fragmentation_ratio", "pool")).toEqual({});
  });

  test("counts blocked work that is, in one pool", () => {
    const twice: Analysis = {
      ...placementMoment,
      blocked: {
        work: [blockedWork({ pools: ["H100", "A100"] }), blockedWork({ pools: ["A100"], gpus: 4, key: "other" })],
        since: new Map(),
      },
    };
    expect(valuesOf(twice, "fairlead_blocked_gpus", "pool")).toEqual({ A100: 16 });
    expect(valuesOf(twice, "fairlead_blocked_gangs", "pool")).toEqual({ A100: 2 });
    expect(valuesOf(placementMoment, "fairlead_blocked_gpus", "blocker")).toEqual({ cpu: 12 });
    expect(valuesOf(placementMoment, "fairlead_longest_blocked_seconds", "pool")).toEqual({ H100: 1200 });
  });
});

describe("the document", () => {
  const document = documentSchema.parse(buildDocument(placementMoment));

  test("has the placement of each pool with the workload that it is judged for", () => {
    const pool = document.pools.find((one) => one.pool === "H100");
    expect(pool?.placement).toMatchObject({
      freeGpus: 16,
      largestPlaceablePod: 8,
      blockedGpus: 12,
      targetSource: "pods",
    });
    expect(pool?.placement?.targetWorkload).toMatchObject([
      { gpus: 4, gpuShare: null, cpu: 32, popularity: 1, models: expect.arrayContaining(["H100"]) },
    ]);
  });

  test("lists blocked work, whether it is or not, with what blocks it", () => {
    expect(document.blocked.map(({ blocker, gpus, isStanding }) => ({ blocker, gpus, isStanding }))).toEqual([
      { blocker: "cpu", gpus: 12, isStanding: true },
      { blocker: "cpu", gpus: 2, isStanding: false },
    ]);
  });
});

describe("the terminal", () => {
  test("says what fits, what is stranded and what is blocked", () => {
    expect(layOut(placementLines(placementMoment), plainTerminal)).toMatchInlineSnapshot(`
      "WHAT FITS NOW
        H100  16.0 free: 16 pods of 1 GPU, 7 of 2, 3 of 4, 1 of 8; whole nodes free 1 of 2 possible;
              stranded 3.0 (no CPU left 3.0); 0.5 free in shared GPUs
        blocked although enough is free:
          search/rank-big needs 12.0 GPUs and 16.0 are free, but nowhere together, for 20 min: CPU is
            short on the nodes with free GPUs
          search/rank-big needs 2.0 GPUs and 16.0 are free, but nowhere together, for 1 min: CPU is short
            on the nodes with free GPUs"
    `);
  });

  test("says so where no whole GPU is free", () => {
    expect(fitText(poolPlacement({ freeGpus: 0, strandedGpus: {} }))).toBe(
      "no whole GPU free; 0.5 free in shared GPUs",
    );
  });

  test("is silent where nothing is free and nothing blocked", () => {
    const none = { pools: [], target: placementMoment.placement.target };
    expect(placementLines({ ...placementMoment, placement: none, blocked: { work: [], since: new Map() } })).toEqual(
      [],
    );
  });
});
