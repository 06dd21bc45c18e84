import type { Recommendation } from "../../../exporter/model/recommendation.ts";
import { gainText, lossText } from "../../../exporter/publish/advice/adviceWords.ts";
import { type Html, html } from "../../../exporter/publish/pages/html.ts";
import { shortTitle } from "../../../exporter/publish/pages/recommendationArticle.ts";
import { canBeDone } from "./carryOut.ts";

/** One of the dashboards that can be looked at. */
export interface Board {
  /** Name of its file, `fairlead-fleet.json`. */
  readonly file: string;
  readonly title: string;
}

/** What the page shows above a board. */
export interface BoardHead {
  /** File name of the board that is shown. */
  readonly file: string;
  readonly boards: readonly Board[];
  readonly token: string;
  /** Seconds between two scrapes, by the machine's clock. */
  readonly stepSeconds: number;
  readonly speed: number;
  /** The time of the cluster, seconds since the epoch. */
  readonly simulatedAt: number;
  readonly recommendations: readonly Recommendation[];
  /** What was carried out last, and what came of it; `null`: nothing was carried out yet. */
  readonly done: string | null;
}

/** The most recommendations above a board; the others are on the page of recommendations. */
const shownAdvice = 5;
/** How much of the past a board shows, by the machine's clock: an hour of the cluster's and more, at the usual speed. */
const shownPast = "now-15m";

const style = `
:root { color-scheme: light dark; --text: #1c2126; --back: #ffffff; --line: #d5dae0; --quiet: #57606a; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --back: #14181c; --line: #333b43; --quiet: #9aa4ae; --link: #7cb7f5; } }
body { margin: 0; }
/* Tables of the library skip what is out of view, and stay blank in a picture or on paper. */
[role="grid"] { content-visibility: visible !important; contain: none !important; }
.head { padding: 0.75rem 16px; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
.head h1 { margin: 0; font-size: 1.25rem; } .head h2 { margin: 0.75rem 0 0; font-size: 1rem; }
.head p { margin: 0; color: var(--quiet); } .head a { color: var(--link); }
.head nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0.5rem 0 0; padding: 0; }
.head nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
.head ol { list-style: none; margin: 0; padding: 0; }
.head ol li { border-top: 1px solid var(--line); padding: 0.4rem 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; }
.head li div { flex: 1 1 18rem; } .head form { margin: 0; }
.head button { font: inherit; color: var(--text); background: transparent; border: 1px solid var(--quiet); border-radius: 4px; padding: 0.25rem 0.75rem; cursor: pointer; }
`;

/** What the page may load and do: its own scripts, styles, fonts and answers, and nothing of another origin. */
export const boardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // Grafana's library and its charts write their styles while they draw.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** The path of a board, with a time range that moves with the clock. */
export function boardPath(file: string, stepSeconds: number): string {
  const asked = { dashboard: file, from: shownPast, refresh: `${stepSeconds}`, scrape: `${stepSeconds}`, rows: "open" };
  return `/?${new URLSearchParams(asked)}`;
}

/** The page of a board, which the script of the preview draws. */
export function boardPage(head: BoardHead): string {
  const shown = head.boards.find(({ file }) => file === head.file);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${shown?.title ?? "Dashboards"}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/build/main.css">
<style>${{ markup: style }}</style>
</head>
<body>
<header class="head">
<h1>Dashboards of the demo</h1>
<nav aria-label="Dashboards"><ul>${head.boards.map((board) => link(board, head))}</ul></nav>
<div id="advice">${adviceSection(head)}</div>
</header>
<main id="root"></main>
<script type="module" src="/build/main.js"></script>
<script type="module" src="/again.js"></script>
</body>
</html>
`.markup;
}

/** The part above the board that changes, as it is fetched again and again. */
export function adviceSection(head: BoardHead): Html {
  const doable = head.recommendations.filter(canBeDone);
  const shown = doable.slice(0, shownAdvice);
  const rest = doable.length - shown.length;
  const at = new Date(head.simulatedAt * 1000).toUTCString().replace(/:\d\d GMT$/, " UTC");
  return html`<p>In the simulated cluster it is ${at}, and time passes ${paceText(head.speed)}. The charts show the time of this machine.</p>
${head.done === null ? html`` : html`<p role="status">${head.done}</p>\n`}<h2>Recommendations that you can carry out here</h2>
${
  shown.length === 0
    ? html`<p>There are none at the moment.</p>`
    : html`<ol>${shown.map((one) => item(one, head))}</ol>`
}${rest > 0 ? html`<p>There are ${rest} more.</p>` : html``}`;
}

const paceText = (speed: number): string => (speed === 1 ? "as fast as here" : `${speed} times as fast as here`);

function link({ file, title }: Board, head: BoardHead): Html {
  const current = file === head.file ? html` aria-current="page"` : html``;
  return html`<li><a href="${boardPath(file, head.stepSeconds)}"${current}>${title}</a></li>`;
}

function item(one: Recommendation, { token, file }: BoardHead): Html {
  const verb = one.steps.length > 0 ? "Carry it out" : "Ask the owner";
  return html`<li><div>${shortTitle(one)}<p>${gainText(one)}; cost: ${lossText(one)}</p></div>
<form method="post" action="/carry-out"><input type="hidden" name="token" value="${token}"><input type="hidden" name="dashboard" value="${file}"><input type="hidden" name="id" value="${one.id}">
<button type="submit">${verb}</button></form></li>
`;
}

/** The script that fetches the changing part again and again. A button that someone is about to press stays where it is. */
export const againScript = `
const place = document.getElementById("advice");
const asked = new URLSearchParams(location.search);
let last = null;
async function again() {
  try {
    const answer = await fetch("/advice?" + asked);
    const text = await answer.text();
    if (answer.ok && text !== last && !place.contains(document.activeElement)) place.innerHTML = last = text;
  } catch {}
  setTimeout(again, 1000 * Number(asked.get("refresh")));
}
setTimeout(again, 1000);
`;
