import type { Analysis } from "../../analysis/analysis.ts";
import { nearestName } from "../../config/nearestName.ts";
import type { ListBuilder } from "../document/listBuilder.ts";
import type { NodeRecord } from "../document/schema.ts";
import { explainedNames } from "../explain/explain.ts";
import { teamRows } from "../overview/teamRows.ts";
import { gpus, plainText } from "../terminal/columns.ts";
import { queueKind } from "../terminal/queueWords.ts";
import { type Head, type Html, html, wideTable } from "./html.ts";
import { listPath, longestName, nameLink, type PageKind, type WorkloadName, workloadLink } from "./links.ts";
import { nowStyle } from "./nowStyle.ts";
import { pageFrame } from "./pageFrame.ts";
import { mostFirst, teamTableHtml } from "./startTeams.ts";

/** The most names that a page lists; the others are counted, and can be found by name. */
const shownNames = 250;
const shownNear = 10;

/** What the list of a kind is made from; `analysis` is `null` before the first cycle. */
export interface NamesPageInput {
  readonly kind: PageKind;
  readonly cluster: string;
  /** For nodes, the kind of idle nodes to list: `unallocated` or `allocated`; `null`: all nodes. */
  readonly idle: string | null;
  readonly moment: { readonly analysis: Analysis; readonly lists: ListBuilder } | null;
}

const headings: Readonly<Record<PageKind, string>> = {
  team: "Teams",
  queue: "Queues",
  node: "Nodes",
  workload: "Workloads",
};

/** All teams, queues, nodes or workloads, each a link to its page. */
export function renderNamesPage(input: NamesPageInput): string {
  const { kind, moment } = input;
  const list = moment === null ? nothingYet : lists[kind](moment.analysis, moment.lists, input);
  return frame(input, headings[kind], html`${findForm(kind)}${list}`);
}

/** The page for a name that does not exist; it lists similar names that do. */
export function renderNoSuchName(input: NamesPageInput, name: string): string {
  const { kind, moment } = input;
  const near = moment === null ? [] : nearNames(kind, name, moment.analysis);
  const links = near.map((one) => html`<li>${linkOf(kind, one)}</li>\n`);
  const body = html`<p class="warning">There is no ${kind} <strong>${plainText(name, longestName)}</strong> that holds or waits for GPUs${moment === null ? html`, as far as is known: the first cycle is not complete` : html``}.</p>
${links.length === 0 ? html`` : html`<p>Names that are near:</p><ul>${links}</ul>`}<p><a href="${listPath(kind)}">All ${kind}s</a></p>
${findForm(kind)}`;
  return frame(input, `No such ${kind}`, body);
}

function frame({ kind, cluster }: NamesPageInput, heading: string, body: Html): string {
  return pageFrame({
    title: `${heading} · Fairlead ${cluster}`,
    heading,
    about: html`<p>cluster <strong>${cluster}</strong> · <a href="/api/v1/${kind}s">as JSON</a></p>`,
    here: listPath(kind),
    isBelow: heading !== headings[kind],
    styles: [nowStyle],
    body,
    foot: html`<p>The same in a terminal: fairlead explain ${kind} NAME.</p>`,
  });
}

const hints: Readonly<Record<PageKind, string>> = {
  team: "",
  queue: " (a LocalQueue as NAMESPACE/NAME)",
  node: "",
  workload: " (as NAMESPACE/KIND/NAME)",
};

const findForm = (
  kind: PageKind,
): Html => html`<form method="get" action="${listPath(kind)}"><label>Find a ${kind} by its name${hints[kind]}<input type="text" name="name" required maxlength="1000" autocomplete="off" spellcheck="false"></label><button type="submit">Find</button></form>
`;

const nothingYet = html`<p class="warning">No answers yet: the first cycle is not complete. See <a href="/">the start page</a>.</p>`;

/** Names that contain what was asked for, or are contained in it, and the name that is spelled most like it. */
function nearNames(kind: PageKind, asked: string, analysis: Analysis): readonly string[] {
  const names = explainedNames(kind, analysis);
  const small = asked.toLowerCase();
  const alike = names.filter((name) => {
    const other = name.toLowerCase();
    return small !== "" && (other.includes(small) || (other !== "" && small.includes(other)));
  });
  const nearest = nearestName(asked, names);
  return [...new Set([...(nearest === null ? [] : [nearest]), ...alike])].slice(0, shownNear);
}

function linkOf(kind: PageKind, name: string): Html {
  if (kind !== "workload") return nameLink(kind, name);
  const workload = workloadNamed(name);
  return html`${workload.kind} ${workloadLink(workload)}`;
}

/** Splits `NAMESPACE/KIND/NAME` into its parts. */
export function workloadNamed(key: string): WorkloadName {
  const [namespace = "", kind = "", ...rest] = key.split("/");
  return { namespace, kind, name: rest.join("/") };
}

type ListOf = (analysis: Analysis, lists: ListBuilder, asked: Pick<NamesPageInput, "idle">) => Html;

