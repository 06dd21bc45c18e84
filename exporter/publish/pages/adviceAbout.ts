import type { Advice, Recommendation } from "../../model/recommendation.ts";
import { actText, gainText, lossText } from "../advice/adviceWords.ts";
import { plainText } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";
import type { NameLinks, PageKind } from "./links.ts";
import { adviceSubjects, recommendationPath, shortTitle } from "./recommendationArticle.ts";

const shownAdvice = 10;

/** Open advice that is about something, the most worth first; nothing where there is none. */
export function adviceAbout(
  { recommendations }: Advice,
  isAbout: (one: Recommendation) => boolean,
  links: NameLinks,
): Html {
  const open = recommendations.filter((one) => one.state === "open" && isAbout(one));
  if (open.length === 0) return html``;
  const rest = open.length - shownAdvice;
  return html`<section id="advice"><h2>What to do about it (${open.length})</h2>
<ol class="problems">${open.slice(0, shownAdvice).map((one) => adviceItem(one, links))}</ol>${rest > 0 ? html`<p>${rest} more: <a href="/recommendations">all recommendations</a></p>` : html``}</section>
`;
}

/** One recommendation in three lines: what to do, what it gains and costs, and what it asks for. */
export function adviceItem(one: Recommendation, links: NameLinks): Html {
  const subjects = adviceSubjects(one);
  const effect = plainText(`${gainText(one)}; ${lossText(one)}`, 500);
  return html`<li id="${one.id}"><a href="${recommendationPath(one)}"><strong>${one.kind}</strong></a>: ${links.inText(shortTitle(one), subjects)}<br><span class="next">${links.inText(effect, subjects)}</span><br><span class="next">${plainText(actText(one), 300)}</span></li>
`;
}

/** Whether advice acts on, or is for, the team, queue, node or workload of that name (a workload: `NAMESPACE/KIND/NAME`). */
export function aboutName(kind: PageKind, name: string): (one: Recommendation) => boolean {
  if (kind === "team")
    return ({ fromTeam, forTeam, cost }) => fromTeam === name || forTeam === name || cost.teams.includes(name);
  if (kind === "queue")
    return ({ queue, beneficiary }) => queue === name || (beneficiary.kind === "queue" && beneficiary.name === name);
  if (kind === "node")
    return ({ targets, beneficiary }) =>
      targets.includes(`Node ${name}`) || (beneficiary.kind === "node" && beneficiary.name === name);
  const [namespace = "", ofKind = "", own = ""] = name.split("/");
  const short = `${namespace}/${own}`;
  return ({ targets, effect, beneficiary, questions }) =>
    targets.includes(`${ofKind} ${short}`) ||
    effect.starts.includes(short) ||
    questions.some(({ about }) => about === `${ofKind} ${short}`) ||
    (beneficiary.kind === "workload" && beneficiary.name === short);
}
