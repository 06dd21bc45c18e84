/** Text whose control characters cannot move a terminal's cursor or colour it: all but new lines are written out. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
