import type { ReviewAnswer, ReviewAsked, ReviewOutput } from "../../exporter/publish/http/reviewRoute.ts";
import { buildReview } from "../../review/build/buildReview.ts";
import type { ReviewQuestion } from "../../review/build/source.ts";
import type { Review } from "../../review/document/review.ts";
import { renderReviewHtml } from "../../review/html/renderReviewHtml.ts";
import { reviewStyleSource } from "../../review/html/reviewStyle.ts";
import { reviewRenderings } from "../../review/render.ts";
import { parseWindow } from "../../review/window.ts";

type Source = Pick<ReviewQuestion, "cluster" | "history" | "accounts" | "budgets" | "notCharged">;
type Built = { readonly ok: true; readonly review: Review } | Extract<ReviewAnswer, { ok: false }>;

/** How many reviews are kept for the next visitor, and for how long. */
const maxKept = 20;
const keptSeconds = 60;
/** The most reviews that are written at the same time; each reads the ledger for seconds. */
const maxUnderWay = 4;

/** Writes reviews for those who ask by HTTP; one that was just written is given to all who ask for the same. */
export function createReviewOutput(source: Source, now: () => number): ReviewOutput {
  const kept = new Map<string, { readonly at: number; readonly review: Promise<Built> }>();
  let underWay = 0;

  async function build(asked: ReviewAsked): Promise<Built> {
    const { week, month, from, to, team, compare } = asked;
    const at = now();
    const isSaid = [week, month, from, to].some((text) => text !== null);
    const window = parseWindow({ week: isSaid ? week : "current", month, from, to }, at);
    if (!window.ok) return { ...window, status: 400 };
    const built = await buildReview({ ...source, days: window.days, compare, team, now: at });
    return built.ok ? built : { ...built, status: 404 };
  }

  async function remembered(asked: ReviewAsked): Promise<Built> {
    const { format: _, ...question } = asked;
    const key = JSON.stringify(question);
    const known = kept.get(key);
    if (known !== undefined && now() - known.at < keptSeconds) return await known.review;
    if (underWay >= maxUnderWay) return tooMany;
    underWay += 1;
    const review = build(asked).finally(() => {
      underWay -= 1;
    });
    kept.delete(key);
    kept.set(key, { at: now(), review });
    for (const oldest of kept.keys()) {
      if (kept.size <= maxKept) break;
      kept.delete(oldest);
    }
    const built = await review;
    if (!built.ok) kept.delete(key);
    return built;
  }

  return {
    styleSource: reviewStyleSource,
    async write(asked) {
      const built = await remembered(asked);
      if (!built.ok) return built;
      const rendered = reviewRenderings[asked.format](built.review);
      // A review that is served links to the other pages, which a file cannot do.
      if (asked.format !== "html") return { ok: true, ...rendered };
      return { ok: true, ...rendered, body: renderReviewHtml(built.review, { isServed: true }) };
    },
  };
}

const tooMany: Built = {
  ok: false,
  status: 503,
  error: "Too many reviews are being written.",
  nextStep: "Ask again in a minute.",
};
