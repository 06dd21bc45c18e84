import { z } from "zod";
import { span } from "../settingParts.ts";

const url = z.url({ protocol: /^https?$/ }).max(500);
const channel = z.string().min(1).max(100);
/** A path on Alertmanager's machine; nothing is read from it here. */
const fileName = z.string().min(1).max(500);

/** The example configuration of Alertmanager: who receives of what. It is written with the rules. */
export const alertmanagerSchema = z.strictObject({
  fairleadUrl: url
    .default("http://fairlead.monitoring:10836")
    .describe("Where Alertmanager itself reaches Fairlead, which links alerts with recommendations."),
  username: z
    .string()
    .min(1)
    .max(200)
    .default("alertmanager")
    .describe("User of Fairlead's web configuration (`basic_auth_users`)."),
  passwordFile: fileName
    .default("/etc/alertmanager/fairlead-password")
    .describe("File with that user's password, where Alertmanager runs."),
  slackUrlFile: fileName
    .default("/etc/alertmanager/slack-url")
    .describe("File with the address of Slack's incoming webhook, where Alertmanager runs."),
  channels: z
    .strictObject({
      page: channel.default("#gpu-on-call").describe("For what must not wait."),
      ticket: channel.default("#gpu-platform").describe("For what should be done this week."),
      digest: channel.default("#gpu-review").describe("For what is read on Mondays."),
    })
    .prefault({})
    .describe("Slack channels of the platform's people, by `action`."),
  teamChannels: z
    .record(z.string().min(1).max(200), channel)
    .default({ ads: "#team-ads", search: "#team-search" })
    .describe("Slack channels of teams, which receive tickets about themselves, too; the defaults are examples."),
  webhooks: z
    .strictObject({
      page: url.optional().describe("For what must not wait."),
      ticket: url.optional().describe("For what should be done this week."),
      digest: url.optional().describe("For what is read on Mondays."),
    })
    .prefault({})
    .describe("Addresses that are called beside Slack, by `action`: a pager, a ticket system."),
  groupWait: span.default("30s").describe("How long the first alert of a group waits for others."),
  groupInterval: span.default("5m").describe("How long what is new in a group waits."),
});

export type AlertmanagerSettings = z.infer<typeof alertmanagerSchema>;
