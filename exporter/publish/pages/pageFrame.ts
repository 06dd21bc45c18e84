import { type Html, html } from "./html.ts";
import { pageStyle } from "./pageStyle.ts";
import { refreshScript } from "./refresh.ts";

/** The pages that people look at, in the order of the navigation. */
const pages = [
  ["/", "Now"],
  ["/recommendations", "Recommendations"],
  ["/review", "Review"],
  ["/teams", "Teams"],
  ["/queues", "Queues"],
  ["/nodes", "Nodes"],
  ["/workloads", "Workloads"],
] as const;

/** The path of one of the pages. */
type PagePath = (typeof pages)[number][0];

/** What differs between pages. */
interface Page {
  /** Title of the browser's window: `Recommendations · Fairlead harbor`. */
  readonly title: string;
  readonly heading: string;
  /** The text below the heading: the cluster, and what else the page is about. */
  readonly about: Html;
  /** The page of the navigation that this is; `null`: it is a file, which has no navigation. */
  readonly here: PagePath | null;
  /** Whether it is one of many pages below `here`, such as that of one team or one recommendation. */
  readonly isBelow?: boolean;
  /** Style sheets beside that of every page; each needs its source in the Content-Security-Policy. */
  readonly styles: readonly string[];
  /** Seconds after which the page refreshes itself; absent: it does not. */
  readonly refreshSeconds?: number;
  readonly body: Html;
  readonly foot: Html;
}

/** The icon of a window: three bars, in colours that can be seen on light and dark. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1f4e79"/><path d="M3 12V7h2.5v5zM6.75 12V4h2.5v8zM10.5 12V9H13v3z" fill="#fff"/></svg>`;
const iconLink = html`<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">`;

/** A whole page: one header, one main part, one footer, and one look. */
export function pageFrame(page: Page): string {
  const { title, heading, about, here, isBelow = false, styles, refreshSeconds, body, foot } = page;
  const refreshes = refreshSeconds === undefined ? html`` : html` data-refresh="${refreshSeconds}"`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${here === null ? html`` : iconLink}
${[pageStyle, ...styles].map((style) => html`<style>${{ markup: style }}</style>\n`)}</head>
<body${refreshes}>
<header>${here === null ? html`` : navigation(here, isBelow)}<h1>${heading}</h1>${about}${refreshSeconds === undefined ? html`` : refreshControls(refreshSeconds)}</header>
<main>
${body}
</main>
<footer>${foot}</footer>
${refreshSeconds === undefined ? html`` : html`<script id="refresher">${{ markup: refreshScript }}</script>\n`}</body>
</html>
`.markup;
}

/** The controls with which readers can stop a page from refreshing itself; without the script it is reloaded by hand. */
function refreshControls(seconds: number): Html {
  return html`
<p data-keep hidden><label><input type="checkbox" id="refresh" checked> refreshes every ${seconds} s</label></p>
<noscript data-keep><p>Without JavaScript this page stays as it is: <a href="/">reload it</a>.</p></noscript>
<p id="refresh-note" class="warning" role="status" data-keep></p>
`;
}

function navigation(here: PagePath, isBelow: boolean): Html {
  const items = pages.map(([path, text]) => {
    const current = path === here ? html` aria-current="${isBelow ? "true" : "page"}"` : html``;
    return html`<li><a href="${path}"${current}>${text}</a></li>`;
  });
  return html`<nav aria-label="Pages"><ul>${items}</ul></nav>\n`;
}
