import type { Recommendation } from "../../model/recommendation.ts";
import { lossText, rangeText, savedPerWeek } from "../advice/adviceWords.ts";
import { plainText } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";
import { type ArticleInput, recommendationArticle, recommendationPath } from "./recommendationArticle.ts";

const longestLine = 140;

/** Bytes of all open recommendations of the page; each group has its part of them. */
const mostBytes = 130_000;

/** As folds: each one line, with its details within for as long as the page stays small; the others have a page of their own. */
export function recommendationFolds(
  all: readonly Recommendation[],
  input: ArticleInput,
  open: number,
): readonly Html[] {
  const lines = all.map((one) => ({ one, line: fold(one, pointer(one)) }));
  let left =
    (mostBytes * all.length) / Math.max(1, open) -
    lines.reduce((sum, { line }) => sum + Buffer.byteLength(line.markup), 0);
  return lines.map(({ one, line }) => {
    const whole = fold(one, recommendationArticle(one, input));
    const more = Buffer.byteLength(whole.markup) - Buffer.byteLength(line.markup);
    if (more > left) return line;
    left -= more;
    return whole;
  });
}

function fold(one: Recommendation, body: Html): Html {
  const facts = [
    `${rangeText(one.effect.gainedGpus)} GPUs`,
    savedPerWeek(one.effect.savingPerWeek),
    lossText(one),
    `confidence ${one.confidence.level}`,
  ];
  const line = facts
    .filter((fact) => fact !== "")
    .map((fact) => plainText(fact, longestLine))
    .join(" · ");
  return html`<details class="need"><summary>${plainText(one.title, longestLine)}<br><span class="next">${line}</span></summary>
${body}</details>
`;
}

function pointer(one: Recommendation): Html {
  return html`<p>${plainText(one.reason, longestLine)}</p><p><a href="${recommendationPath(one)}">All of it, with its steps</a></p>`;
}
