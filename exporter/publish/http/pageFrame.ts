import { type Html, html } from "./html.ts";
import { pageStyle } from "./pageStyle.ts";

/** The pages that people look at, in the order of the navigation. */
const pages = [
  ["/", "Now"],
  ["/recommendations", "Recommendations"],
  ["/review", "Review"],
] as const;

/** One of them. */
export type PagePath = (typeof pages)[number][0];

/** What differs between pages. */
export interface Page {
  /** Of the window: `Recommendations · Fairlead harbor`. */
  readonly title: string;
  readonly heading: string;
  /** What is below the heading: the cluster, and what else the page is of. */
  readonly about: Html;
  /** Which page this is of those that link to each other; `null`: a file, which has no neighbours. */
  readonly here: PagePath | null;
  /** Style sheets beside that of every page; each needs its source in the Content-Security-Policy. */
  readonly styles: readonly string[];
  readonly body: Html;
  readonly foot: Html;
}

/** A whole page: one header, one main part, one footer, and one look. */
export function pageFrame({ title, heading, about, here, styles, body, foot }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${[pageStyle, ...styles].map((style) => html`<style>${{ markup: style }}</style>\n`)}</head>
<body>
<header>${here === null ? html`` : navigation(here)}<h1>${heading}</h1>${about}</header>
<main>
${body}
</main>
<footer>${foot}</footer>
</body>
</html>
`.markup;
}

function navigation(here: PagePath): Html {
  const items = pages.map(([path, text]) => {
    const current = path === here ? html` aria-current="page"` : html``;
    return html`<li><a href="${path}"${current}>${text}</a></li>`;
  });
  return html`<nav aria-label="Pages"><ul>${items}</ul></nav>\n`;
}
