import type { Recommendation } from "../../model/recommendation.ts";
import {
  actText,
  aftermathText,
  commandNotShown,
  commandText,
  confidenceText,
  gainText,
  lifecycleText,
  lossText,
  measuredText,
  replacesText,
  savingText,
} from "../advice/adviceWords.ts";
import { effectRows } from "../advice/effectRows.ts";
import { left, plainText, right, tableLines } from "./columns.ts";
import { fold, type Line, layOut, plainTerminal, type Terminal } from "./layout.ts";

const longest = 2000;

/** One piece of advice in full for a terminal: why, before and after, what it costs, and the commands. */
export function whatIfText(one: Recommendation, now: number, terminal: Terminal = plainTerminal): string {
  const rows = effectRows(one.effect);
  const saving = savingText(one.effect.savingPerWeek);
  const measured = measuredText(one);
  const replaces = replacesText(one);
  const aftermath = aftermathText(one, now);
  const lines: readonly Line[] = [
    ...fold(`${plainText(one.id)}  ${one.kind}  ${plainText(one.title, longest)}`, "  "),
    ...fold(plainText(one.reason, longest), "  "),
    ...fold(`${one.closedAt === null ? "open, " : ""}${plainText(lifecycleText(one, now), longest)}`, "  "),
    ...(replaces === null ? [] : fold(plainText(replaces, longest), "  ")),
    "",
    "WHAT IT CHANGES (simulated)",
    ...(rows.length === 0
      ? ["  nothing that is measured here"]
      : tableLines(
          [left(""), ...["now", "after, packed", "after, spread"].map(right)],
          rows.map((row) => [plainText(row.name, 55), row.before, row.mostAllocated, row.leastAllocated]),
        )),
    ...line("gain", gainText(one)),
    ...line("cost", lossText(one)),
    ...(saving === "" ? [] : line("saves", saving)),
    ...(measured === null ? [] : fold(`  ${plainText(measured, longest)}`, " ".repeat(14))),
    ...line("act", actText(one)),
    ...line("confidence", confidenceText(one)),
    ...one.blockedAlternatives.flatMap((text) => line("not instead", text)),
    ...(aftermath === null ? [] : line("since then", aftermath)),
    "",
    ...questionLines(one),
    ...(one.act === "ask" ? [] : ["STEPS"]),
    ...one.steps.flatMap(({ title, precondition, dryRun, command, waitFor }, i) => [
      ...fold(`  ${i + 1}. ${plainText(title, longest)}`, "     "),
      ...fold(`     only if ${plainText(precondition, longest)}`, " ".repeat(13)),
      // A command is one line, whatever its length, because it is meant to be pasted.
      ...(dryRun === null ? [] : [`     first   ${shown(dryRun)}`]),
      `     then    ${shown(command)}`,
      ...(waitFor === null ? [] : fold(`     wait    until: ${plainText(waitFor, longest)}`, " ".repeat(13))),
    ]),
  ];
  return layOut(lines, terminal);
}

function questionLines({ questions }: Recommendation): readonly Line[] {
  if (questions.length === 0) return [];
  return [
    "QUESTIONS",
    ...questions.flatMap(({ to, question, facts }) => [
      ...fold(`  to ${plainText(to, longest)}: ${plainText(question, longest)}`, "     "),
      ...facts.flatMap((fact) => fold(`     - ${plainText(fact, longest)}`, "       ")),
    ]),
  ];
}

const shown = (command: string): string => commandText(command) ?? `# ${commandNotShown}`;

const line = (name: string, text: string): readonly Line[] =>
  fold(`  ${name.padEnd(12)}${plainText(text, longest)}`, " ".repeat(14));
