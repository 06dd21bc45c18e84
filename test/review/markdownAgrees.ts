import { expect } from "vitest";
import { renderReviewCsv } from "../../review/csv/renderReviewCsv.ts";
import type { Review } from "../../review/document/review.ts";
import { renderReviewMarkdown } from "../../review/markdown/renderReviewMarkdown.ts";
import { bareText, figureText } from "../../review/words/figureText.ts";
import { csvNumbers } from "./readCsv.ts";

/** A table of Markdown: the bold line above it, and the cells of its rows. */
interface MarkdownTable {
  readonly caption: string;
  readonly rows: readonly (readonly string[])[];
}

/** Undoes what keeps text from being markup. */
const unescaped = (text: string): string => text.replaceAll("\u2060", "").replaceAll(/\\(.)/g, "$1");

/** Reads the tables; throws where a row has other columns than its heading, or where a line looks like half a table. */
function readTables(text: string): readonly MarkdownTable[] {
  const tables: { caption: string; rows: string[][] }[] = [];
  let caption = "";
  let width = 0;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      if (width > 0 && line !== "") throw new Error(`no blank line after a table: ${line}`);
      width = 0;
      const bold = /^\*\*(.*)\*\*$/.exec(line)?.[1];
      if (bold !== undefined) caption = unescaped(bold);
      continue;
    }
    const cells = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => unescaped(cell.trim()));
    if (width === 0) {
      width = cells.length;
      tables.push({ caption, rows: [] });
      caption = "";
    } else if (!/^\|[-:|]+\|$/.test(line)) tables.at(-1)?.rows.push(cells);
    if (cells.length !== width) throw new Error(`${cells.length} cells of ${width}: ${line}`);
  }
  return tables;
}

/** Which tables of the CSV the tables of Markdown are, by how their captions begin; the tiles have none. */
const sections: readonly (readonly [caption: string, section: string])[] = [
  ["", "tiles"],
  ["Most at stake first", "decisions"],
  ["Where the GPU time went", "waterfall"],
  ["Allocated, used and paid", "teams"],
  ["Entitled, waited", "fairness"],
  ["Free GPUs", "fragmentation"],
  ["Starts in the time that was foreseen", "start_times"],
  ["Largest gang that fitted", "topology"],
  ["By cost", "jobs_by_cost"],
  ["By waste", "jobs_by_waste"],
  ["At most five", "actions"],
  ["What was taken", "last_actions"],
  ["Whether what was recommended", "track_records"],
];

/** Checks that each row has the CSV's numbers of its row, in their order, and no digit beside them in a cell of numbers. */
export function expectMarkdownAndCsvToAgree(review: Review): void {
  const numbers = csvNumbers(renderReviewCsv(review));
  const tables = readTables(renderReviewMarkdown(review));
  let checked = 0;
  for (const [beginning, section] of sections) {
    const table = tables.find(({ caption }) => (beginning === "" ? caption === "" : caption.startsWith(beginning)));
    const groups = new Map<string, string[][]>();
    for (const one of numbers.filter((number) => number.section === section)) {
      const key = JSON.stringify([one.cluster, one.item]);
      groups.set(key, [...(groups.get(key) ?? []), [figureText(one.figure), bareText(one.figure)]]);
    }
    const rows = table?.rows ?? [];
    expect(rows.length === 0, section).toBe(groups.size === 0);
    for (const [i, expected] of [...groups.values()].slice(0, rows.length).entries()) {
      const line = (rows[i] ?? []).slice(1).join(" | ");
      let from = 0;
      for (const texts of expected) {
        const at = texts.map((text) => line.indexOf(text, from)).filter((found) => found >= 0);
        if (at.length === 0) expect.fail(`${section}: neither ${texts.join(" nor ")} in ${line}`);
        from = Math.min(...at) + 1;
        checked += 1;
      }
    }
  }
  if (review.tiles.length > 0) expect(checked).toBeGreaterThan(0);
}
