import { markdownText } from "../../exporter/publish/advice/markdownText.ts";
import type { Column, Piece, Table } from "../sections/section.ts";
import { bareText, figureText, spokenText } from "../words/figureText.ts";

/** A table of GitHub's Markdown with its first rows; what is left out is counted. */
export function markdownTable({ rowHeading, columns, rows }: Table, most: number): readonly string[] {
  if (rows.length === 0) return ["None.", ""];
  const shown = rows.slice(0, most);
  const rest = rows.length - shown.length;
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    line([markdownText(rowHeading), ...columns.map(headingText)]),
    `|---|${columns.map(({ align }) => (align === "right" ? "---:|" : "---|")).join("")}`,
    ...shown.map(({ head, cells, isPart }) =>
      line([
        `${isPart === true ? "− " : ""}${markdownText(head)}`,
        ...columns.map((column, i) => cellText(cells[i] ?? [], column)),
      ]),
    ),
    ...(rest > 0 ? ["", `${rest} more: see the CSV.`] : []),
    "",
  ];
}

function headingText({ heading, unit }: Column): string {
  return markdownText(unit === null || heading.includes(unit) ? heading : `${heading}, ${unit}`);
}

function cellText(pieces: readonly Piece[], { unit }: Column): string {
  const text = pieces.map((piece) =>
    typeof piece === "string" ? piece : unit === null ? figureText(piece) : bareText(piece),
  );
  return markdownText(text.join(""));
}

/** A sentence with its numbers. */
export function markdownSentence(pieces: readonly Piece[]): string {
  return markdownText(pieces.map((piece) => (typeof piece === "string" ? piece : spokenText(piece))).join(""));
}
