import type { Advice } from "../../model/recommendation.ts";
import { gainText, lossText } from "../advice/adviceWords.ts";
import { plainText } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";
import { recommendationPath, shortTitle } from "./recommendationArticle.ts";

const shown = 3;

/** How much is recommended, and what is worth most; nothing where there is none. */
export function adviceSection({ recommendations }: Advice): Html {
  const open = recommendations.filter(({ state }) => state === "open");
  if (open.length === 0) return html``;
  const items = open
    .slice(0, shown)
    .map(
      (one) =>
        html`<li><a href="${recommendationPath(one)}">${shortTitle(one)}</a><br><span class="next">${plainText(`${gainText(one)}; ${lossText(one)}`, 500)}</span></li>\n`,
    );
  const all =
    open.length > shown ? html`<p><a href="/recommendations">All ${open.length} recommendations</a></p>` : html``;
  return html`<h2>Recommendations (${open.length})</h2>
<ul class="problems">${items}</ul>${all}`;
}
