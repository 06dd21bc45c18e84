/** Commands of a guide: a block of `sh`, and why it is not run, where the line below it says so. */
export interface Block {
  readonly text: string;
  readonly untested: string | null;
}

/** All blocks of commands of a document, in its order. */
export function blocksOf(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```\n(?:\n\*Untested: ([^*]+)\*)?/gm)].map(
    ([, text = "", untested]) => ({
      text,
      untested: untested ?? null,
    }),
  );
}
