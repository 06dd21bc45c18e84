import { describe, expect, test } from "vitest";
import {
  blocksByText,
  firstBlockOf,
  layoutOf,
  type PageLayout,
  rowOfBlock,
  setFirstBlockOf,
  setSuccessorOfBlock,
  successorOfBlock,
} from "../../../exporter/sources/dcgm/pageLayout.ts";
import { blockOfOther, blockOfUnknown, readRows } from "../../../exporter/sources/dcgm/pageRows.ts";
import { defaultPageLimits, shapeAsOne } from "../../../exporter/sources/dcgm/pageShape.ts";
import { labelsOf, pageOf, sample } from "./pages.ts";

const util = "DCGM_FI_DEV_GPU_UTIL";

function layoutOfPage(lines: readonly string[], limits = defaultPageLimits): PageLayout | null {
  const subject = { target: "t", node: "n", origin: "exporter" } as const;
  const page = pageOf(...lines);
  const rows = readRows(page, { acceptsCutLine: false, maxRows: limits.maxRows });
  return layoutOf(page, rows, shapeAsOne(rows, subject, limits).shape);
}

function small(): PageLayout {
  const layout = layoutOfPage([sample(util, 0, 1), `${util}{gpu="9"} 1`, `${util}{nvlink="2"} 1`, sample(util, 1, 1)]);
  if (layout === null) throw new Error("no layout");
  return layout;
}

describe("the layout of a page", () => {
  test("has its label blocks in order, and what each means", () => {
    const layout = small();
    expect([...blocksByText(layout)]).toEqual([
      [`{${labelsOf(0)}}`, 0],
      ['{gpu="9"}', 1],
      ['{nvlink="2"}', 2],
      [`{${labelsOf(1)}}`, 3],
    ]);
    const rows = Array.from({ length: layout.blockCount }, (_unused, block) => rowOfBlock(layout, block));
    expect(rows).toEqual([0, blockOfUnknown, blockOfOther, 1]);
    expect(layout.rowCount).toBe(2);
  });

  test("hints change nothing else", () => {
    const layout = small();
    const before = [...blocksByText(layout)];
    for (let block = 0; block < 4; block += 1) setSuccessorOfBlock(layout, block, 3 - block);
    for (let hash = 0; hash < 16; hash += 1) setFirstBlockOf(layout, -hash * 17, hash % 4);
    expect([...blocksByText(layout)]).toEqual(before);
    expect([0, 1, 2, 3].map((block) => successorOfBlock(layout, block))).toEqual([3, 2, 1, 0]);
    expect([0, 1, 2, 3].map((hash) => firstBlockOf(layout, -hash * 17))).toEqual([0, 1, 2, 3]);
    expect([0, 1, 2, 3].map((block) => rowOfBlock(layout, block))).toEqual([0, blockOfUnknown, blockOfOther, 1]);
  });

  test("is kept for a dense MIG node, and stays below 24 KB", () => {
    const lines = Array.from({ length: 56 }, (_unused, index) =>
      sample("DCGM_FI_PROF_GR_ENGINE_ACTIVE", index % 8, 0.5, {
        GPU_I_PROFILE: "1g.10gb",
        GPU_I_ID: String(7 + Math.floor(index / 8)),
        namespace: "team-a",
        pod: `notebook-${index}-0`,
        container: "main",
      }),
    );
    const layout = layoutOfPage(lines);
    expect(layout?.rowCount).toBe(56);
    expect(layout?.packed.byteLength).toBeLessThan(24_576);
  });

  test.each<[string, readonly string[], Partial<typeof defaultPageLimits>]>([
    [
      "more than 32 KB of labels",
      Array.from({ length: 10 }, (_unused, n) => sample(util, n, 1, { x: "y".repeat(4000) })),
      {},
    ],
    [
      "more than 1024 label sets",
      [sample(util, 0, 1), ...Array.from({ length: 1100 }, (_unused, n) => `${util}{nvlink="${n}"} 1`)],
      {},
    ],
    ["more GPUs than the limit", [sample(util, 0, 1), sample(util, 1, 1)], { maxGpus: 1 }],
    ["more rows than the limit", [sample(util, 0, 1), sample(util, 1, 1)], { maxRows: 1 }],
    ["no row of a device", ["# TYPE DCGM_FI_DEV_GPU_UTIL gauge"], {}],
  ])("is not kept: %s", (_case, lines, limits) => {
    expect(layoutOfPage(lines, { ...defaultPageLimits, ...limits })).toBeNull();
  });
});
