/** Characters that mean nothing to a POSIX shell, wherever they are. */
const plain = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Text as one word of a POSIX shell, whatever is in it: single quotes keep everything but themselves. No argument of a
 * program can hold NUL; it is left out.
 */
export function shellQuote(text: string): string {
  const word = text.replaceAll("\0", "");
  return plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line of words. */
export const shellWords = (words: readonly string[]): string => words.map(shellQuote).join(" ");
