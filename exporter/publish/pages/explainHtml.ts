import { type AlikeParts, alikeParts } from "../explain/alikeParts.ts";
import type { Entitlement, EntitlementLine, LocalQueueExplanation } from "../explain/entitlementSchema.ts";
import type { ExplainedPart, Explanation, Fact } from "../explain/schema.ts";
import { duration, gpus, plainText, utc } from "../terminal/columns.ts";
import { entitlementTitle, shareTexts, viewTexts, waitingText } from "../terminal/entitlementText.ts";
import { startsExplained } from "../terminal/startText.ts";
import { type Head, type Html, html, moreLink, wideTable } from "./html.ts";
import { type NameLinks, nameLink, type Subjects, workloadLink } from "./links.ts";

/** The most parts that are shown; `openParts` of them are not folded. */
const shownParts = 100;
const openParts = 12;
const shownGaps = 10;
const longestSentence = 2000;
/** Queues of one name may be in many domains: those beyond this number are left to the API. */
const shownEntitlements = 20;

/** The sums, rules and objects behind the numbers, as `fairlead explain` prints them. */
export function factSection(facts: readonly Fact[], links: NameLinks, subjects: Subjects): Html {
  const rows = facts.map(
    ({ name, value, how }) =>
      html`<tr><th scope="row">${name}</th><td>${links.inText(plainText(value, 300), name === "queue" ? { queues: [value] } : subjects)}</td><td class="words">${links.inText(plainText(how, longestSentence), subjects)}</td></tr>\n`,
  );
  return html`<section id="facts"><h2>How the numbers came about</h2>
${wideTable("How the numbers came about", ["number", "value", ["how", "words"]], rows)}</section>
`;
}

/** LocalQueues of Kueue in sentences; the last one of each says what would have to change. */
export function localQueueSection(localQueues: readonly LocalQueueExplanation[], links: NameLinks): Html {
  if (localQueues.length === 0) return html``;
  const items = localQueues.map(({ namespace, name, clusterQueue, sentences }) => {
    const subjects = { queues: [name, `${namespace}/${name}`, clusterQueue] };
    const texts = sentences.map(
      (sentence) => html`<p>${links.inText(plainText(sentence, longestSentence), subjects)}</p>\n`,
    );
    return html`<h3>LocalQueue ${nameLink("queue", `${namespace}/${name}`)}</h3>${texts}`;
  });
  return html`<section id="local-queues"><h2>In its namespace</h2>
${items}</section>
`;
}

/** What a queue is entitled to in each domain, step by step, and who has what it misses. */
export function entitlementSection(entitlements: readonly Entitlement[], links: NameLinks): Html {
  if (entitlements.length === 0) return html``;
  const rest = entitlements.length - shownEntitlements;
  return html`<section id="entitlements"><h2>What it is entitled to</h2>
${entitlements.slice(0, shownEntitlements).map((one) => entitlementHtml(one, links))}${rest > 0 ? html`<p>In ${rest} more domains: see the JSON.</p>` : html``}</section>
`;
}

function entitlementHtml(one: Entitlement, links: NameLinks): Html {
  const subjects = subjectsOf(one);
  const sentence = (text: string): Html => html`<p>${links.inText(plainText(text, longestSentence), subjects)}</p>\n`;
  const { unknownBecause, levels, why, waiting, waitingGangs, findings } = one;
  return html`<h3>${links.inText(entitlementTitle(one), subjects)}</h3>
${why.map(sentence)}${unknownBecause === null ? html`` : html`<p class="warning">It is not known: ${unknownBecause}</p>`}
${levels.map(({ divides, lines }) => levelTable(divides, lines, links, subjects))}
${viewTexts(one).map((text) => html`<p class="next">${text}</p>\n`)}${waitingList(waiting, waitingGangs)}${findings.map(
  ({ kind, name, reason, change }) =>
    html`<p class="warning">Finding: ${kind} ${links.queue(plainText(name, 300))} ${links.inText(reason, subjects)}<br><span class="next">Next: ${links.inText(change, subjects)}</span></p>\n`,
)}`;
}

/** The names of every queue that the entitlement names. */
function subjectsOf({ name, path, missing, owed, levels }: Entitlement): Subjects {
  const shares = levels.flatMap(({ lines }) => lines.flatMap((line) => line.shares.map(({ queue }) => queue)));
  return {
    queues: [name, ...path, ...missing.map(({ queue }) => queue), ...owed.map(({ queue }) => queue), ...shares],
  };
}

