/** Text that is HTML already. Made by `html` alone, so that nothing reaches a page without being escaped. */
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
