import type { Analysis } from "../../analysis/analysis.ts";
import { shortQueues } from "../shortQueues.ts";
import { duration, gpus } from "../terminal/columns.ts";
import { causeTexts, deadlockText } from "../terminal/queueLines.ts";
import { queueKind } from "../terminal/queueWords.ts";
import { type Html, html, moreLink, wideTable } from "./html.ts";
import { listPath, type NameLinks, nameLink } from "./links.ts";

const shownQueues = 10;
const shownFindings = 20;

/** Queues that are short of their share, gangs that block each other, and findings; empty if queues are unknown. */
export function queueSection(analysis: Analysis, links: NameLinks): Html {
  if (analysis.snapshot.queueing.queues.length === 0) return html``;
  return html`<section id="queues"><h2>Queues that miss GPUs</h2>
${shortTable(analysis, links)}${deadlocks(analysis, links)}${findings(analysis, links)}</section>
`;
}

function shortTable(analysis: Analysis, links: NameLinks): Html {
  const short = shortQueues(analysis);
  if (short.length === 0) {
    const unknown = analysis.snapshot.queueing.domains.filter(({ unknownBecause }) => unknownBecause !== null);
    if (unknown.length === 0) return html`<p class="ok">Every queue holds what it is entitled to.</p>`;
    return html`<p class="warning">Nobody is known to be short, but of ${unknown.map(({ name }) => name).join(", ")} it is not known: ${unknown[0]?.unknownBecause ?? ""}.</p>`;
  }
  const rows = short.slice(0, shownQueues).map(({ queue, domain, fairness, borrowers, oldestSeconds }) => {
    const has = borrowers.slice(0, 3).map((one) => html`${links.queue(one.queue)} ${gpus(one.gpus)}`);
    const others = causeTexts(fairness, borrowers).map((text) => html`${text}`);
    const held = [...has, ...others].map((one, i) => html`${i === 0 ? "" : ", "}${one}`);
    return html`<tr><th scope="row">${nameLink("queue", queue.name)}<br><span class="next">${queueKind(queue)}, ${domain}</span></th><td>${gpus(queue.allocated)} of ${gpus(fairness.entitled)}</td><td>${held.length === 0 ? html`–` : held}</td><td>${oldestSeconds === null ? "–" : duration(oldestSeconds)}</td></tr>\n`;
  });
  const rest = short.length - rows.length;
  const heads = ["misses GPUs", "holds", "who has the rest", "waits for"];
  const table = wideTable("Queues that miss GPUs", heads, rows, { look: "wide queues" });
  return html`${table}${moreLink(rest, listPath("queue"), "all queues")}\n`;
}

function deadlocks({ waiting }: Analysis, links: NameLinks): Html {
  if (waiting.deadlocks.length === 0) return html``;
  const items = waiting.deadlocks.map(
    (one) =>
      html`<li class="error"><strong>Gangs block each other</strong> ${links.inText(deadlockText(one))}<br><span class="next">Next: suspend one of them, so that another becomes whole</span></li>\n`,
  );
  return html`<ul class="problems">${items}</ul>`;
}

function findings({ findings: all }: Analysis, links: NameLinks): Html {
  if (all.length === 0) return html``;
  const items = all
    .slice(0, shownFindings)
    .map(
      ({ kind, name, reason, change }) =>
        html`<li class="warning"><strong>${kind} ${links.queue(name.slice(0, 317))}</strong> ${links.inText(reason, { queues: [name] })}<br><span class="next">Next: ${change}</span></li>\n`,
    );
  const rest = all.length - items.length;
  return html`<ul class="problems">${items}</ul>${moreLink(rest, "/api/v1/findings", "all findings as JSON")}`;
}
