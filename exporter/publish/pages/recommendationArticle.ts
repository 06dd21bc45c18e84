import type { Advice, AdviceStep, Recommendation } from "../../model/recommendation.ts";
import {
  actText,
  aftermathText,
  commandNotShown,
  commandText,
  gainText,
  lifecycleText,
  lossText,
  measuredText,
  savingText,
} from "../advice/adviceWords.ts";
import { effectRows } from "../advice/effectRows.ts";
import { plainText } from "../terminal/columns.ts";
import { type Head, type Html, html, moreLink, wideTable } from "./html.ts";
import type { NameLinks, PageKind, Subjects } from "./links.ts";

/** What an article needs besides the recommendation. */
export interface ArticleInput {
  /** The present time, seconds since the epoch. */
  readonly now: number;
  /** Token of the forms that close it; `null`: nobody may close it. */
  readonly token: string | null;
  /** Whether the details are open from the beginning, as on a page of its own. */
  readonly isOpen: boolean;
}

/** Names may be of any length: what is longer than this is cut on the page, never in the API. */
const longestTitle = 300;
const longestText = 2000;
const shownItems = 50;

/** One recommendation: what, why, the steps, what it changes, and the forms that close it. */
export function recommendationArticle(one: Recommendation, { now, token, isOpen }: ArticleInput): Html {
  const saving = savingText(one.effect.savingPerWeek);
  const measured = measuredText(one);
  const aftermath = aftermathText(one, now);
  const open = isOpen ? html` open` : html``;
  return html`<article id="${one.id}">
<h3><a href="${recommendationPath(one)}">${shortTitle(one)}</a></h3>
<p><span class="kind">${one.kind}</span> <span class="${one.state}">${text(lifecycleText(one, now))}</span> · <span class="id">${one.id}</span></p>
${replacements(one)}<p>${text(one.reason)}</p>
<dl class="facts">
<dt>gain</dt><dd>${text(gainText(one))}</dd>
<dt>cost</dt><dd>${text(lossText(one))}</dd>
${saving === "" ? html`` : html`<dt>saves</dt><dd>${text(saving)}</dd>\n`}<dt>act</dt><dd>${text(actText(one))}</dd>
<dt>confidence</dt><dd>${one.confidence.level}</dd>
</dl>
${measured === null ? html`` : html`<p>${text(measured)}</p>\n`}${aftermath === null ? html`` : html`<p>${text(aftermath)}</p>\n`}${alertList(one)}
${
  one.act === "ask"
    ? questionList(one, open)
    : html`<details${open}><summary>Steps (${one.steps.length})</summary>
<ol class="steps">${one.steps.slice(0, shownItems).map(stepItem)}</ol>${more(one.steps.length, one)}</details>`
}
<details${open}><summary>What it changes, and why this plan</summary>
${effectTable(one)}
${list(
  "What it rests on",
  one.evidence.map(({ name, value }) => `${name}: ${value}`),
)}
${list("How sure it is", one.confidence.reasons)}
${one.guards.length === 0 ? html`` : list("Guards that let it pass", [one.guards.join(", ")])}
${list("What would have been better, and may not be", one.blockedAlternatives)}</details>
${one.state === "open" && token !== null ? html`${takeForm(one, token)}${dismissForm(one, token, open)}` : html``}</article>
`;
}

/** The path of a recommendation's own page. */
export const recommendationPath = ({ id }: Pick<Recommendation, "id">): string =>
  `/recommendations/${encodeURIComponent(id.toWellFormed())}`;

/** Links to the recommendations that it replaced, and to the one that replaced it. */
function replacements({ replaces, replacedBy }: Recommendation): Html {
  const linked = (word: string, id: string): Html =>
    html`${word} <a class="id" href="${recommendationPath({ id })}">${plainText(id, longestTitle)}</a>`;
  const links = [
    ...replaces.slice(0, shownItems).map((id) => linked("replaces", id)),
    ...(replacedBy === null ? [] : [linked("replaced by", replacedBy)]),
  ];
  return links.length === 0
    ? html``
    : html`<p>${links.flatMap((link, i) => (i === 0 ? [link] : [html` · `, link]))}</p>\n`;
}

/** Teams and queues that its sentences are about. */
function adviceSubjects({ fromTeam, forTeam, queue, beneficiary, cost }: Recommendation): Subjects {
  const teams = [fromTeam, forTeam, ...cost.teams, ...(beneficiary.kind === "team" ? [beneficiary.name] : [])];
  return { teams, queues: [queue, ...(beneficiary.kind === "queue" ? [beneficiary.name] : [])] };
}

