/** A URL that may be shown: without user, password, query and fragment. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return "(not a URL)";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

/** The most characters that are shown of a text from a server or a label. */
export const maxShown = 300;

/** Untrusted text in a form for messages: one line, and not too long. */
export function shownText(text: string): string {
  const line = text.slice(0, 4 * maxShown).replace(/\s+/g, " ");
  return line.length > maxShown ? `${line.slice(0, maxShown)} ...` : line;
}