const lists: Readonly<Record<PageKind, ListOf>> = {
  team: (analysis) => {
    const known = teamRows(analysis);
    const rows = mostFirst(known.rows);
    return listHtml("team", rows.length, teamTableHtml(known, rows.slice(0, shownNames), known.all));
  },
  queue: (_analysis, lists) => {
    const all = lists.queues().filter(({ kind }) => kind !== "Scheduler");
    const table = tableHtml("Queues", all, [
      ["queue", ({ name }) => nameLink("queue", name)],
      ["what it is", queueKind],
      ["domain", ({ domain }) => plainText(domain, 100)],
      ["entitled", ({ entitled }) => (entitled === null ? "–" : gpus(entitled)), "number"],
      ["allocated", ({ allocated }) => gpus(allocated), "number"],
      ["waiting", ({ pending }) => gpus(pending), "number"],
    ]);
    const local = lists.localQueues();
    const locals = tableHtml("LocalQueues", local, [
      ["LocalQueue", ({ namespace, name }) => nameLink("queue", `${namespace}/${name}`)],
      ["ClusterQueue", ({ clusterQueue }) => nameLink("queue", clusterQueue)],
    ]);
    const second = local.length === 0 ? html`` : html`<h2>LocalQueues of Kueue (${local.length})</h2>${locals}`;
    return html`${listHtml("queue", all.length, table)}${second}`;
  },
  node: (_analysis, lists, { idle }) => {
    const all = lists.nodes().filter((node) => idle === null || node.idle === idle);
    const table = tableHtml("Nodes", all, [
      ["node", ({ name }) => nameLink("node", name)],
      ["pools", ({ pools }) => plainText(pools.join(", "), 100)],
      ["GPUs", ({ physicalGpus }) => (physicalGpus === null ? "–" : gpus(physicalGpus)), "number"],
      ["allocated", ({ allocated }) => gpus(allocated), "number"],
      ["state", nodeState, "words"],
    ]);
    return idle === null ? listHtml("node", all.length, table) : idleNodes(idle, all.length, table);
  },
  workload: (_analysis, lists) => {
    const all = lists.workloads().toSorted((one, other) => other.gpus - one.gpus);
    const table = tableHtml("Workloads", all, [
      ...workloadColumns,
      ["allocated GPUs", (one) => gpus(one.gpus), "number"],
    ]);
    const waiting = lists.pending();
    const waits = tableHtml("Waiting work", waiting, [
      ...workloadColumns,
      ["waits for GPUs", (one) => (one.gpus === null ? "unknown" : gpus(one.gpus)), "number"],
      ["cause", ({ cause }) => cause, "words"],
    ]);
    const second = waiting.length === 0 ? html`` : html`<h2>Waiting (${waiting.length})</h2>${waits}`;
    return html`${listHtml("workload", all.length, table)}${second}`;
  },
};

/** A column of a table: its heading, its cells, and whether these are numbers or several words. */
type NameColumn<Item> = readonly [heading: string, of: (one: Item) => Html | string, look?: "number" | "words"];

const workloadColumns: readonly NameColumn<WorkloadName & { readonly team: string; readonly queue: string | null }>[] =
  [
    ["workload", workloadLink],
    ["kind", ({ kind }) => plainText(kind, 60)],
    ["team", ({ team }) => nameLink("team", team, 60)],
    ["queue", ({ queue }) => (queue === null ? "–" : nameLink("queue", queue, 60))],
  ];

/** The state of a node in a word or two. */
function nodeState({ ready, schedulable, idle }: NodeRecord): string {
  if (ready === null) return "unknown";
  if (!ready) return "not ready";
  const texts = [...(schedulable === false ? ["cordoned"] : []), ...(idle === null ? [] : [`idle (${idle})`])];
  return texts.join(", ") || "ready";
}

const idleNodes = (idle: string, count: number, table: Html): Html =>
  html`<h2>Idle nodes: ${plainText(idle, 60)} (${count})</h2>
${table}<p>${count > shownNames ? html`${count - shownNames} more are not shown. ` : html``}<a href="${listPath("node")}">All nodes</a></p>`;

/** A table of the first of many items; the first cell of a row names its item. */
function tableHtml<Item>(label: string, all: readonly Item[], columns: readonly NameColumn<Item>[]): Html {
  if (all.length === 0) return html``;
  const heads = columns.map(([heading, , look]): Head => (look === "number" ? [heading, look] : heading));
  const cellOf = (one: Item, [, of, look]: NameColumn<Item>, i: number): Html => {
    if (i === 0) return html`<th scope="row">${of(one)}</th>`;
    return look === undefined ? html`<td>${of(one)}</td>` : html`<td class="${look}">${of(one)}</td>`;
  };
  const rows = all
    .slice(0, shownNames)
    .map((one) => html`<tr>${columns.map((column, i) => cellOf(one, column, i))}</tr>\n`);
  return html`${wideTable(label, heads, rows)}\n`;
}

function listHtml(kind: PageKind, all: number, table: Html): Html {
  if (all === 0) return html`<p>There is no ${kind} that holds or waits for GPUs.</p>`;
  const rest = all - shownNames;
  return html`<h2>${headings[kind]} (${all})</h2>
${table}${rest > 0 ? html`<p>${rest} more are not shown: find one by its name.</p>` : html``}`;
}
