import { type Html, html } from "../../exporter/publish/pages/html.ts";

/** The stripes for what waits, to be used as `fill="url(#id)"`. */
export function hatch(id: string): Html {
  return html`<pattern id="${id}" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="waiting-line" x1="0" y1="0" x2="0" y2="7"/></pattern>`;
}

/** The legend of the demand charts: what their shades and lines mean. */
export function demandLegend(): Html {
  const entry = (drawing: Html, text: string): Html =>
    html`<li><svg viewBox="0 0 28 16" aria-hidden="true" focusable="false">${drawing}</svg>${text}</li>`;
  return html`<ul class="legend">${[
    entry(html`<path class="capacity" d="M0 8H28"/>`, "capacity"),
    entry(html`<path class="guaranteed" d="M0 8H28"/>`, "guaranteed (dashed)"),
    entry(html`<rect class="allocated" width="28" height="16"/>`, "allocated (faint)"),
    entry(html`<rect class="active" width="28" height="16"/>`, "active (strong)"),
    entry(
      html`<defs>${hatch("legend-waits")}</defs><rect fill="url(#legend-waits)" width="28" height="16"/>`,
      "waiting (striped)",
    ),
  ]}</ul>`;
}
