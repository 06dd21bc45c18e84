import { plainText } from "../terminal/columns.ts";

const longestText = 2000;

/** Keeps two characters together for a reader and apart for a program that looks for links and names. */
const joiner = "\u2060";

/**
 * Names are what users wrote: nothing of them may become markup, a link or a mention. Backslashes do for what CommonMark
 * knows; GitHub, GitLab and chats look for addresses and mentions in what comes out of that.
 */
export function markdownText(text: string): string {
  return (
    plainText(text, longestText)
      .replaceAll(/\s+/g, " ")
      .trim()
      // Brackets are not text any more, so parentheses are; an amount of money has a blank, a formula of GitHub's none.
      .replaceAll(/[\\`*_{}[\]#!|<>~@&]|\$(?=\S)/g, (mark) => `\\${mark}`)
      .replaceAll(/[@#](?=\S)|:(?=\/\/)|\bwww(?=\.)/gi, (mark) => `${mark}${joiner}`)
  );
}

/** The same for the beginning of a line, where the text must not begin a list or underline a heading. */
export const markdownLine = (text: string): string =>
  markdownText(text)
    .replace(/^(\d{1,9})(?=[.)](?:\s|$))/, `$1${joiner}`)
    .replace(/^(?=[-=+])/, "\\");