/** The title of a recommendation, cut to a bounded length. */
export const shortTitle = ({ title }: Recommendation): string => plainText(title, longestTitle);

const text = (long: string): string => plainText(long, longestText);

function stepItem({ title, precondition, command, dryRun, waitFor, request }: AdviceStep): Html {
  return html`<li>${text(title)}
<p class="next">Only if: ${text(precondition)}</p>
${dryRun === null ? html`` : html`<p class="next">First, as a dry run:</p>${commandBlock(dryRun)}<p class="next">Then:</p>`}
${commandBlock(command)}
${waitFor === null ? html`` : html`<p class="next">Then wait until: ${text(waitFor)}</p>`}
<p class="next">As a request: ${request.verb} ${text(request.path)}</p></li>
`;
}

/** The questions to the owners of the work. */
function questionList(one: Recommendation, open: Html): Html {
  const items = one.questions.slice(0, shownItems).map(
    ({ to, question, facts }) => html`<li>${text(to)}: ${text(question)}
<ul>${facts.map((fact) => html`<li>${text(fact)}</li>\n`)}</ul></li>
`,
  );
  return html`<details${open}><summary>Questions (${one.questions.length})</summary>
<ol class="steps">${items}</ol>${more(one.questions.length, one)}</details>`;
}

function commandBlock(command: string): Html {
  const shown = commandText(command);
  if (shown === null) return html`<p class="warning">${commandNotShown}</p>`;
  return html`<pre>${shown}</pre>`;
}

function effectTable(one: Recommendation): Html {
  const rows = effectRows(one.effect)
    .slice(0, shownItems)
    .map(
      ({ name, before, mostAllocated, leastAllocated }) =>
        html`<tr><th scope="row">${plainText(name, longestTitle)}</th><td class="number">${before}</td><td class="number">${mostAllocated}</td><td class="number">${leastAllocated}</td></tr>\n`,
    );
  if (rows.length === 0) return html``;
  const heads = ["now", "after, packed", "after, spread"].map((head): Head => [head, "number"]);
  return wideTable("Simulated effect", ["simulated", ...heads], rows);
}

function list(heading: string, texts: readonly string[]): Html {
  if (texts.length === 0) return html``;
  const items = texts.slice(0, shownItems).map((entry) => html`<li>${text(entry)}</li>\n`);
  const rest = texts.length - items.length;
  return html`<h4>${heading}</h4><ul>${items}${rest > 0 ? html`<li>and ${rest} more</li>` : html``}</ul>`;
}

function more(all: number, { id }: Recommendation): Html {
  return moreLink(all - shownItems, `/api/v1/recommendations/${encodeURIComponent(id.toWellFormed())}`, "as JSON");
}

function alertList({ alerts }: Recommendation): Html {
  if (alerts.length === 0) return html``;
  const names = alerts.slice(0, shownItems).map(({ alertname, status }) => `${alertname} (${status})`);
  return html`<p>Alerts about it: ${text(names.join(", "))}</p>`;
}

function takeForm(one: Recommendation, token: string): Html {
  const when = one.act === "ask" ? "Once its owner has agreed and it is done: " : "";
  return html`<form method="post" action="${recommendationPath(one)}/take">
<input type="hidden" name="token" value="${token}">
<span class="next">${when}its effect is measured from then on.</span><button type="submit">I did it</button></form>
`;
}

function dismissForm(one: Recommendation, token: string, open: Html): Html {
  return html`<details${open}><summary>Not now</summary>
<form method="post" action="${recommendationPath(one)}/dismiss">
<input type="hidden" name="token" value="${token}">
<label>Why it is not done<input type="text" name="reason" required maxlength="500" autocomplete="off"></label>
<button type="submit">Not now</button></form></details>
`;
}

const shownAdvice = 10;

/** The open advice that is about something, in the order of its worth; empty where there is none. */
export function adviceAbout(
  { recommendations }: Advice,
  isAbout: (one: Recommendation) => boolean,
  links: NameLinks,
): Html {
  const open = recommendations.filter((one) => one.state === "open" && isAbout(one));
  if (open.length === 0) return html``;
  const rest = open.length - shownAdvice;
  return html`<section id="advice"><h2>What to do about it (${open.length})</h2>
<ol class="problems">${open.slice(0, shownAdvice).map((one) => adviceItem(one, links))}</ol>${moreLink(rest, "/recommendations", "all recommendations")}</section>
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
