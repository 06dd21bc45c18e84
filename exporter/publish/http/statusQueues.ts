import type { Analysis } from "../../analysis/analysis.ts";
import { shortQueues } from "../shortQueues.ts";
import { duration, gpus } from "../terminal/columns.ts";
import { causeTexts, deadlockText } from "../terminal/queueLines.ts";
import { queueKind } from "../terminal/queueWords.ts";
import { type Html, html } from "./html.ts";

const shownQueues = 10;
const shownFindings = 20;

/** Who is short of its share, gangs that block each other, and findings; nothing where nothing is known of queues. */
export function queueSection(analysis: Analysis | null): Html {
  if (analysis === null || analysis.snapshot.queueing.queues.length === 0) return html``;
  return html`<h2>Queues</h2>
${shortTable(analysis)}${deadlocks(analysis)}${findings(analysis)}`;
}

function shortTable(analysis: Analysis): Html {
  const short = shortQueues(analysis);
  if (short.length === 0) {
    const unknown = analysis.snapshot.queueing.domains.filter(({ unknownBecause }) => unknownBecause !== null);
    if (unknown.length === 0) return html`<p class="ok">Every queue holds what it is entitled to.</p>`;
    return html`<p class="warning">Nobody is known to be short, but of ${unknown.map(({ name }) => name).join(", ")} it is not known: ${unknown[0]?.unknownBecause ?? ""}.</p>`;
  }
  const rows = short.slice(0, shownQueues).map(({ queue, domain, fairness, borrowers, oldestSeconds }) => {
    const explain = `/api/v1/explain?kind=queue&name=${encodeURIComponent(queue.name.toWellFormed())}`;
    const has = borrowers.slice(0, 3).map((one) => `${one.queue} ${gpus(one.gpus)}`);
    return html`<tr><th scope="row"><a href="${explain}">${queue.name.slice(0, 253)}</a><br><span class="next">${queueKind(queue)}, ${domain}</span></th><td>${gpus(queue.allocated)} of ${gpus(fairness.entitled)}</td><td>${[...has, ...causeTexts(fairness, borrowers)].join(", ") || "–"}</td><td>${oldestSeconds === null ? "–" : duration(oldestSeconds)}</td></tr>\n`;
  });
  const rest = short.length - rows.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/queues">/api/v1/queues</a></p>` : html``;
  return html`<div class="queues"><table><thead><tr><th>misses GPUs</th><th>holds</th><th>who has the rest</th><th>waits for</th></tr></thead><tbody>
${rows}</tbody></table></div>${more}
`;
}

function deadlocks({ waiting }: Analysis): Html {
  if (waiting.deadlocks.length === 0) return html``;
  const items = waiting.deadlocks.map(
    (one) =>
      html`<li class="error"><strong>Gangs block each other</strong> ${deadlockText(one)}<br><span class="next">Next: suspend one of them, so that another becomes whole</span></li>\n`,
  );
  return html`<ul class="problems">${items}</ul>`;
}

function findings({ findings: all }: Analysis): Html {
  if (all.length === 0) return html``;
  const items = all
    .slice(0, shownFindings)
    .map(
      ({ kind, name, reason, change }) =>
        html`<li class="warning"><strong>${kind} ${name.slice(0, 317)}</strong> ${reason}<br><span class="next">Next: ${change}</span></li>\n`,
    );
  const rest = all.length - items.length;
  const more = rest > 0 ? html`<p>${rest} more: <a href="/api/v1/findings">/api/v1/findings</a></p>` : html``;
  return html`<ul class="problems">${items}</ul>${more}`;
}
