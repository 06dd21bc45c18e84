import type { Analysis } from "../../analysis/analysis.ts";
import { everyTeam } from "../../analysis/sums/everyTeam.ts";
import { plainText } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";

/** The kinds of things that have a page for each of their names. */
export const pageKinds = ["team", "queue", "node", "workload"] as const;

export type PageKind = (typeof pageKinds)[number];

/** A workload as its page names it. */
export interface WorkloadName {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** Browsers take these parts of a path, also percent-encoded, for steps within the path. */
const steps: ReadonlySet<string> = new Set(["", ".", ".."]);

/**
 * The path of the page of a team, queue or node. The name is untrusted: the path is `/teams/a%2Fb`, or `/teams?name=..` for a
 * name that a path cannot express.
 */
export function pagePath(kind: Exclude<PageKind, "workload">, name: string): string {
  return pathOf(kind, [name]);
}

/** The path of the page of a workload: `/workloads/search/Job/train-7`. */
export function workloadPath({ namespace, kind, name }: WorkloadName): string {
  return pathOf("workload", [namespace, kind, name]);
}

/** The path of the list of all names of a kind. */
export const listPath = (kind: PageKind) => `/${kind}s` as const;

function pathOf(kind: PageKind, parts: readonly string[]): string {
  const encoded = parts.map((part) => encodeURIComponent(part.toWellFormed()));
  if (!parts.some((part) => steps.has(part))) return `${listPath(kind)}/${encoded.join("/")}`;
  // A slash within a part stays encoded a second time, so that it is not between two parts.
  return `${listPath(kind)}?name=${encodeURIComponent(encoded.join("/"))}`;
}

/** The longest name that a page shows, in UTF-16 code units; links have all of it. */
export const longestName = 253;

/** The name of a team, queue or node as a link to its page. */
export function nameLink(kind: Exclude<PageKind, "workload">, name: string, longest = longestName): Html {
  return html`<a href="${pagePath(kind, name)}">${plainText(name, longest)}</a>`;
}

/** A workload as a link to its page: `search/train-7`. */
export function workloadLink(workload: WorkloadName): Html {
  const shown = plainText(`${workload.namespace}/${workload.name}`, 2 * longestName);
  return html`<a href="${workloadPath(workload)}">${shown}</a>`;
}

/**
 * Names of teams and queues that a sentence is about: a plain word of the sentence that is one of them is taken for the name.
 */
export interface Subjects {
  readonly teams?: readonly string[];
  readonly queues?: readonly string[];
}

/** Links to the pages of a moment's names. */
export interface NameLinks {
  readonly hasTeam: (name: string) => boolean;
  readonly hasQueue: (name: string) => boolean;
  readonly hasNode: (name: string) => boolean;
  /** A name as a link where it has a page, else as text. */
  readonly team: (name: string) => Html;
  readonly queue: (name: string) => Html;
  readonly node: (name: string) => Html;
  /** The workload of that namespace and name; `null`: there is none, or there are several of different kinds. */
  readonly workloadNamed: (namespacedName: string) => WorkloadName | null;
  /** A sentence in which names are links. */
  readonly inText: (text: string, subjects?: Subjects) => Html;
}

const known = new WeakMap<Analysis, NameLinks>();

/** The links of a moment, made once however many pages it has; before the first one, nothing has a page. */
export function nameLinks(analysis: Analysis | null): NameLinks {
  if (analysis === null) return noLinks;
  const links = known.get(analysis) ?? linksOf(analysis);
  known.set(analysis, links);
  return links;
}

interface Names {
  readonly teams: ReadonlySet<string>;
  readonly queues: ReadonlySet<string>;
  readonly nodes: ReadonlySet<string>;
  readonly workloads: ReadonlyMap<string, WorkloadName | null>;
}

const noLinks = linksTo({ teams: new Set(), queues: new Set(), nodes: new Set(), workloads: new Map() });

function linksOf(analysis: Analysis): NameLinks {
  const { nodes, queueing, queueObjects, workloads } = analysis.snapshot;
  const byName = new Map<string, WorkloadName | null>();
  for (const { namespace, kind, name } of [...workloads, ...queueing.gangs]) {
    const key = `${namespace}/${name}`;
    const before = byName.get(key);
    byName.set(key, before === undefined || before?.kind === kind ? { namespace, kind, name } : null);
  }
  const queues = new Set(queueing.queues.flatMap(({ kind, name }) => (kind === "Scheduler" ? [] : [name])));
  for (const { namespace, name } of queueObjects.kueueLocalQueues) queues.add(`${namespace}/${name}`);
  return linksTo({
    teams: new Set(everyTeam(analysis).map(({ team }) => team)),
    queues,
    nodes: new Set(nodes.map(({ name }) => name)),
    workloads: byName,
  });
}

function linksTo({ teams, queues, nodes, workloads }: Names): NameLinks {
  const links: Omit<NameLinks, "inText"> = {
    hasTeam: (name) => teams.has(name),
    hasQueue: (name) => queues.has(name),
    hasNode: (name) => nodes.has(name),
    team: (name) => (teams.has(name) ? nameLink("team", name) : html`${name}`),
    queue: (name) => (queues.has(name) ? nameLink("queue", name) : html`${name}`),
    node: (name) => (nodes.has(name) ? nameLink("node", name) : html`${name}`),
    workloadNamed: (name) => workloads.get(name) ?? null,
  };
  return { ...links, inText: (text, subjects = {}) => linkedText(text, links, subjects) };
}

/**
 * The words of a sentence. Names of Kubernetes have only the characters of words; names with others are not found in sentences.
 */
const words = /[^\s,;:()"'+=<>|→–]+/gu;

/** Whether a name is so distinctive that no word of a sentence equals it by chance. */
const isDistinctive = (name: string): boolean => /[-_./\d]/.test(name) && /\p{L}/u.test(name);

function linkedText(text: string, links: Omit<NameLinks, "inText">, subjects: Subjects): Html {
  const parts: Html[] = [];
  let from = 0;
  let before = "";
  for (const match of text.matchAll(words)) {
    const word = match[0].replace(/[.…]+$/u, "");
    const href = addressOf(word, before, links, subjects);
    before = word;
    if (href === null) continue;
    parts.push(html`${text.slice(from, match.index)}<a href="${href}">${word}</a>`);
    from = match.index + word.length;
  }
  return html`${parts}${text.slice(from)}`;
}

function addressOf(
  word: string,
  before: string,
  links: Omit<NameLinks, "inText">,
  { teams = [], queues = [] }: Subjects,
): string | null {
  const workload = word.includes("/") ? links.workloadNamed(word) : null;
  if (workload !== null) return workloadPath(workload);
  if (links.hasNode(word)) return pagePath("node", word);
  const [isTeam, isQueue] = [links.hasTeam(word), links.hasQueue(word)];
  if (isQueue && /queue$/i.test(before)) return pagePath("queue", word);
  if (isTeam && (before === "team" || teams.includes(word))) return pagePath("team", word);
  if (isQueue && (queues.includes(word) || isDistinctive(word))) return pagePath("queue", word);
  return isTeam && isDistinctive(word) ? pagePath("team", word) : null;
}

/** A workload by namespace and name as a link where it has a page, else as text. */
export function workloadNamedLink(namespacedName: string, links: Pick<NameLinks, "workloadNamed">): Html {
  const workload = links.workloadNamed(namespacedName);
  return workload === null ? html`${namespacedName}` : workloadLink(workload);
}
