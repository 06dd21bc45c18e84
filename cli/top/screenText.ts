import { stripVTControlCharacters } from "node:util";
import { styled, type Terminal, typeable } from "../../exporter/publish/terminal/layout.ts";
import type { OverviewText, SectionName } from "../../exporter/publish/terminal/overviewSchema.ts";

/** The views below the teams, with the key that chooses each. */
export const views = [
  { key: "p", name: "pools", sections: ["pools", "fits", "idle"] },
  { key: "s", name: "short", sections: ["short", "checks", "elsewhere"] },
  { key: "a", name: "advice", sections: ["advice"] },
  { key: "f", name: "findings", sections: ["deadlocks", "findings"] },
  { key: "e", name: "problems", sections: ["problems"] },
  { key: "t", name: "all teams", sections: [] },
] as const satisfies readonly { key: string; name: string; sections: readonly SectionName[] }[];

/** One of the views. */
export type View = (typeof views)[number];

/** What is on the screen. */
export interface Screen {
  readonly overview: OverviewText | null;
  /** Lines about where the answers come from, or why there are none. */
  readonly status: readonly string[];
  readonly view: View;
  /** The view that has the window below the heading to itself; absent: none has. */
  readonly alone?: View["name"] | undefined;
  /** How many lines of the view are scrolled out above the window. */
  readonly scrolled: number;
  readonly terminal: Terminal;
  /** The number of lines of the window. */
  readonly rows: number;
}

/** The text of a screen, and how far its view can be scrolled. */
export interface ScreenText {
  readonly lines: readonly string[];
  readonly mostScrolled: number;
}

const fewestTeamLines = 4;

/**
 * The screen as lines that fit the window: the heading, the teams, the chosen view below them, and the keys. The teams stay in
 * view; where they need more than half of the window, the last of them are only counted.
 */
export function screenText({ overview, status, view, scrolled, terminal, rows, alone }: Screen): ScreenText {
  const linesOf = (name: SectionName): readonly string[] =>
    overview?.sections.find((section) => section.name === name)?.lines ?? [];
  const foot = [...status, keysText(view)];
  const head = linesOf("heading").slice(0, rows < 30 ? 1 : 3);
  const space = Math.max(0, rows - foot.length);
  const teams =
    view.name === "all teams" || view.name === alone
      ? []
      : cut(linesOf("teams"), Math.max(fewestTeamLines, Math.floor(space / 2) - head.length - 1), "team", "t");
  const above = [...head, ...(view.name === alone ? [] : [""]), ...teams, ...(teams.length > 0 ? [""] : [])];
  const chosen = view.name === "all teams" ? linesOf("teams") : chosenLines(view.sections.map(linesOf), view.name);
  const height = Math.max(0, space - above.length);
  const mostScrolled = Math.max(0, chosen.length - height);
  const from = Math.min(scrolled, mostScrolled);
  const shown = chosen.slice(from, from + height);
  if (from + height < chosen.length && shown.length > 0)
    shown[shown.length - 1] = `  ${chosen.length - from - height + 1} more lines: arrow keys`;
  const all = [...above, ...shown].slice(0, space);
  const filled = [...all, ...Array.from({ length: space - all.length }, () => ""), ...foot].slice(-Math.max(1, rows));
  return { lines: filled.map((line) => finished(line, terminal)), mostScrolled };
}

function chosenLines(sections: readonly (readonly string[])[], name: string): readonly string[] {
  const there = sections.filter((lines) => lines.length > 0);
  if (there.length === 0) return [`nothing to say about ${name}`];
  return there.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines]));
}

function cut(lines: readonly string[], most: number, noun: string, key: string): readonly string[] {
  if (lines.length <= most) return lines;
  const kept = lines.slice(0, most - 1);
  return [...kept, `  ${lines.length - kept.length} more lines about ${noun}s: ${key}`];
}

const keysText = (view: View): string =>
  `${views.map((one) => (one === view ? `[${one.key} ${one.name}]` : `${one.key} ${one.name}`)).join("   ")}   q quit`;

/** A line that neither wraps nor carries control characters of the cluster. */
function finished(line: string, terminal: Terminal): string {
  const text = typeable(stripVTControlCharacters(line).replace(/\p{Cc}/gu, "?"), terminal);
  const short = text.length > terminal.columns ? `${text.slice(0, terminal.columns - 1)}…` : text;
  return terminal.hasColours ? styled(short) : short;
}
