import { barStyle } from "./gpuBar.ts";
import { inlineSource } from "./pageStyle.ts";
import { chartStyle } from "./pastSection.ts";

/** Style of the start page and of the pages of single names, beside that of every page. Colour repeats what the text says. */
export const nowStyle = `
:root { --used: #1a7f37; --half: #86c794; --wasted: #d08b00; --waits: #4a8fd0; --unknown: #8c959f; --open: #c5dcf2; --spare: #efd59b; --away: #57606a; }
@media (prefers-color-scheme: dark) { :root { --used: #3fb950; --half: #2b6b3a; --wasted: #d29922; --waits: #58a6ff;
  --unknown: #7d8590; --open: #27496d; --spare: #6d5524; --away: #545d68; } }
html { overflow-anchor: none; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; margin: 1.25rem 0; }
.numbers div { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; }
.problems { list-style: none; padding: 0; }
.problems li { border-left: 0.25rem solid var(--line); padding: 0.2rem 0 0.2rem 0.75rem; margin-bottom: 0.75rem; }
.problems .error { border-color: var(--error); } .problems .warning { border-color: var(--warning); }
td.error, .problems .error strong { color: var(--error); } td.warning, .problems .warning strong { color: var(--warning); }
.wide th[scope=row], .wide th:first-child { min-width: 6.5rem; position: sticky; left: 0; background: var(--back); } tfoot th, tfoot td { font-weight: 600; }
caption { text-align: left; padding-top: 0.9rem; } .wide td, .wide th { vertical-align: top; }
td.words { min-width: 9rem; } th.words, td.words { padding-left: 0.8rem; } .queues td:nth-child(3) { min-width: 14rem; } h3 { font-size: 1rem; margin: 0.9rem 0 0.3rem; font-weight: 600; }
${barStyle}${chartStyle}`;

/** The source of this style, for the Content-Security-Policy. */
export const nowStyleSource = inlineSource(nowStyle);
