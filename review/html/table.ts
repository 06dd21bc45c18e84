import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Column, Piece, Row, Table } from "../sections/section.ts";
import { bareText, figureText } from "../words/figureText.ts";
import { cellPieces, figureAttributes } from "./pieces.ts";

/** How a table is shown. */
export interface TableLook {
  /** The most rows; those beyond are counted, and only the CSV has them. */
  readonly most: number;
  /** Only one out of this many rows is shown; 1 shows all. */
  readonly stride?: number;
  /** Class of the table. */
  readonly look?: "wordy";
  /** A drawing before the cells of a row, such as a bar, and its heading. */
  readonly picture?: { readonly heading: string; readonly of: (row: Row, index: number) => Html };
}

/** A table that scrolls by itself where it is wider than the page; readers without a pointer reach it with the Tab key. */
export function table(shown: Table, { most, stride = 1, look, picture }: TableLook): Html {
  const { section, caption, rowHeading, columns, rows } = shown;
  if (rows.length === 0) return html`<p class="quiet">${caption}: none.</p>`;
  const picked = rows.filter((_row, i) => i % stride === 0).slice(0, most);
  const left = stride === 1 ? rows.length - picked.length : 0;
  const body = picked.map((row, i) => rowHtml(row, columns, picture?.of(row, i)));
  const heads = columns.map((column) => headCell(column));
  const bar = picture === undefined ? html`` : html`<th scope="col" class="bar">${picture.heading}</th>`;
  const lookHtml = look === undefined ? html`` : html` class="${look}"`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${caption}"><table data-section="${section}"${lookHtml}><caption><span>${caption}${stride > 1 ? `; one step in ${stride}, the CSV has all` : ""}</span></caption>
<thead><tr><th scope="col">${rowHeading}</th>${bar}${heads}</tr></thead>
<tbody>
${body}</tbody></table></div>
${left > 0 ? html`<p class="quiet">${left} more: see the CSV (--format csv).</p>\n` : html``}`;
}

function headCell({ heading, unit, align }: Column): Html {
  const isSaid = unit === null || heading.includes(unit);
  const said = heading === unit ? html`` : html`${heading}${isSaid ? "" : ", "}`;
  const name = isSaid && heading !== unit ? said : html`${said}<span class="unit">${unit ?? ""}</span>`;
  return html`<th scope="col"${align === "right" ? html` class="number"` : html``}>${name}</th>`;
}

function rowHtml({ item, cluster, head, cells, isPart }: Row, columns: readonly Column[], bar: Html | undefined): Html {
  const kind = isPart === undefined ? html`` : html` class="part"`;
  const where = cluster === "" ? html`` : html` data-cluster="${cluster}"`;
  const shown = columns.map((column, i) => cell(cells[i] ?? [], column));
  return html`<tr data-item="${item}"${where}${kind}><th scope="row">${head}</th>${bar === undefined ? html`` : html`<td class="bar">${bar}</td>`}${shown}</tr>
`;
}

/** A cell. If it is one number, the cell itself has the attributes that name the number. */
function cell(pieces: readonly Piece[], { unit, align, words }: Column): Html {
  const kind = align === "right" ? "number" : words;
  const number = kind === undefined ? html`` : html` class="${kind}"`;
  const [only] = pieces;
  const isBare = unit !== null;
  if (pieces.length === 1 && only !== undefined && typeof only !== "string")
    return html`<td${number}${figureAttributes(only, isBare)}>${isBare ? bareText(only) : figureText(only)}</td>`;
  return html`<td${number}>${cellPieces(pieces, isBare)}</td>`;
}
