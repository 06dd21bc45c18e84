import { plainText } from "../terminal/columns.ts";

const longestText = 2000;

/** Keeps two characters together for a reader and apart for a program that looks for links and names. */
const joiner = "\u2060";

/**
 * Escapes a text for Markdown. Users chose the names in it, and nothing in a name may become markup, a link or a mention.
 * Backslashes are enough for the markup that CommonMark knows. But GitHub, GitLab and chats look for addresses and mentions in
 * the rendered text, so these are broken up by joiners.
 */
export function markdownText(text: string): string {
  return (
    plainText(text, longestText)
      .replaceAll(/\s+/g, " ")
      .trim()
      // Brackets are escaped, so parentheses can stay as they are. An amount of money has a blank after the `$`, while a
      // formula on GitHub has none.
      .replaceAll(/[\\`*_{}[\]#!|<>~@&]|\$(?=\S)/g, (mark) => `\\${mark}`)
      .replaceAll(/[@#](?=\S)|:(?=\/\/)|\bwww(?=\.)/gi, (mark) => `${mark}${joiner}`)
  );
}

/** Escapes a text for the beginning of a line, where it must not begin a list or underline a heading, either. */
export const markdownLine = (text: string): string =>
  markdownText(text)
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, `$1${joiner}`)
    .replace(/^(?=[-=+])/, "\\");
