/** Text that is HTML already. Only `html` makes it, so that nothing reaches a page without being escaped. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | readonly Html[];

/** A template of HTML; whatever is put into it is escaped, unless it is `Html` itself. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let markup = strings[0] ?? "";
  for (const [index, part] of parts.entries()) markup += render(part) + (strings[index + 1] ?? "");
  return { markup };
}

function render(part: Part): string {
  if (typeof part === "string") return escapeHtml(part);
  if (typeof part === "number") return `${part}`;
  return "markup" in part ? part.markup : part.map((entry) => entry.markup).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** A heading of a column, and how its cells look. */
export type Head = string | readonly [text: string, look: "number" | "words"];

/**
 * A table. Where it is wider than the page, it scrolls by itself; readers without a pointer reach it with the Tab key. `more`
 * has a class for the whole table, what is above its headings, and what is below its rows.
 */
export function wideTable(
  label: string,
  heads: readonly Head[],
  rows: readonly Html[],
  more: { readonly look?: string; readonly caption?: Html; readonly foot?: Html } = {},
): Html {
  const { look = "wide", caption = html``, foot = html`` } = more;
  const cells = heads.map((head) =>
    typeof head === "string"
      ? html`<th scope="col">${head}</th>`
      : html`<th scope="col" class="${head[1]}">${head[0]}</th>`,
  );
  return html`<div class="${look}" tabindex="0" role="region" aria-label="${label}"><table>${caption}<thead><tr>${cells}</tr></thead><tbody>
${rows}</tbody>${foot}</table></div>`;
}

/** Says how many more items there are, and where; it is empty where there are none. */
export function moreLink(rest: number, href: string, text: string): Html {
  return rest > 0 ? html`<p>${rest} more: <a href="${href}">${text}</a></p>` : html``;
}
