import { expect, test } from "vitest";
import type { Review } from "../../../review/document/review.ts";
import { renderReviewHtml } from "../../../review/html/renderReviewHtml.ts";
import { sampleReview } from "../sampleReview.ts";

/** Bytes of a page that a phone loads at once. */
const largestPage = 200_000;

/** As much as a cluster of 100 teams has: eight models, 100 needs that closed, and as many that are not advised. */
function large(review: Review, nameOf: (i: number) => string): Review {
  const many = <Item>(list: readonly Item[] | null, count: number, of: (item: Item, i: number) => Item): Item[] =>
    Array.from({ length: list === null || list.length === 0 ? 0 : count }, (_, i) => i).flatMap((i) => {
      const item = list?.[i % (list?.length ?? 1)];
      return item === undefined ? [] : [of(item, i)];
    });
  return {
    ...review,
    teams: many(review.teams, 100, (team, i) => ({ ...team, team: nameOf(i) })),
    demand: many(sampleReview.demand, 8, (demand, i) => ({
      ...demand,
      domain: nameOf(i),
      steps: demand.steps.map((step, hour) => ({
        ...step,
        pending: (hour * 7919 * (i + 1)) % 31,
        active: (hour * 104_729) % 47,
      })),
    })),
    actions: many(review.actions, 5, (action, i) => ({ ...action, title: nameOf(i) })),
    lastActions: many(review.lastActions, 100, (action, i) => ({ ...action, title: nameOf(i) })),
    notAdvised: many(review.notAdvised, 100, (one, i) => ({ ...one, subject: nameOf(i) })),
  };
}

test("a review of 100 teams and 100 needs is below 200 KB", () => {
  const page = renderReviewHtml(
    large(sampleReview, (i) => `team-of-a-department-${i}`),
    { isServed: true },
  );
  expect(Buffer.byteLength(page)).toBeLessThan(largestPage);
});
