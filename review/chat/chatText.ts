import { plainText } from "../../exporter/publish/terminal/columns.ts";

const joiner = "\u2060";

/**
 * Text for a chat. Slack knows no backslashes and reads `<`, `>` and `&` as its own; others read Markdown. So nothing is left
 * of a name that either would take for markup, a link or a mention.
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
