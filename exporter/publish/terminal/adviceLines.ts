import type { AdviceAct } from "../../model/adviceAct.ts";
import type { Advice, Recommendation } from "../../model/recommendation.ts";
import { adviceGroups } from "../advice/adviceGroups.ts";
import {
  actText,
  gainText,
  lifecycleText,
  lossText,
  savingText,
  searchText,
  trackText,
} from "../advice/adviceWords.ts";
import { plainText, utc } from "./columns.ts";
import { fold, type Line, layOut, plainTerminal, type Terminal } from "./layout.ts";

/** The most pieces of advice that the overview shows. */
const shownInOverview = 3;
const longestTitle = 300;

/** The section of the overview about the advice with the most worth; empty where there is none. */
export function adviceSection({ recommendations }: Advice): readonly Line[] {
  const open = recommendations.filter(({ state }) => state === "open");
  if (open.length === 0) return [];
  const shown = open.slice(0, shownInOverview);
  const isCut = open.length > shown.length;
  return [
    `ADVICE (${isCut ? `${shown.length} of ${open.length}` : open.length})`,
    ...shown.flatMap((one, i) => briefLines(one, i + 1)),
    // Commands are not folded, because they are meant to be copied.
    ...(isCut ? ["  -> all of it: fairlead advise"] : []),
    "  -> steps and effects: fairlead advise --what-if ID",
  ];
}

/** One piece of advice in a few lines: what to do, what it gains and costs. */
function briefLines(one: Recommendation, number: number): readonly Line[] {
  const head = `  ${String(number).padStart(2)}  `;
  const indent = " ".repeat(head.length);
  const saving = savingText(one.effect.savingPerWeek);
  const effect = [gainText(one), lossText(one), ...(saving === "" ? [] : [`saves ${saving}`])].join("; ");
  return [
    ...fold(`${head}${plainText(one.title, longestTitle)}`, indent),
    ...fold(`${indent}${plainText(effect, longestTitle)}`, indent),
    ...(one.act === "do" ? [] : fold(`${indent}${plainText(actText(one), longestTitle)}`, indent)),
    `${indent}${one.kind}, confidence ${one.confidence.level}, ${plainText(one.id)}`,
  ];
}

const shownWithheld = 10;

function withheldLines({ kind, reason }: Advice["withheld"][number]): readonly Line[] {
  return fold(`  ${kind.padEnd(14)}${plainText(reason, longestTitle)}`, " ".repeat(16));
}

const headings: Readonly<Record<AdviceAct, string>> = { do: "TO DO NOW", ask: "TO ASK THE OWNER", watch: "TO WATCH" };

/**
 * The open recommendations, grouped by what they ask of their reader, as on the page. Their numbers go on from group to group.
 */
function groupLines(all: Advice["recommendations"]): readonly Line[] {
  const groups = adviceGroups(all).filter((group) => group.all.length > 0);
  let number = 0;
  return groups.flatMap(({ act, all: own }, i) => [
    ...(i === 0 ? [] : [""]),
    `${headings[act]} (${own.length})${own.length > 1 ? ", the most worth first" : ""}`,
    ...own.flatMap((one) => {
      number += 1;
      return briefLines(one, number);
    }),
  ]);
}

/** All advice for a terminal: open recommendations, what became of others lately, and how much is withheld. */
export function adviceText(advice: Advice, now: number, terminal: Terminal = plainTerminal): string {
  const { recommendations, withheld, trackRecords = [] } = advice;
  const open = recommendations.filter(({ state }) => state === "open");
  const closed = recommendations.filter(({ state }) => state !== "open").slice(0, 10);
  const reasons = Map.groupBy(withheld, ({ why }) => why);
  const counts = [...reasons].map(([why, all]) => `${all.length} ${why}`).join(", ");
  const lines: readonly Line[] = [
    `Advice as of ${utc(now)}`,
    ...(open.length === 0 ? [`Nothing is recommended.${searchText(advice)}`] : groupLines(recommendations)),
    ...(closed.length === 0 ? [] : ["", "CLOSED LATELY"]),
    ...closed.flatMap((one) =>
      fold(
        `  ${plainText(one.id)}  ${plainText(one.title, longestTitle)}: ${plainText(lifecycleText(one, now), 200)}`,
        "      ",
      ),
    ),
    ...(trackRecords.length === 0 ? [] : ["", "HOW EARLIER ONES TURNED OUT (30 days)"]),
    ...trackRecords.map((one) => `  ${trackText(one)}`),
    "",
    ...(withheld.length === 0
      ? ["Nothing else was found that could be better."]
      : fold(`Looked at and not recommended: ${withheld.length} (${counts}); --output json says why.`, "  ")),
    // That nothing is recommended is an answer, too, and has its reasons.
    ...(open.length === 0 ? withheld.slice(0, shownWithheld).flatMap(withheldLines) : []),
    ...(open.length === 0 ? [] : ["Steps and effects of one: fairlead advise --what-if ID"]),
  ];
  return layOut(lines, terminal);
}
