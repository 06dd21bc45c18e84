import { plainText } from "../terminal/columns.ts";
import { type Html, html } from "./html.ts";

/** What has a page for each of its names. */
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

/** Where a team, queue or node has its page. The name is untrusted: `/teams/a%2Fb`, or `/teams?name=..` where a path cannot say it. */
export function pagePath(kind: Exclude<PageKind, "workload">, name: string): string {
  return pathOf(kind, [name]);
}

/** Where a workload has its page: `/workloads/search/Job/train-7`. */
export function workloadPath({ namespace, kind, name }: WorkloadName): string {
  return pathOf("workload", [namespace, kind, name]);
}

/** Where all names of a kind are listed. */
export const listPath = (kind: PageKind) => `/${kind}s` as const;

function pathOf(kind: PageKind, parts: readonly string[]): string {
  const encoded = parts.map((part) => encodeURIComponent(part.toWellFormed()));
  if (!parts.some((part) => steps.has(part))) return `${listPath(kind)}/${encoded.join("/")}`;
  // A slash within a part stays encoded a second time, so that it is not between two parts.
  return `${listPath(kind)}?name=${encodeURIComponent(encoded.join("/"))}`;
}

/** Longest name that a page shows; its address has all of it. */
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
