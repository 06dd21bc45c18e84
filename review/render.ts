import type { ReviewFormat } from "../exporter/publish/http/reviewRoute.ts";
import { renderReviewCsv } from "./csv/renderReviewCsv.ts";
import type { Review } from "./document/review.ts";
import { renderReviewHtml } from "./html/renderReviewHtml.ts";
import { renderReviewJson } from "./json/renderReviewJson.ts";
import { renderReviewMarkdown } from "./markdown/renderReviewMarkdown.ts";

/** A review as a file or an answer. */
export interface RenderedReview {
  readonly contentType: string;
  readonly body: string;
}

/** The renderer of each format of a review; all of them have the same numbers. */
export const reviewRenderings = {
  html: (review) => ({ contentType: "text/html; charset=utf-8", body: renderReviewHtml(review) }),
  markdown: (review) => ({ contentType: "text/markdown; charset=utf-8", body: renderReviewMarkdown(review) }),
  json: (review) => ({ contentType: "application/json; charset=utf-8", body: renderReviewJson(review) }),
  csv: (review) => ({ contentType: "text/csv; charset=utf-8", body: renderReviewCsv(review) }),
} as const satisfies Readonly<Record<ReviewFormat, (review: Review) => RenderedReview>>;
