import { type Html, html } from "./html.ts";
import { markdownHtml } from "./markdown.ts";
import { pageFrame } from "./pageFrame.ts";

/** Markdown of the alerts' runbooks, by the alert's name in lower case. */
export type Runbooks = ReadonlyMap<string, string>;

/** The page of one runbook; its first line is the alert's name as a heading. */
export function renderRunbook(cluster: string, markdown: string): string {
  const heading = titleOf(markdown);
  return framed(cluster, heading, true, markdownHtml(markdown.replace(/^# .*\n+/, "")));
}

/** The list of all runbooks, each with its first sentence. */
export function renderRunbookList(cluster: string, runbooks: Runbooks): string {
  const items = [...runbooks]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, markdown]) =>
        html`<li><a href="/runbooks/${name}">${titleOf(markdown)}</a>: ${markdown.split("\n")[2] ?? ""}</li>\n`,
    );
  return framed(cluster, "Runbooks", false, html`<ul>${items}</ul>`);
}

function framed(cluster: string, heading: string, isOne: boolean, body: Html): string {
  return pageFrame({
    title: `${heading} · Fairlead ${cluster}`,
    heading,
    about: html`<p>cluster <strong>${cluster}</strong></p>`,
    here: "/recommendations",
    isBelow: true,
    styles: [],
    body,
    foot: isOne ? html`<p><a href="/runbooks">All runbooks</a></p>` : html`<p>What to do when an alert fires.</p>`,
  });
}

function titleOf(markdown: string): string {
  return /^# (.+)$/m.exec(markdown)?.[1] ?? "Runbook";
}
