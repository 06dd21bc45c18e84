import { createHash } from "node:crypto";

/** Source of a style sheet or script within a page, for a Content-Security-Policy. */
export function inlineSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Style of every page: light and dark, readable from 375 px on. Colour repeats what the text says. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1c2126; --back: #ffffff; --line: #d5dae0; --quiet: #57606a; --link: #0b5cad;
  --error: #b3261e; --warning: #8a5a00; --ok: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ec; --back: #14181c; --line: #333b43; --quiet: #9aa4ae;
  --link: #7cb7f5; --error: #ff8a80; --warning: #f0b849; --ok: #6fdc8c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.75rem 0 0.5rem; }
header p, footer, .next { color: var(--quiet); } header p { margin: 0; } footer { margin-top: 2rem; font-size: 0.9rem; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0 0 0.5rem; padding: 0; font-size: 0.95rem; }
nav a[aria-current] { color: var(--text); font-weight: 600; text-decoration: none; }
dt { color: var(--quiet); font-size: 0.9rem; } dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; }
th, td { overflow-wrap: normal; border-bottom: 1px solid var(--line); padding: 0.4rem 0.6rem 0.4rem 0; text-align: left; font-weight: 400; }
thead th { color: var(--quiet); font-size: 0.9rem; }
.wide { overflow-x: auto; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.queues td:nth-child(3) { overflow-wrap: anywhere; } td.number { white-space: nowrap; } td.number:last-child, th.number:last-child { padding-right: 0; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 0.3rem; padding: 0.5rem 0.7rem; margin: 0.3rem 0;
  font: 0.85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin-top: 0.6rem; } summary { cursor: pointer; color: var(--link); }
form { margin-top: 0.8rem; display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: end; }
label { display: block; flex: 1 1 14rem; color: var(--quiet); font-size: 0.9rem; }
input[type=text] { display: block; width: 100%; font: inherit; padding: 0.35rem 0.5rem; color: var(--text);
  background: var(--back); border: 1px solid var(--quiet); border-radius: 0.3rem; }
button { font: inherit; padding: 0.4rem 0.9rem; border: 1px solid var(--quiet); border-radius: 0.3rem; color: var(--text);
  background: var(--back); cursor: pointer; }
p.error { color: var(--error); } p.warning { color: var(--warning); } .ok { color: var(--ok); }
`;

/** The source of this style, for the Content-Security-Policy. */
export const pageStyleSource = inlineSource(pageStyle);

/** What a page may have besides its text, as sources of a Content-Security-Policy. */
interface PageSources {
  readonly styles: readonly string[];
  /** Sources of scripts, which may also send requests to Fairlead itself; empty: no script runs, and no request is sent. */
  readonly scripts: readonly string[];
}

/** The Content-Security-Policy of HTML pages: their own styles and scripts by their hashes, and icons within the page. */
export function contentPolicy({ styles, scripts }: PageSources): string {
  const running = scripts.length === 0 ? "" : `script-src ${scripts.join(" ")}; connect-src 'self'; `;
  return `default-src 'none'; style-src ${styles.join(" ")}; ${running}img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
}
