import type { Problem } from "../../model/problem.ts";
import { counted } from "../advice/adviceWords.ts";
import { ageInUse, type SourceHealth, type SourceState, sourceState } from "../health.ts";
import { type ProblemGroup, problemGroups } from "../problemGroups.ts";
import { type Html, html, moreLink } from "./html.ts";
import type { NameLinks } from "./links.ts";

/** The most kinds of problems on the page; those beyond are counted, and only the API lists them. */
const maxProblems = 100;
const shownSubjects = 10;

/** What is wrong with the inputs, the worst first, each with its next step. */
export function problemSection(problems: readonly Problem[], links: NameLinks): Html {
  const groups = problemGroups(problems);
  const shown = groups.slice(0, maxProblems);
  const rest = groups.slice(maxProblems).reduce((sum, { count }) => sum + count, 0);
  const [worse, remarks] = [true, false].map((isWorse) =>
    shown.filter(({ first }) => (first.severity !== "info") === isWorse),
  );
  const count = problems.filter(({ severity }) => severity !== "info").length;
  return html`<section id="problems"><h2>Problems${count === 0 ? "" : ` (${count})`}</h2>
${count === 0 ? html`<p class="ok">None.</p>` : groupList(worse, links)}${remarkList(remarks, links)}${moreLink(rest, "/api/v1/problems", "all problems as JSON")}</section>
`;
}

/** Remarks that are good to know, and are about nothing harmful: they are folded. */
function remarkList(remarks: readonly ProblemGroup[] = [], links: NameLinks): Html {
  const count = remarks.reduce((sum, group) => sum + group.count, 0);
  if (count === 0) return html``;
  return html`<details id="remarks"><summary>${counted(count, "remark")}</summary>
${groupList(remarks, links)}</details>`;
}

const groupList = (groups: readonly ProblemGroup[] = [], links: NameLinks): Html =>
  html`<ul class="problems">${groups.map((group) => problemItem(group, links))}</ul>`;

function problemItem({ first, count, subjects }: ProblemGroup, links: NameLinks): Html {
  const { severity, source, message, nextStep } = first;
  const named = subjects.slice(0, shownSubjects).map((name, i) => html`${i === 0 ? "" : ", "}${links.inText(name)}`);
  const others = subjects.length - named.length;
  const many = count === 1 ? html`` : html`${count} like this (${named}${others > 0 ? ` and ${others} more` : ""}): `;
  return html`<li class="${severity}"><strong>${severity}</strong> ${source}: ${many}${links.inText(message)}<br><span class="next">Next: ${links.inText(nextStep)}</span></li>
`;
}

const looks: Readonly<Record<SourceState, string>> = { up: "ok", partly: "warning", down: "error" };

/** Whether each source answers: with all of its parts, with some, or without those that are required. */
export function sourceSection(sources: readonly SourceHealth[]): Html {
  const rows = sources.map((source) => {
    const age = ageInUse(source);
    const fresh = source.parts.filter((part) => part.fresh).length;
    const state = sourceState(source);
    return html`<tr><th scope="row">${source.source}</th><td class="${looks[state]}">${state}</td><td>${fresh} of ${source.parts.length}</td><td>${age === null ? "–" : `${Math.round(age)} s`}</td></tr>\n`;
  });
  const table = html`<table><thead><tr><th scope="col">source</th><th scope="col">state</th><th scope="col">fresh parts</th><th scope="col">oldest in use</th></tr></thead><tbody>
${rows}</tbody></table>`;
  return html`<section id="sources"><h2>Sources</h2>
${sources.length === 0 ? html`<p>No source is running.</p>` : table}</section>
`;
}
