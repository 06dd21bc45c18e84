import { z } from "zod";

/**
 * How a summary is posted: as `{"text": ...}`, as blocks of Slack, or as a message that a workflow of Microsoft Teams accepts.
 */
export const postFormats = ["text", "slack", "teams"] as const;

export type PostFormat = (typeof postFormats)[number];

/** A summary for a chat. Its lines have no markup, mentions or links, and have `&`, `<` and `>` as entities. */
export interface ChatSummary {
  readonly lines: readonly string[];
  /** Address of the whole review; `null`: none. It is ours and not text of the cluster, so it may be a link. */
  readonly url: string | null;
}

/**
 * Slack's limits for a header and for the text of a section, in characters (https://docs.slack.dev/reference/block-kit/blocks).
 */
const longestHeader = 150;
const longestSection = 3000;
/**
 * The most characters of a message: Teams takes 28 KB in all
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors).
 */
const longestMessage = 12_000;

/** The body of the request that posts a summary, to be sent as JSON. Pure. */
export function chatMessage(format: PostFormat, summary: ChatSummary): Readonly<Record<string, unknown>> {
  switch (format) {
    case "text":
      return { text: summaryText(summary) };
    case "slack":
      return slackMessage(summary);
    case "teams":
      return teamsMessage(summary);
  }
}

/** The summary as plain lines; the address of the whole review is last. */
export function summaryText({ lines, url }: ChatSummary): string {
  return [...lines, ...(url === null ? [] : [`All of it: ${url}`]), ""].join("\n");
}

/**
 * A message of Slack. The first line is the header, and the others are one section, in which Slack does not look for links by
 * itself.
 */
function slackMessage({ lines, url }: ChatSummary): Readonly<Record<string, unknown>> {
  const [title = "", ...rest] = lines;
  const body = within(rest, longestSection).join("\n");
  const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } });
  const link = linkOf(url);
  return {
    // This is the text for notifications, and for clients that cannot show blocks.
    text: title,
    blocks: [
      { type: "header", text: { type: "plain_text", text: cut(withoutEntities(title), longestHeader), emoji: false } },
      ...(body === "" ? [] : [section(body)]),
      ...(link === null ? [] : [section(`<${link}|All of it>`)]),
    ],
  };
}

/** The address if it may be a link; `null`: none is given, or it is no address of the web. */
function linkOf(url: string | null): string | null {
  const parsed = httpAddress.safeParse(url);
  return parsed.success ? parsed.data : null;
}

const httpAddress = z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).href.replaceAll("|", "%7C"));

/** A message of Teams. Text of the cluster is in text runs, in which Teams reads no Markdown. */
function teamsMessage({ lines, url }: ChatSummary): Readonly<Record<string, unknown>> {
  const [title = "", ...rest] = within(lines.map(withoutEntities), longestMessage);
  const run = (text: string, more: Readonly<Record<string, string>> = {}) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, ...more }],
  });
  const link = linkOf(url);
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [run(title, { size: "Large", weight: "Bolder" }), ...rest.map((line) => run(line))],
    ...(link === null ? {} : { actions: [{ type: "Action.OpenUrl", title: "All of it", url: link }] }),
  };
  return {
    type: "message",
    attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }],
  };
}

/** Keeps the lines that fit into `most` characters; if some do not, the last line says how many. */
function within(lines: readonly string[], most: number): readonly string[] {
  const reserve = 40;
  let length = 0;
  const kept = lines.findIndex((line) => {
    length += line.length + 1;
    return length > most - reserve;
  });
  return kept < 0 ? lines : [...lines.slice(0, kept), `(${lines.length - kept} more lines)`];
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const withoutEntities = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