function levelTable(divides: string, lines: readonly EntitlementLine[], links: NameLinks, subjects: Subjects): Html {
  const rows = lines.map(
    ({ sign, name, gpus: amount, how, shares }) =>
      html`<tr><th scope="row">${sign} ${links.inText(plainText(name, 100), subjects)}</th><td class="number">${gpus(amount)}</td><td class="words">${links.inText([...(how === "" ? [] : [plainText(how, 300)]), ...shareTexts(shares)].join("; "), subjects)}</td></tr>\n`,
  );
  const whole = plainText(divides, 100);
  const caption = html`<caption class="next">${links.inText(whole, subjects)}, GPUs</caption>`;
  const heads: readonly Head[] = ["step", ["GPUs", "number"], ["how", "words"]];
  return html`${wideTable(`How ${whole} is divided`, heads, rows, { caption })}\n`;
}

function waitingList(waiting: Entitlement["waiting"], all: number): Html {
  if (all === 0) return html`<p>Nothing waits.</p>`;
  const items = waiting.map((gang) => html`<li>${gang.kind} ${workloadLink(gang)}: ${waitingText(gang)}</li>\n`);
  const rest = all - waiting.length;
  return html`<h4>Waiting (${all})</h4><ol>${items}</ol><p class="next">${startsExplained}</p>${moreLink(rest, "/api/v1/pending", "all that waits, as JSON")}`;
}

/** Each part of a GPU that is counted: where it is, who holds it, its state and why. */
export function partSection(parts: readonly ExplainedPart[], links: NameLinks): Html {
  if (parts.length === 0)
    return html`<section id="devices"><h2>By device</h2><p>No GPU is counted here.</p></section>
`;
  const total = gpus(parts.reduce((sum, part) => sum + part.gpus, 0));
  const groups = alikeParts(parts);
  const rest = groups.slice(shownParts).reduce((sum, { count }) => sum + count, 0);
  const others = groups.slice(openParts, shownParts);
  const folded =
    others.length === 0
      ? html``
      : html`<details id="more-devices"><summary>${others.length} more</summary>
${partTable(others, links)}</details>`;
  return html`<section id="devices"><h2>By device (sums to ${total})</h2>
${partTable(groups.slice(0, openParts), links)}${folded}
${rest > 0 ? html`<p>${rest} more parts are counted, and not shown here.</p>` : html``}</section>
`;
}

const partTable = (groups: readonly AlikeParts[], links: NameLinks): Html =>
  html`${wideTable(
    "By device",
    ["node", "device", "states", "pod", ["why", "words"]],
    groups.map((group) => partRow(group, links)),
  )}\n`;

function partRow({ part, device }: AlikeParts, links: NameLinks): Html {
  const { holder, knownFrom, estimated, why } = part;
  const states = Object.entries(part.states).map(
    ([state, amount]) => `${state.replaceAll("_", " ")} ${gpus(amount ?? 0)}`,
  );
  const known = knownFrom === null ? "" : `Known from ${knownFrom}${estimated ? " (estimated)" : ""}: `;
  const pod =
    holder === null
      ? html`nobody`
      : html`${plainText(`${holder.namespace}/${holder.pod}`, 300)} (${nameLink("team", holder.team, 60)})`;
  return html`<tr><th scope="row">${nameLink("node", part.node)}</th><td>${plainText(device, 80)}</td><td>${states.join(", ")}</td><td>${pod}</td><td class="words">${known}${links.inText(plainText(why, 400))}</td></tr>
`;
}

/** Since when time is counted, what is missing of it, and what is wrong with the inputs of the numbers. */
export function groundSection({ coverage, problems }: Explanation, links: NameLinks): Html {
  const counted =
    coverage === null
      ? html``
      : html`<p>Counted: ${duration(coverage.coveredSeconds)} since ${utc(coverage.since)}; not covered: ${coverage.gaps.length === 0 ? "nothing" : `${coverage.gaps.length} intervals`}.</p>
<ul>${coverage.gaps.slice(-shownGaps).map(({ from, to, reason }) => html`<li>${utc(from)} to ${utc(to)}: ${reason}</li>\n`)}</ul>`;
  const items = problems
    .slice(0, shownParts)
    .map(
      ({ severity, message, nextStep }) =>
        html`<li class="${severity}"><strong>${severity}</strong> ${links.inText(plainText(message, 600))}<br><span class="next">Next: ${plainText(nextStep, 600)}</span></li>\n`,
    );
  return html`<section id="problems"><h2>Problems that touch it</h2>
${items.length === 0 ? html`<p class="ok">None.</p>` : html`<ul class="problems">${items}</ul>`}${counted}</section>
`;
}
