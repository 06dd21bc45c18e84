import { Marked } from "marked";
import { escapeHtml, type Html } from "./html.ts";

const marked = new Marked({
  gfm: true,
  renderer: {
    // HTML in the text is shown as it is written.
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
    link({ href, tokens }) {
      const text = this.parser.parseInline(tokens);
      return /^(?:https?:\/\/|\/(?!\/)|#)/.test(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text;
    },
  },
});

/**
 * Markdown (CommonMark with tables) as HTML. HTML in it is escaped, images become their texts, and only links to pages remain
 * links.
 */
export function markdownHtml(text: string): Html {
  return { markup: marked.parse(text, { async: false }) };
}
