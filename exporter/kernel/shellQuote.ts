/** Text of characters that have no meaning in a POSIX shell, wherever they are. */
const plainWord = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Text as one word of a POSIX shell, whatever it contains: single quotes protect everything except themselves. No argument of a
 * program can contain NUL, so it is left out.
 */
export function shellQuote(text: string): string {
  const word = text.replaceAll("\0", "");
  return plainWord.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
