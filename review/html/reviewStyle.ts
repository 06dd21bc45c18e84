import { inlineSource } from "../../exporter/publish/pages/pageStyle.ts";

/**
 * Style of the review, beside that of every page. Blue is neutral, green is good, amber is worth a look, and grey is unknown;
 * patterns and words say the same.
 */
export const reviewStyle = `
:root { --allocated: #b5d3f2; --active: #1f6fbf; --level: #1f6fbf; --good: #1a7f37; --lost: #e0a637; --unknown: #8b949e;
  --wait: #a15c00; --grid: #e3e7ec; }
@media (prefers-color-scheme: dark) { :root { --allocated: #2d4c6d; --active: #5aa5ee; --level: #5aa5ee; --good: #4fbf6b; --lost: #c98f22;
  --unknown: #7d8792; --wait: #f0b849; --grid: #2a323a; } }
body { max-width: 82rem; }
header p { max-width: 60rem; }
h3 { font-size: 0.95rem; margin: 1rem 0 0.3rem; }
section { min-width: 0; }
section > p { margin: 0.3rem 0; max-width: 60rem; }
.quiet { color: var(--quiet); } p.quiet { font-size: 0.9rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 0.75rem; margin: 1rem 0 0.5rem; padding: 0; list-style: none; }
.tiles li { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.6rem 0.8rem; min-width: 0; }
.tiles h3 { margin: 0; font-size: 0.9rem; font-weight: 400; color: var(--quiet); }
.tiles p { margin: 0; font-size: 0.85rem; color: var(--quiet); }
.tiles .value { font-size: 1.45rem; line-height: 1.3; color: var(--text); font-variant-numeric: tabular-nums; }
.spark { display: block; width: 100%; height: 2rem; margin: 0.3rem 0; overflow: visible; }
.tables { display: grid; gap: 0.8rem; grid-template-columns: minmax(0, 1fr); } .pair > *, .charts > * { min-width: 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 38rem), 1fr)); gap: 0.8rem 2.5rem; align-items: start; }
.jobs .pair { grid-template-columns: minmax(0, 1fr); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem; align-items: start; }
caption { text-align: left; color: var(--quiet); font-size: 0.9rem; padding: 0.2rem 0; }
table { font-size: 0.9rem; }
th, td { padding: 0.3rem 0.5rem; vertical-align: top; } th:first-child { padding-left: 0; } td:last-child, th:last-child { padding-right: 0; }
thead th { vertical-align: bottom; line-height: 1.25; }
tbody th { min-width: 7.5rem; overflow-wrap: anywhere; }
.wordy tbody th { min-width: 14rem; } td.long { min-width: 10rem; } caption span { display: inline-block; max-width: calc(100vw - 2rem); }
.short, .unit { white-space: nowrap; }
tr.part th:first-child { padding-left: 1.2rem; color: var(--quiet); }
tr.level th { font-weight: 600; }
td.bar { width: 40%; min-width: 6rem; vertical-align: middle; }
td.bar svg { display: block; width: 100%; height: 0.9rem; }
.decide { border-left: 0.25rem solid var(--active); padding: 0.1rem 0 0.1rem 1rem; margin: 1rem 0; }
.headline { font-size: 1.15rem; margin: 0.4rem 0; }
.decide h2 { margin: 0 0 0.3rem; } .decide ol { margin: 0; padding-left: 1.3rem; }
.appendix { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 0.8rem; color: var(--quiet); }
figure { margin: 0.8rem 0 1.2rem; }
figcaption { font-size: 0.9rem; } figcaption strong { font-weight: 600; }
figure > svg { display: block; width: 100%; height: 9rem; }
.runway > svg { height: 6rem; }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.8rem; font-variant-numeric: tabular-nums; }
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; list-style: none; margin: 0.3rem 0; padding: 0; font-size: 0.85rem; }
.legend svg { width: 1.4rem; height: 0.8rem; margin-right: 0.35rem; vertical-align: -0.05rem; }
.grid { stroke: var(--grid); fill: none; } .base { stroke: var(--line); fill: none; }
.capacity { stroke: var(--text); stroke-width: 1.6; fill: none; }
.guaranteed { stroke: var(--quiet); stroke-width: 1.6; stroke-dasharray: 5 4; fill: none; }
.allocated { fill: var(--allocated); } .active { fill: var(--active); }
.waiting-line { stroke: var(--wait); stroke-width: 1.5; fill: none; }
.waiting-edge { stroke: var(--wait); stroke-width: 1; fill: none; }
.trace { stroke: var(--active); stroke-width: 1.8; fill: none; }
.dot { stroke: var(--active); stroke-width: 5; stroke-linecap: round; fill: none; } .last { stroke-width: 8; }
.trend { stroke: var(--wait); stroke-width: 1.6; stroke-dasharray: 2 3; fill: none; }
.range { stroke: var(--wait); stroke-width: 5; fill: none; }
.bar-level { fill: var(--level); } .bar-good { fill: var(--good); }
.bar-lost { fill: var(--lost); } .bar-unknown { fill: var(--unknown); }
svg line, svg path, svg polyline { vector-effect: non-scaling-stroke; }
.wide:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
@media (max-width: 40rem) {
  td.bar { width: auto; min-width: 5rem; } tbody th { min-width: 6.3rem; } th, td { padding-left: 0.35rem; padding-right: 0.35rem; }
}
@page { margin: 10mm 10mm 9mm; @bottom-right { content: counter(page) " / " counter(pages); font-size: 8pt; } }
@media print {
.headline { font-size: 1em; margin: 0.1rem 0; }
  :root { color-scheme: light; --text: #000000; --back: #ffffff; --line: #c5cbd2; --quiet: #454c54; --link: #000000; --warning: #6b4600;
    --error: #8f1d16; --ok: #125c28; --allocated: #b5d3f2; --active: #1f6fbf; --level: #1f6fbf; --good: #1a7f37; --lost: #e0a637;
    --unknown: #8b949e; --wait: #a15c00; --grid: #e3e7ec; }
  html { font-size: 7.7pt; }
  body { max-width: none; padding: 0; line-height: 1.35; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { text-decoration: none; } nav, details { display: none; }
  h1 { font-size: 1.5rem; } h2 { margin: 0.45rem 0 0.15rem; break-after: avoid; } h3 { margin: 0.4rem 0 0.1rem; break-after: avoid; }
  .wide { overflow: visible; } .pair .short { white-space: normal; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.4rem; margin: 0.3rem 0 0.2rem; } .tiles li { padding: 0.3rem 0.5rem; break-inside: avoid; }
  .tiles .value { font-size: 1.3rem; } .spark { height: 1.4rem; }
  .pair { grid-template-columns: 1fr 1fr; gap: 0 1.2rem; }
  .decide { margin: 0.3rem 0; } .decide ul { margin: 0; columns: 2; } .tables { gap: 0.4rem; } .jobs .pair { grid-template-columns: 1fr; gap: 0.4rem; } .charts { grid-template-columns: repeat(auto-fit, minmax(56mm, 1fr)); gap: 0 1rem; }
  table { font-size: 0.88rem; line-height: 1.2; } th, td { padding: 0.12rem 0.3rem; }
  thead th { font-size: 0.85rem; } tbody th, .wordy tbody th { min-width: 5.5rem; } td.long { min-width: 0; } caption span { max-width: none; }
  .appendix { break-before: page; margin-top: 0; border-top: 0; padding-top: 0; color: var(--text); }
  tr, figure, .keep, li { break-inside: avoid; }
  figure { margin: 0.4rem 0 0.6rem; } figure > svg { height: 5.4rem; } .runway > svg { height: 4.5rem; }
  footer { margin-top: 1rem; font-size: 0.85rem; }
}
`;

/** The source of this style, for the Content-Security-Policy of the page at /review. */
export const reviewStyleSource = inlineSource(reviewStyle);
