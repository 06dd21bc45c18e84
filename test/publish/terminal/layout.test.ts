import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fold, layOut, plainTerminal, typeable } from "../../../exporter/publish/terminal/layout.ts";
import { overview } from "../../../exporter/publish/terminal/overview.ts";
import { pricedMoment } from "../pricedMoment.ts";
import { queueMoment } from "../queueMoment.ts";

const widths = [80, 100, 120, 200];
const longest = (text: string): number => Math.max(...text.split("\n").map((line) => line.length));

describe("the overview fits", () => {
  test.each(widths)(
    "a terminal of %d columns, and says the same words but for what is cut from the table",
    (columns) => {
      for (const moment of [queueMoment, pricedMoment]) {
        const text = overview(moment, [], undefined, { ...plainTerminal, columns });
        expect(longest(text)).toBeLessThanOrEqual(columns);
        for (const team of moment.teams) expect(text).toContain(team.team.slice(0, 7));
        for (const pool of moment.pools) expect(text).toContain(pool.pool.slice(0, 23));
      }
    },
  );

  test("a wide terminal with whole names and longer bars", () => {
    const bars = (columns: number) =>
      (overview(queueMoment, [], undefined, { ...plainTerminal, columns }).match(/[█▓░▒·?!xsg]{12,}/g) ?? []).map(
        ({ length }) => length,
      );
    expect(new Set(bars(100))).toEqual(new Set([24]));
    expect(new Set(bars(200))).toEqual(new Set([49]));
  });
});

describe("a line", () => {
  test("keeps its words, whatever the width", () => {
    const words = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 12 }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(words, fc.constantFrom(...widths), (list, columns) => {
        const text = layOut(fold(list.join(" "), "    "), { ...plainTerminal, columns });
        expect(text.split(/\s+/)).toEqual(list);
        expect(longest(text)).toBeLessThanOrEqual(columns);
      }),
      { seed: 1 },
    );
  });

  test("of a table is never folded", () => {
    expect(layOut(["x ".repeat(100)], plainTerminal)).toBe("x ".repeat(100));
  });
});

describe("colours", () => {
  const coloured = overview(queueMoment, queueMoment.snapshot.problems, undefined, {
    ...plainTerminal,
    hasColours: true,
  });

  test("say nothing that the text does not", () => {
    expect(coloured).not.toBe(overview(queueMoment));
    expect(stripVTControlCharacters(coloured)).toBe(overview(queueMoment));
  });

  test("end on the line on which they begin", () => {
    for (const line of coloured.split("\n")) {
      const codes = line.split("\u001b[").slice(1);
      expect(codes.length % 2).toBe(0);
    }
  });
});

describe("commands that a text names", () => {
  const inClone = { ...plainTerminal, program: "npx fairlead", source: " --dump=a" };

  test("are as their reader types them", () => {
    expect(typeable("-> fairlead explain queue search", inClone)).toBe("-> npx fairlead explain --dump=a queue search");
    expect(typeable("(fairlead price X prints the lines)", inClone)).toBe("(npx fairlead price X prints the lines)");
    expect(typeable("fairlead: nothing; Fairlead reads; fairlead alerting", inClone)).toBe(
      "fairlead: nothing; Fairlead reads; fairlead alerting",
    );
    expect(typeable("npx fairlead explain", plainTerminal)).toBe("npx fairlead explain");
  });
});
