import type { Advice, Recommendation } from "../../model/recommendation.ts";
import { plainText } from "../terminal/columns.ts";
import { confidenceText, gainText, lossText, savingText } from "./adviceWords.ts";
import { commandNotShown, commandText } from "./commandText.ts";
import { effectRows } from "./effectRows.ts";

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
    `## ${plain(one.title)}`,
    "",
    plainLine(one.reason),
    "",
    `- gain: ${plain(gainText(one))}`,
    `- cost: ${plain(lossText(one))}`,
    ...(saving === "" ? [] : [`- saves: ${plain(saving)}`]),
    `- confidence: ${plain(confidenceText(one))}`,
    `- kind and id: ${one.kind}, ${plain(one.id)}`,
    "",
    ...(rows.length === 0
      ? []
      : [
          "| simulated | now | after, packed | after, spread |",
          "|---|---:|---:|---:|",
          ...rows.map(
            ({ name, before, mostAllocated, leastAllocated }) =>
              `| ${[name, before, mostAllocated, leastAllocated].map(plain).join(" | ")} |`,
          ),
          "",
        ]),
    ...one.steps.flatMap(({ title, precondition, dryRun, command, waitFor }, i) => [
      `${i + 1}. ${plainLine(title)}`,
      "",
      `   Only if: ${plain(precondition)}`,
      "",
      ...fenced(dryRun === null ? [command] : [dryRun, command]),
      "",
      ...(waitFor === null ? [] : [`   Then wait until: ${plain(waitFor)}`, ""]),
    ]),
  ].join("\n");
}

const longestText = 2000;

/** Keeps two characters together for a reader and apart for a program that looks for links and names. */
const joiner = "\u2060";

/**
 * Names are what users wrote: nothing of them may become markup, a link or a mention. Backslashes do for what CommonMark
 * knows; GitHub, GitLab and chats look for addresses and mentions in what comes out of that.
 */
function plain(text: string): string {
  return plainText(text, longestText)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_{}[\]()#+!|<>~@$&]/g, (mark) => `\\${mark}`)
    .replaceAll(/[@#](?=\S)|:(?=\/\/)|\bwww(?=\.)/gi, (mark) => `${mark}${joiner}`);
}

/** The same at the beginning of a line, where it must not begin a list or underline a heading. */
const plainLine = (text: string): string =>
  plain(text)
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, `$1${joiner}`)
    .replace(/^(?=[-=])/, "\\");

/** A fence that is longer than any within. */
function fenced(commands: readonly string[]): readonly string[] {
  const lines = commands.map((command) => commandText(command) ?? `# ${commandNotShown}`);
  const longest = Math.max(2, ...lines.flatMap((text) => [...text.matchAll(/`+/g)].map(([run]) => run.length)));
  const fence = "`".repeat(longest + 1);
  return [`   ${fence}sh`, ...lines.map((text) => `   ${text}`), `   ${fence}`];
}
