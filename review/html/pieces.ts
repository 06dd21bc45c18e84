import { type Html, html } from "../../exporter/publish/pages/html.ts";
import type { Piece, Sentence } from "../sections/section.ts";
import { type Figure, unitName } from "../words/figure.ts";
import { bareText, figureText, spokenText } from "../words/figureText.ts";

/**
 * Attributes that name a number of the page as the CSV does. The unit is named only for money, because the measure alone does
 * not determine its currency.
 */
export function figureAttributes({ measure, unit }: Figure, isBare: boolean): Html {
  const currency = typeof unit === "string" ? html`` : html` data-unit="${unitName(unit)}"`;
  return html` data-measure="${measure}"${currency}${isBare ? html` data-bare` : html``}`;
}

/** The words and numbers of a cell as HTML. */
export function cellPieces(pieces: readonly Piece[], isBare: boolean): readonly Html[] {
  return pieces.map((piece) =>
    typeof piece === "string"
      ? html`${piece}`
      : html`<span${figureAttributes(piece, isBare)}>${isBare ? bareText(piece) : figureText(piece)}</span>`,
  );
}

/** The words and numbers of a sentence as HTML, in an element of its own. */
export function sentence({ section, cluster, item, pieces }: Sentence): Html {
  const shown = pieces.map((piece) =>
    typeof piece === "string"
      ? html`${piece}`
      : html`<span${figureAttributes(piece, false)}>${spokenText(piece)}</span>`,
  );
  return html`<span data-section="${section}" data-cluster="${cluster}" data-item="${item}">${shown}</span>`;
}
