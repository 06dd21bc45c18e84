import { expect, test } from "vitest";
import { renderReviewHtml } from "../../../review/html/renderReviewHtml.ts";
import { renderReviewMarkdown } from "../../../review/markdown/renderReviewMarkdown.ts";
import { renderReviewSummary } from "../../../review/markdown/renderReviewSummary.ts";
import { whyNothing } from "../../../review/sections/actions.ts";
import { sampleReview } from "../sampleReview.ts";

const nothing = { ...sampleReview, actions: [] };
const reserved = "they are reserved capacity, which costs the same when it is given back";

test("a review in which nothing is advised says why, beside what idle nodes cost", () => {
  for (const text of [renderReviewHtml(nothing), renderReviewMarkdown(nothing), renderReviewSummary(nothing)])
    expect(text).toContain(reserved);
  for (const text of [renderReviewHtml(nothing), renderReviewMarkdown(nothing)]) expect(text).toMatch(/9,216/);
  expect(whyNothing(nothing)).toContain("Why not scale_in for a100-reserved: 2 idle nodes (16 GPUs)");
});

test("beside advice it says what else was looked at, and the short summary does not", () => {
  expect(renderReviewHtml(sampleReview)).toContain(reserved);
  expect(renderReviewSummary(sampleReview)).not.toContain(reserved);
  expect(whyNothing(sampleReview)).toBeNull();
});

test("what nobody kept is not said to be nothing", () => {
  expect(whyNothing({ ...nothing, notAdvised: null })).toBeNull();
  expect(whyNothing({ ...nothing, notAdvised: [] })).toContain("nothing was held back");
});

test("what became of earlier advice has its reason, and how often it ended so", () => {
  const page = renderReviewHtml(sampleReview);
  expect(page).toContain("it was not found again: rank-7 does not wait any more");
  expect(page).toMatch(/3<\/span> times/);
  expect(page).toContain("2 more needs are not listed");
});
