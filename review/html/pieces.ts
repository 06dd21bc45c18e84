import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Piece, Sentence } from "../sections/section.ts";
import { type Figure, unitName } from "../words/figure.ts";
import { bareText, figureText, spokenText } from "../words/figureText.ts";

/** Names a number on the page as the CSV names it. Its unit is named where it is none of its measure alone. */
export function figureAttributes({ measure, unit }: Figure, isBare: boolean): Html {
  const currency = typeof unit === "string" ? html`` : html` data-unit="${unitName(unit)}"`;
  return html` data-measure="${measure}"${currency}${isBare ? html` data-bare` : html``}`;
}

/** Words and numbers of a cell. */
export function cellPieces(pieces: readonly Piece[], isBare: boolean): readonly Html[] {
  return pieces.map((piece) =>
    typeof piece === "string"
      ? html`${piece}`
      : html`<span${figureAttributes(piece, isBare)}>${isBare ? bareText(piece) : figureText(piece)}</span>`,
  );
}

/** Words and numbers of a sentence, in an element of its own. */
export function sentence({ section, cluster, item, pieces }: Sentence): Html {
  const shown = pieces.map((piece) =>
    typeof piece === "string"
      ? html`${piece}`
      : html`<span${figureAttributes(piece, false)}>${spokenText(piece)}</span>`,
  );
  return html`<span data-section="${section}" data-cluster="${cluster}" data-item="${item}">${shown}</span>`;
}
