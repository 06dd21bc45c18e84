import type { IncomingMessage } from "node:http";
import { z } from "zod";
import { listen } from "../../simulator/listen.ts";

/** A call of Alertmanager's webhook, as far as it is looked at. */
const webhook = z.looseObject({
  status: z.enum(["firing", "resolved"]),
  alerts: z.array(
    z.looseObject({
      status: z.enum(["firing", "resolved"]),
      labels: z.record(z.string(), z.string()),
      annotations: z.record(z.string(), z.string()),
      startsAt: z.string(),
    }),
  ),
});
export type WebhookCall = z.infer<typeof webhook>;

/** What Slack is sent. */
const slackMessage = z.looseObject({
  channel: z.string(),
  attachments: z.array(z.looseObject({ title: z.string(), text: z.string() })),
});
export type SlackMessage = z.infer<typeof slackMessage>;

/** Someone's pager at `/page` and Slack at `/slack`, which keep what they are sent. */
export interface MessageReceiver {
  readonly url: string;
  readonly pages: readonly WebhookCall[];
  readonly slack: readonly SlackMessage[];
  close(): Promise<void>;
}

/** Listens for messages on the loopback address. */
export async function receiveMessages(): Promise<MessageReceiver> {
  const pages: WebhookCall[] = [];
  const slack: SlackMessage[] = [];
  const { port, close } = await listen((request, response) => {
    void textOf(request).then((text) => {
      const body: unknown = JSON.parse(text);
      if (request.url === "/page") pages.push(webhook.parse(body));
      else slack.push(slackMessage.parse(body));
      response.end("ok");
    });
  });
  return { url: `http://127.0.0.1:${port}`, pages, slack, close };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
