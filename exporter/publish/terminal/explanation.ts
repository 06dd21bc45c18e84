import { alikeParts } from "../explain/alikeParts.ts";
import type { LocalQueueExplanation } from "../explain/entitlementSchema.ts";
import type { ExplainedPart, Explanation, Fact } from "../explain/schema.ts";
import { duration, gpus, plainText, utc } from "./columns.ts";
import { entitlementText } from "./entitlementText.ts";
import { fold, type Line, layOut, plainTerminal, type Terminal } from "./layout.ts";

const shownParts = 40;
const shownGaps = 10;

/** An explanation for a terminal. */
export function explanationText(explanation: Explanation, terminal: Terminal = plainTerminal): string {
  const { kind, name, cluster, at, facts, problems } = explanation;
  const lines: readonly Line[] = [
    ...fold(`${kind} ${plainText(name, 60)}   cluster ${plainText(cluster, 40)}   ${utc(at)}`, "  "),
    ...(explanation.localQueues.length > 0 ? ["", ...explanation.localQueues.flatMap(localQueueText)] : []),
    ...(explanation.entitlements.length > 0 ? ["", ...explanation.entitlements.flatMap(entitlementText)] : []),
    ...factLines(facts),
    "",
    ...partLines(explanation.parts),
    "",
    ...coverageLines(explanation.coverage),
    ...problems.flatMap((problem) => [
      ...fold(`  ${problem.severity.padEnd(7)}  ${plainText(problem.message, 600)}`, " ".repeat(11)),
      ...fold(`           -> ${plainText(problem.nextStep, 600)}`, " ".repeat(14)),
    ]),
    ...(problems.length === 0 ? ["problems that touch it: none"] : []),
  ];
  return layOut(lines, terminal);
}

/** The longest sentence, in UTF-16 code units: several names fit into it. */
const longestSentence = 2_000;

/** A LocalQueue in sentences, for a terminal; the last one says what would have to change. */
function localQueueText({ sentences }: LocalQueueExplanation): readonly Line[] {
  return [
    ...sentences.flatMap((sentence, i) => {
      const isChange = i === sentences.length - 1;
      return fold(`  ${isChange ? "-> " : ""}${plainText(sentence, longestSentence)}`, isChange ? "     " : "    ");
    }),
    "",
  ];
}

function factLines(facts: readonly Fact[]): readonly Line[] {
  const names = Math.max(...facts.map((fact) => fact.name.length));
  const values = Math.min(36, Math.max(...facts.map((fact) => fact.value.length)));
  return facts.flatMap(({ name, value, how }) =>
    fold(
      `  ${name.padEnd(names)}  ${plainText(value, 60).padEnd(values)}  ${plainText(how, 600)}`,
      " ".repeat(names + values + 6),
    ),
  );
}

function partLines(parts: readonly ExplainedPart[]): readonly Line[] {
  if (parts.length === 0) return ["no GPU is counted here"];
  const total = gpus(parts.reduce((sum, part) => sum + part.gpus, 0));
  const groups = alikeParts(parts);
  const shown = groups.slice(0, shownParts);
  const hidden = groups.slice(shownParts).reduce((sum, { count }) => sum + count, 0);
  const areAllNamed = hidden === 0 && groups.length === parts.length;
  const note = `${hidden > 0 ? `and ${hidden} more: ` : ""}--output json lists each of them`;
  return [
    `BY DEVICE (sums to ${total})`,
    ...shown.flatMap(({ part, device }) => partLinesOf(part, device)),
    ...(areAllNamed ? [] : [`  ${note}`]),
  ];
}

function partLinesOf(part: ExplainedPart, device: string): readonly Line[] {
  const states = Object.entries(part.states).map(
    ([state, amount]) => `${state.replaceAll("_", " ")} ${gpus(amount ?? 0)}`,
  );
  const holder = part.holder === null ? "nobody" : `${part.holder.namespace}/${part.holder.pod} (${part.holder.team})`;
  const source =
    part.knownFrom === null
      ? ""
      : `allocated to ${plainText(holder, 90)}, known from ${part.knownFrom}${part.estimated ? " (estimated)" : ""}: `;
  return [
    ...fold(`  ${plainText(part.node, 40)}  ${plainText(device, 60)}  ${states.join(", ")}`, "      "),
    ...fold(`      ${source}${plainText(part.why, 400)}`, "      "),
  ];
}

function coverageLines(coverage: Explanation["coverage"]): readonly Line[] {
  if (coverage === null) return ["this is one moment: nothing is counted over time"];
  const { since, coveredSeconds, gaps } = coverage;
  const hidden = gaps.length - shownGaps;
  return [
    `counted: ${duration(coveredSeconds)} since ${utc(since)}; not covered: ${gaps.length === 0 ? "nothing" : `${gaps.length} intervals`}`,
    ...gaps.slice(-shownGaps).map(({ from, to, reason }) => `  not covered  ${utc(from)} to ${utc(to)}  ${reason}`),
    ...(hidden > 0 ? [`  and ${hidden} before these`] : []),
  ];
}
