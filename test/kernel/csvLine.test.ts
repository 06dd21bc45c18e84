import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLine, csvTextCell } from "../../exporter/kernel/csvLine.ts";

test.each([
  ["ads", "ads"],
  ["a, b", '"a, b"'],
  ["=1+1", "'=1+1"],
  ["\uff1dcmd|' /C calc'!A0", "'\uff1dcmd|' /C calc'!A0"],
  ["\uff0b1", "'\uff0b1"],
  ["\uff0d1", "'\uff0d1"],
  ["\uff20SUM(1)", "'\uff20SUM(1)"],
  ["a;=1+1", `"a;'=1+1"`],
  ['a;"=1+1"', `"a;'""=1+1"""`],
  ["a; @x", `"a;' @x"`],
  ["a\n=1", `"a\n'=1"`],
  ["a\t-1", `"a\t'-1"`],
  ["  =1", "'  =1"],
  ["\ttab", `"'\ttab"`],
  ["a;b", '"a;b"'],
  ["a-b=c", "a-b=c"],
  [null, ""],
])("%j is the cell %j", (value, cell) => {
  expect(csvTextCell(value)).toBe(cell);
});

/** Cells as a spreadsheet has them that splits at this character: quotes count where a cell begins with one. */
function cellsOf(line: string, separator: string): readonly string[] {
  const cells: string[] = [];
  let at = 0;
  while (at <= line.length) {
    let cell = "";
    if (line[at] === '"') {
      at += 1;
      for (; at < line.length; at += 1) {
        if (line[at] !== '"') cell += line[at];
        else if (line[at + 1] === '"') {
          cell += '"';
          at += 1;
        } else break;
      }
      at += 1;
    }
    while (at < line.length && line[at] !== separator && line[at] !== "\n") cell += line[at++];
    cells.push(cell);
    at += 1;
  }
  return cells;
}

test("no text makes a formula, whichever of these characters a spreadsheet splits cells at", () => {
  const text = fc.array(fc.constantFrom("=", "+", "\uff1d", "@", ";", ",", "\t", "\n", "\r", '"', "'", " ", "a", "1"));
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), fc.constantFrom(",", ";", "\t"), (texts, separator) => {
      const line = csvLine(texts.map((parts) => csvTextCell(parts.join("")))).slice(0, -2);
      for (const cell of cellsOf(line, separator))
        expect(cell, JSON.stringify(line)).not.toMatch(/^[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/);
    }),
    { numRuns: 3000 },
  );
});

test("read by commas, as it is written, every text is what it was but for the quotes before formulas", () => {
  const text = fc.string({ unit: fc.constantFrom("=", "-", ";", ",", '"', "\n", "a", " ") });
  fc.assert(
    fc.property(text, (value) => {
      const [cell = ""] = readWhole(csvTextCell(value));
      expect(cell.replaceAll(/(^|[;\t\r\n])'(?=[ "]*[=+\-@])/g, "$1").replace(/^'(?=[\t\r\n])/, "")).toBe(value);
    }),
  );
});

/** One cell by RFC 4180. */
function readWhole(cell: string): readonly string[] {
  return [cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell];
}
