import { decide } from "../decide/decide.ts";
import { type Review, reviewSchema } from "../document/review.ts";

/** Keys of amounts by currency, which no schema puts in order. */
const byCurrency = new Set(["costs", "wasteCosts", "notAllocatedCosts", "savingPerWeek"]);

/**
 * A review as JSON, in the order of its schema, and what to decide after it. A reader of it derives the decisions again, so that
 * they cannot disagree with the numbers: what `parseReview` reads, and what reviews of clusters are merged from.
 */
export function renderReviewJson(review: Review): string {
  const parsed = reviewSchema.parse(review);
  return `${JSON.stringify({ ...parsed, ...decide(parsed) }, inOrder, 2)}\n`;
}

function inOrder(key: string, value: unknown): unknown {
  if (!byCurrency.has(key) || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
