import { expect, test } from "vitest";
import type { Review } from "../../../review/document/review.ts";
import { renderReviewHtml } from "../../../review/html/renderReviewHtml.ts";
import { renderReviewMarkdown } from "../../../review/markdown/renderReviewMarkdown.ts";
import { paidForNothing } from "../../../review/sections/paidForNothing.ts";
import { sampleReview } from "../sampleReview.ts";

const drop = (state: "idle" | "stalled" | "unavailable" | "free" | "underutilized", gpuHours: number) => ({
  state,
  isAllocated: state !== "free",
  gpuHours,
  costs: gpuHours === 0 ? {} : { USD: gpuHours * 2 },
  strandedGpuHours: null,
  owner: "platform",
});
const stage = (...drops: ReturnType<typeof drop>[]) => ({ level: "allocated" as const, gpuHours: 0, costs: {}, drops });
const cause = (name: string, gpuHours: number) => ({
  ...{ cause: name, gpuHours, costs: { USD: gpuHours * 2 } },
  ...{ outages: 1, repaired: 0, meanRepairHours: null },
});

const teams = sampleReview.teams.map((team) => ({ ...team, stalled: team.team === "vision" ? 40 : 0 }));
const review = {
  ...sampleReview,
  teams,
  waterfall: [
    stage(drop("unavailable", 30), drop("idle", 50), drop("stalled", 40), drop("free", 99), drop("underutilized", 7)),
  ],
  faults: { outages: [], causes: [cause("node", 20), cause("ecc", 10), cause("thermal", 500)] },
};

/** Head, GPU-hours and who can act of each row. */
const rowsOf = (of: Review) =>
  paidForNothing(of)?.rows.map(({ head, cells: [hours, , owner] }) => [
    head,
    hours?.map((piece) => (typeof piece === "string" ? piece : piece.value)).join(""),
    owner?.map((piece) => (typeof piece === "string" ? piece : piece.value)).join(""),
  ]);

test("what did nothing is there once, the dearest first, with who can act: what is slowed down or free is not", () => {
  expect(rowsOf(review)).toEqual([
    ["idle", "50", expect.stringMatching(/^team, most ads: 2352$/)],
    ["stalled", "40", expect.stringMatching(/^team, most vision: 40$/)],
    ["unavailable: its node is not ready", "20", "platform"],
    ["unavailable: a memory error", "10", "platform"],
  ]);
});

test("without causes it is what the waterfall says; of one team, that team's", () => {
  expect(rowsOf({ ...review, faults: null })?.map(([head]) => head)).toEqual([
    "idle",
    "stalled",
    "unavailable, allocated",
  ]);
  expect(rowsOf({ ...review, team: "ads" })?.[0]?.[2]).toBe("ads");
});

test("a review in which all did something has no such section", () => {
  const nothing = { ...review, waterfall: [stage(drop("idle", 0))], faults: { outages: [], causes: [] } };
  expect(paidForNothing(nothing)).toBeNull();
  expect(renderReviewHtml(nothing)).not.toContain("Paid for, and did nothing");
  for (const text of [renderReviewHtml(review), renderReviewMarkdown(review)])
    expect(text).toContain("Paid for, and did nothing");
});
