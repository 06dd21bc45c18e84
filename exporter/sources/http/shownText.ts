/** So much of a text that a server or a label wrote is shown. */
export const maxShown = 300;

/** Untrusted text as it may are in a message: one line, and not too long. */
export function shownText(text: string): string {
  const line = text.slice(0, 4 * maxShown).replace(/\s+/g, " ");
  return line.length > maxShown ? `${line.slice(0, maxShown)} ...` : line;
}
