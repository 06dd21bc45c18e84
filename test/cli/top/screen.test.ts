import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { screenText, views } from "../../../cli/top/screenText.ts";
import { openScreen } from "../../../cli/top/watchScreen.ts";
import type { Window } from "../../../cli/top/window.ts";
import { noAdvice } from "../../../exporter/model/recommendation.ts";
import { plainTerminal } from "../../../exporter/publish/terminal/layout.ts";
import { overviewRecord } from "../../../exporter/publish/terminal/overview.ts";
import { type OverviewText, sectionNames } from "../../../exporter/publish/terminal/overviewSchema.ts";
import { queueMoment } from "../../publish/queueMoment.ts";

const overview = overviewRecord(queueMoment, queueMoment.snapshot.problems, noAdvice, 100);
const pools = views[0];
const first = (name: string): string => overview.sections.find((section) => section.name === name)?.lines[0] ?? "?";

/** A window that keeps what is drawn and is given keys. */
function fakeWindow(rows: number, columns: number) {
  let drawn: readonly string[] = [];
  let press: (key: string) => void = () => {};
  const window: Window = {
    rows: () => rows,
    columns: () => columns,
    draw: (lines) => {
      drawn = lines;
    },
    listen: (onKey) => {
      press = onKey;
    },
    close: () => {},
  };
  return { window, drawn: () => drawn.join("\n"), press: (key: string) => press(key) };
}

describe("the screen", () => {
  test("never leaves its window, and always has the keys, whatever the overview", () => {
    const lines = fc.array(fc.string({ maxLength: 150 }), { maxLength: 60 });
    const sections = fc.uniqueArray(fc.record({ name: fc.constantFrom(...sectionNames), lines }), {
      selector: ({ name }) => name,
    });
    fc.assert(
      fc.property(
        sections,
        fc.constantFrom(...views),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 60, max: 200 }),
        fc.nat(200),
        (parts, view, rows, columns, scrolled) => {
          const shown: OverviewText = { at: overview.at, sections: parts };
          const terminal = { ...plainTerminal, columns };
          const screen = screenText({ overview: shown, status: ["here"], view, scrolled, terminal, rows });
          expect(screen.lines).toHaveLength(rows);
          for (const line of screen.lines) expect(line.length).toBeLessThanOrEqual(columns);
          if (columns >= 100) expect(screen.lines.at(-1)).toContain("q quit");
        },
      ),
      { seed: 1 },
    );
  });

  test("keeps the teams in sight in every view", () => {
    for (const view of views) {
      const { lines } = screenText({ overview, status: [], view, scrolled: 0, terminal: plainTerminal, rows: 24 });
      expect(lines).toContain(first("teams"));
      for (const { team } of queueMoment.teams.slice(0, 2)) expect(lines.join("\n")).toContain(team);
    }
  });

  test("gives one view the window to itself, where a demo opens with it, and no other", () => {
    const of = (view: (typeof views)[number]) =>
      screenText({ overview, status: [], view, scrolled: 0, terminal: plainTerminal, rows: 24, alone: "short" }).lines;
    for (const view of views.filter(({ name }) => name !== "all teams"))
      expect(of(view).includes(first("teams")), view.name).toBe(view.name !== "short");
    const { window, drawn, press } = fakeWindow(24, 100);
    const io = { terminal: plainTerminal, interrupted: new Promise<void>(() => {}) };
    openScreen(window, io, "", "short").show(overview, []);
    expect(drawn()).toContain(first("short"));
    expect(drawn()).not.toContain(first("teams"));
    press("p");
    expect(drawn()).toContain(first("teams"));
  });

  test("reaches the last line by scrolling, and says how many are below", () => {
    const long = { name: "pools" as const, lines: Array.from({ length: 50 }, (_, i) => `line ${i}`) };
    const shown = { at: overview.at, sections: [long] };
    const at = (scrolled: number) =>
      screenText({ overview: shown, status: [], view: pools, scrolled, terminal: plainTerminal, rows: 12 });
    const { mostScrolled, lines } = at(0);
    expect(lines.join("\n")).not.toContain("line 49");
    expect(lines.join("\n")).toContain(`${50 - lines.filter((line) => line.startsWith("line ")).length} more lines`);
    expect(at(mostScrolled).lines).toContain("line 49");
    expect(at(10_000).lines).toEqual(at(mostScrolled).lines);
  });

  test("shows no control character of the cluster, and only the colours of its own", () => {
    const hostile = {
      at: overview.at,
      sections: [{ name: "pools" as const, lines: ["x \u001b[31mred\u001b]0;title\u0007"] }],
    };
    const terminal = { ...plainTerminal, hasColours: false };
    const { lines } = screenText({ overview: hostile, status: [], view: pools, scrolled: 0, terminal, rows: 9 });
    expect(lines.join("")).not.toMatch(/\p{Cc}/u);
    const coloured = screenText({
      overview,
      status: [],
      view: pools,
      scrolled: 0,
      terminal: { ...terminal, hasColours: true },
      rows: 40,
    });
    const plain = screenText({ overview, status: [], view: pools, scrolled: 0, terminal, rows: 40 });
    expect(coloured.lines).not.toEqual(plain.lines);
    expect(coloured.lines.map(stripVTControlCharacters)).toEqual(plain.lines);
  });
});

describe("keys", () => {
  test("choose what is below the teams, and q ends it", async () => {
    const { window, drawn, press } = fakeWindow(40, 100);
    const screen = openScreen(window, { terminal: plainTerminal, interrupted: new Promise(() => {}) }, "");
    screen.show(overview, ["somewhere"]);
    expect(drawn()).toContain(first("pools"));
    press("s");
    expect(drawn()).toContain(first("short"));
    expect(drawn()).not.toContain(first("pools"));
    press("e");
    expect(drawn()).toContain("[e problems]");
    press("x");
    expect(drawn()).toContain("[e problems]");
    expect(drawn()).toContain("somewhere");
    screen.show(null, ["no answer since then"]);
    expect(drawn()).toContain(first("teams"));
    expect(drawn()).toContain("no answer since then");
    press("q");
    await screen.ended;
  });
});
