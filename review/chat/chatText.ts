import { plainText } from "../../exporter/publish/terminal/columns.ts";

const joiner = "\u2060";

/**
 * Makes text fit for a chat. Slack has no backslash escapes and gives `<`, `>` and `&` meanings of its own; other chats read
 * Markdown. Therefore everything in a name that either would take for markup, a link or a mention is removed or replaced.
 */
export function chatText(text: string): string {
  return plainText(text, 200)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[*~`|]/g, "'")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/[@#!](?=\S)|:(?=\/\/)|\](?=\()|\bwww(?=\.)/gi, (mark) => `${mark}${joiner}`);
}
