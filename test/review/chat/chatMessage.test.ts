import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chatMessage } from "../../../review/chat/chatMessage.ts";
import { summaryLines } from "../../../review/markdown/renderReviewSummary.ts";
import { hostileReview } from "../hostileReview.ts";
import { sampleReview } from "../sampleReview.ts";

/** As https://docs.slack.dev/reference/block-kit/blocks has them. */
const slackSchema = z.strictObject({
  text: z.string(),
  blocks: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({
          type: z.literal("header"),
          text: z.strictObject({
            type: z.literal("plain_text"),
            text: z.string().min(1).max(150),
            emoji: z.boolean(),
          }),
        }),
        z.strictObject({
          type: z.literal("section"),
          text: z.strictObject({
            type: z.literal("mrkdwn"),
            text: z.string().min(1).max(3000),
            verbatim: z.literal(true),
          }),
        }),
      ]),
    )
    .max(50),
});
/** As https://adaptivecards.io/explorer and the webhooks of Teams have them. */
const teamsSchema = z.strictObject({
  type: z.literal("message"),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal("application/vnd.microsoft.card.adaptive"),
      contentUrl: z.null(),
      content: z.strictObject({
        $schema: z.string(),
        type: z.literal("AdaptiveCard"),
        version: z.literal("1.4"),
        body: z.array(
          z.strictObject({
            type: z.literal("RichTextBlock"),
            inlines: z.tuple([z.looseObject({ type: z.literal("TextRun"), text: z.string() })]),
          }),
        ),
        actions: z
          .array(z.strictObject({ type: z.literal("Action.OpenUrl"), title: z.string(), url: z.url() }))
          .optional(),
      }),
    }),
  ]),
});

const url = "https://fairlead.example/review?week=2026-W46";
const manyLines = [
  "A title &amp; &lt;more&gt;".repeat(20),
  ...Array.from({ length: 400 }, (_, i) => `line ${i} ${"x".repeat(80)}`),
];
const cases = [
  ["the sample", summaryLines(sampleReview)],
  ["hostile names", summaryLines(hostileReview)],
  ["hundreds of lines", manyLines],
  ["nothing but a title", ["GPU capacity review"]],
] as const;

describe("blocks of Slack", () => {
  test.each(cases)("keep Slack's limits, and no name is markup, a mention or a link: %s", (_name, lines) => {
    const { text, blocks } = slackSchema.parse(chatMessage("slack", { lines, url }));
    for (const one of [text, ...blocks.slice(1, -1).map((block) => block.text.text)])
      expect(one).not.toMatch(/<|[@#!]\w/);
    expect(blocks.at(-1)?.text.text).toBe(`<${url}|All of it>`);
  });

  test("say how many lines they leave out", () => {
    const { blocks } = slackSchema.parse(chatMessage("slack", { lines: manyLines, url: null }));
    const shown = blocks[1]?.text.text.split("\n") ?? [];
    expect(blocks).toHaveLength(2);
    expect(shown.at(-1)).toBe(`(${400 - (shown.length - 1)} more lines)`);
  });
});

describe("a message for Teams", () => {
  test.each(cases)("is below 28 KB, has the form of its workflows and shows text as text: %s", (_name, lines) => {
    const message = chatMessage("teams", { lines, url });
    const { content } = teamsSchema.parse(message).attachments[0];
    expect(Buffer.byteLength(JSON.stringify(message), "utf16le")).toBeLessThan(2 * 28_000);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(28_000);
    const text = content.body.map(({ inlines: [run] }) => run.text).join("\n");
    expect(text).not.toMatch(/&(?:lt|gt|amp);/);
    expect(content.actions?.[0]?.url).toBe(url);
  });
});

test.each(["javascript:alert(1)", "no address", "file:///etc/passwd"])(
  "what is no address of the web is no link: %s",
  (wrong) => {
    const lines = ["GPU capacity review", "Covered: 100 %"];
    expect(slackSchema.parse(chatMessage("slack", { lines, url: wrong })).blocks).toHaveLength(2);
    expect(
      teamsSchema.parse(chatMessage("teams", { lines, url: wrong })).attachments[0].content.actions,
    ).toBeUndefined();
  },
);
