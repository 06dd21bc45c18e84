const begins = "<!-- burst: written by `npm run burst` -->";
const ends = "<!-- end of burst -->";

/** A document with this block in the place that its comments mark. Throws where it has no such place. */
export function withBurst(document: string, block: string): string {
  const [from, to] = [document.indexOf(begins), document.indexOf(ends)];
  if (from < 0 || to < from) throw new Error(`the document has no place for the burst: ${begins} ... ${ends}`);
  return `${document.slice(0, from)}${begins}\n\n${block}\n\n${document.slice(to)}`;
}
