import { renderMarkdown, textUtil } from "@grafana/data";
import type { DrawnPanel } from "./drawnPanel.ts";
import { textOption } from "./option.ts";

/** A text in Markdown or HTML, sanitized by Grafana's own functions. */
export function TextPanel({ panel, height, replace }: DrawnPanel) {
  const content = replace(textOption(panel.options, "content") ?? "");
  const html = textOption(panel.options, "mode") === "html" ? textUtil.sanitize(content) : renderMarkdown(content);
  return (
    <div
      className="markdown-html"
      style={{ height, overflow: "auto" }}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: sanitized above
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}
