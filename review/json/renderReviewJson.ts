import { decide } from "../decide/decide.ts";
import { type Review, reviewSchema } from "../document/review.ts";

/** Keys of fields with amounts by currency, which no schema puts in order. */
const byCurrency = new Set(["costs", "wasteCosts", "notAllocatedCosts", "savingPerWeek"]);

/**
 * A review as JSON, in the order of its schema, with what to decide after it. `parseReview` reads it, and reviews of several
 * clusters are merged from it. Such readers derive the decisions again, so that these cannot disagree with the numbers.
 */
export function renderReviewJson(review: Review): string {
  const parsed = reviewSchema.parse(review);
  return `${JSON.stringify({ ...parsed, ...decide(parsed) }, inOrder, 2)}\n`;
}

function inOrder(key: string, value: unknown): unknown {
  if (!byCurrency.has(key) || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
