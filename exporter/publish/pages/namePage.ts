import type { Analysis } from "../../analysis/analysis.ts";
import type { Advice } from "../../model/recommendation.ts";
import type { Explanation } from "../explain/schema.ts";
import { poolPartsOf } from "../overview/poolRows.ts";
import { teamRows } from "../overview/teamRows.ts";
import type { Past } from "../past/past.ts";
import { gpus, plainText, utc } from "../terminal/columns.ts";
import { entitlementSection, factSection, groundSection, localQueueSection, partSection } from "./explainHtml.ts";
import { gpuBar } from "./gpuBar.ts";
import { type Html, html, moreLink } from "./html.ts";
import {
  listPath,
  longestName,
  type NameLinks,
  nameLink,
  nameLinks,
  type PageKind,
  type Subjects,
  type WorkloadName,
  workloadLink,
} from "./links.ts";
import { nowStyle } from "./nowStyle.ts";
import { pageFrame } from "./pageFrame.ts";
import { pastSection } from "./pastSection.ts";
import { aboutName, adviceAbout } from "./recommendationArticle.ts";
import { teamTableHtml } from "./startTeams.ts";

/** What the page of one team, queue, node or workload is made from. */
interface NamePageInput {
  readonly kind: PageKind;
  /** The name under which it is explained; for a workload, `NAMESPACE/KIND/NAME`. */
  readonly name: string;
  /** The explanation; `null`: nothing holds or waits for GPUs under this name now, and only its past is known. */
  readonly explanation: Explanation | null;
  readonly analysis: Analysis;
  readonly advice: Advice;
  readonly past: Past;
  readonly cluster: string;
  /** How old the numbers are, seconds; `null` while they are not too old. */
  readonly oldSeconds: number | null;
}

const headings: Readonly<Record<PageKind, string>> = {
  team: "Team",
  queue: "Queue",
  node: "Node",
  workload: "Workload",
};

/** The page of one name: what it holds and does with it, why, what to do about it, and its last day and week. */
export function renderNamePage(input: NamePageInput): string {
  const { kind, name, explanation, analysis, cluster, past, oldSeconds } = input;
  const links = nameLinks(analysis);
  const shown = plainText(name, longestName);
  const at = explanation === null ? "" : ` · as of ${utc(explanation.at)}`;
  const json = `/api/v1/explain?kind=${kind}&name=${encodeURIComponent(name.toWellFormed())}`;
  return pageFrame({
    title: `${headings[kind]} ${shown} · Fairlead ${cluster}`,
    heading: `${headings[kind]} ${shown}`,
    about: html`<p>cluster <strong>${cluster}</strong>${at} · <a href="${json}">as JSON</a></p>`,
    here: listPath(kind),
    isBelow: true,
    styles: [nowStyle],
    body: html`${oldSeconds === null ? html`` : html`<p class="error">These numbers are ${oldSeconds} s old. The last cycles did not complete: see the <a href="/">start page</a>.</p>`}${explanation === null ? nothingNow(kind) : html`${headOf(input, explanation)}${adviceAbout(input.advice, aboutName(kind, name), links)}${reasons(kind, explanation, links, analysis)}`}${pastSection(past)}${explanation === null ? html`` : html`${partSection(explanation.parts, links)}${belowOf(input)}${groundSection(explanation, links)}`}`,
    foot: html`<p>The same in a terminal: fairlead explain ${kind} NAME.</p>`,
  });
}

const nothingNow = (kind: PageKind): Html =>
  html`<p class="warning">No such ${kind} holds or waits for GPUs now. This is what the ledger has of it.</p>
`;

function reasons(kind: PageKind, explanation: Explanation, links: NameLinks, analysis: Analysis): Html {
  const { facts, localQueues, entitlements } = explanation;
  const subjects = subjectsOf(kind, explanation, analysis);
  return html`${localQueueSection(localQueues, links)}${entitlementSection(entitlements, links)}${factSection(facts, links, subjects)}`;
}

/** The plain words that are names on this page: the queues and the team of what is explained. */
function subjectsOf(kind: PageKind, { name, facts }: Explanation, { snapshot }: Analysis): Subjects {
  if (kind === "team") {
    const queues = snapshot.queueing.queues.filter(({ teams }) => teams.some(({ team }) => team === name));
    return { teams: [name], queues: queues.map((queue) => queue.name) };
  }
  const namedAs = (wanted: string): string[] => facts.flatMap((fact) => (fact.name === wanted ? [fact.value] : []));
  return { teams: namedAs("team"), queues: [...namedAs("queue"), ...(kind === "queue" ? [name] : [])] };
}

/** The head of the page: for a team, its row of the overview; for everything that holds GPUs, their states. */
function headOf({ kind, name, analysis }: NamePageInput, { parts }: Explanation): Html {
  const known = kind === "team" ? teamRows(analysis) : null;
  const rows = known?.rows.filter(({ team }) => team === name) ?? [];
  const table = known === null ? html`` : teamTableHtml(known, rows, null);
  const states = poolPartsOf(parts);
  const total = states.reduce((sum, part) => sum + part.gpus, 0);
  const bar =
    total > 0
      ? html`<h3>${gpus(total)} GPUs by state</h3>\n${gpuBar(states, total, `GPUs of ${kind} ${plainText(name, 100)}`)}`
      : html``;
  return html`${table}${bar}`;
}

const shownBelow = 50;

/** The workloads of a team or a queue, and the queues of a team, each as a link; those beyond a limit are only counted. */
function belowOf({ kind, name, analysis }: NamePageInput): Html {
  if (kind !== "team" && kind !== "queue") return html``;
  const { workloads, queueing } = analysis.snapshot;
  const own = workloads.filter(({ team, queue }) => (kind === "team" ? team === name : queue === name));
  const queues = new Set(
    queueing.queues.flatMap((queue) =>
      kind === "team" && queue.kind !== "Scheduler" && queue.teams.some(({ team }) => team === name)
        ? [queue.name]
        : [],
    ),
  );
  return html`${nameList("Workloads with pods", own, (one: WorkloadName) => html`${one.kind} ${workloadLink(one)}`, "workload")}${
    kind === "team" ? nameList("Queues", [...queues], (one) => nameLink("queue", one), "queue") : html``
  }`;
}

function nameList<Item>(heading: string, all: readonly Item[], shown: (one: Item) => Html, kind: PageKind): Html {
  if (all.length === 0) return html``;
  const items = all.slice(0, shownBelow).map((one) => html`<li>${shown(one)}</li>\n`);
  const rest = all.length - items.length;
  return html`<section id="${kind}s"><h2>${heading} (${all.length})</h2>
<ul>${items}</ul>${moreLink(rest, listPath(kind), `all ${kind}s`)}</section>
`;
}
