import type { Advice, Recommendation } from "../../model/recommendation.ts";
import {
  actText,
  commandNotShown,
  commandText,
  confidenceText,
  gainText,
  lossText,
  savingText,
} from "./adviceWords.ts";
import { effectRows } from "./effectRows.ts";
import { markdownLine, markdownText } from "./markdownText.ts";

/** All open advice as Markdown, for a ticket, a pull request or a chat. */
export function adviceMarkdown({ recommendations }: Pick<Advice, "recommendations">): string {
  const open = recommendations.filter(({ state }) => state === "open");
  if (open.length === 0) return "Nothing is recommended.\n";
  return open.map(recommendationMarkdown).join("\n");
}

/** One piece of advice as Markdown. */
export function recommendationMarkdown(one: Recommendation): string {
  const saving = savingText(one.effect.savingPerWeek);
  const rows = effectRows(one.effect);
  return [
    `## ${markdownText(one.title)}`,
    "",
    markdownLine(one.reason),
    "",
    `- gain: ${markdownText(gainText(one))}`,
    `- cost: ${markdownText(lossText(one))}`,
    ...(saving === "" ? [] : [`- saves: ${markdownText(saving)}`]),
    `- act: ${markdownText(actText(one))}`,
    `- confidence: ${markdownText(confidenceText(one))}`,
    `- kind and id: ${one.kind}, ${markdownText(one.id)}`,
    "",
    ...(rows.length === 0
      ? []
      : [
          "| simulated | now | after, packed | after, spread |",
          "|---|---:|---:|---:|",
          ...rows.map(
            ({ name, before, mostAllocated, leastAllocated }) =>
              `| ${[name, before, mostAllocated, leastAllocated].map(markdownText).join(" | ")} |`,
          ),
          "",
        ]),
    ...one.questions.flatMap(({ to, question, facts }) => [
      `- ask: ${markdownText(to)}: ${markdownText(question)}`,
      ...facts.map((fact) => `   - ${markdownText(fact)}`),
      "",
    ]),
    ...one.steps.flatMap(({ title, precondition, dryRun, command, waitFor }, i) => [
      `${i + 1}. ${markdownLine(title)}`,
      "",
      `   Only if: ${markdownText(precondition)}`,
      "",
      ...fenced(dryRun === null ? [command] : [dryRun, command]),
      "",
      ...(waitFor === null ? [] : [`   Then wait until: ${markdownText(waitFor)}`, ""]),
    ]),
  ].join("\n");
}

/** Puts commands into a fenced code block. Its fence is longer than any run of backticks in the commands. */
function fenced(commands: readonly string[]): readonly string[] {
  const lines = commands.map((command) => commandText(command) ?? `# ${commandNotShown}`);
  const longest = Math.max(2, ...lines.flatMap((text) => [...text.matchAll(/`+/g)].map(([run]) => run.length)));
  const fence = "`".repeat(longest + 1);
  return [`   ${fence}sh`, ...lines.map((text) => `   ${text}`), `   ${fence}`];
}
