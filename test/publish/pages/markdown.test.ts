import { describe, expect, it } from "vitest";
import { markdownHtml } from "../../../exporter/publish/pages/markdown.ts";

const htmlOf = (text: string): string => markdownHtml(text).markup.trim();

describe("Markdown as HTML", () => {
  it("has headings, lists, code, tables and links", () => {
    expect(htmlOf("## A\n\n1. one `x < y`\n2. two")).toBe(
      "<h2>A</h2>\n<ol>\n<li>one <code>x &lt; y</code></li>\n<li>two</li>\n</ol>",
    );
    expect(htmlOf("```sh\na && b\n```")).toContain('<pre><code class="language-sh">a &amp;&amp; b');
    expect(htmlOf("| a |\n|---|\n| b |")).toContain("<td>b</td>");
    expect(htmlOf("[x](https://kubernetes.io/a?b=1&c=2)")).toBe(
      '<p><a href="https://kubernetes.io/a?b=1&amp;c=2">x</a></p>',
    );
  });

  it.each([
    ["<script>alert(1)</script>"],
    ["a <img src=x onerror=alert(1)> b"],
    ["[x](javascript:alert(1))"],
    ["[x](data:text/html,<script>alert(1)</script>)"],
    ["[x](//elsewhere.test)"],
    ['![x"onerror=alert(1)](y)'],
    ['[x](https://a.test/"onmouseover=alert(1))'],
    ['```x"><script>\n```'],
  ])("runs and loads nothing: %s", (text) => {
    const markup = htmlOf(text);
    expect(markup).not.toMatch(/<(script|img)|(href|src)="?(javascript|data|\/\/)|<[^>]*" ?on\w+=/i);
  });
});
