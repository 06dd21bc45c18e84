import { z } from "zod";
import { span } from "../settingParts.ts";

const url = z.url({ protocol: /^https?$/ }).max(500);
const channel = z.string().min(1).max(100);
const address = z.string().min(3).max(300);
/** The ways in which people can be notified. */
const kinds = ["slack", "pagerduty", "opsgenie", "email", "teams"] as const;
const kind = z.enum(kinds).default("slack");
/** A path on Alertmanager's machine; the file is not read here. */
const fileName = z.string().min(1).max(500);

/**
 * The settings of the example configuration of Alertmanager: who receives which alerts. It is written together with the rules.
 */
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
  via: z
    .strictObject({
      page: kind.describe("For what must not wait."),
      ticket: kind.describe("For what should be done this week."),
      digest: kind.describe("For what is read on Mondays."),
    })
    .prefault({})
    .describe("What notifies the platform's people, by `action`: slack, pagerduty, opsgenie, email or teams."),
  pagerDuty: z
    .strictObject({
      routingKeyFile: fileName
        .default("/etc/alertmanager/pagerduty-key")
        .describe("File with the integration key of PagerDuty's Events API v2, where Alertmanager runs."),
    })
    .prefault({})
    .describe("PagerDuty, where `via` names it."),
  opsgenie: z
    .strictObject({
      apiKeyFile: fileName
        .default("/etc/alertmanager/opsgenie-key")
        .describe("File with the key of an API integration of Opsgenie, where Alertmanager runs."),
      apiUrl: url
        .default("https://api.opsgenie.com/")
        .describe("Address of its API; in the EU https://api.eu.opsgenie.com/."),
    })
    .prefault({})
    .describe("Opsgenie, where `via` names it."),
  email: z
    .strictObject({
      smarthost: address.default("smtp.example.org:587").describe("Mail server, with its port."),
      from: address.default("alertmanager@example.org").describe("Sender."),
      username: address.default("alertmanager").describe("User of the mail server."),
      passwordFile: fileName
        .default("/etc/alertmanager/smtp-password")
        .describe("File with that user's password, where Alertmanager runs."),
      to: z
        .strictObject({
          page: address.default("gpu-on-call@example.org").describe("For what must not wait."),
          ticket: address.default("gpu-platform@example.org").describe("For what should be done this week."),
          digest: address.default("gpu-review@example.org").describe("For what is read on Mondays."),
        })
        .prefault({})
        .describe("Who receives mail, by `action`."),
    })
    .prefault({})
    .describe("E-mail, where `via` names it."),
  teams: z
    .strictObject({
      urlFiles: z
        .strictObject({
          page: fileName.default("/etc/alertmanager/teams-page-url").describe("For what must not wait."),
          ticket: fileName.default("/etc/alertmanager/teams-ticket-url").describe("For what should be done this week."),
          digest: fileName.default("/etc/alertmanager/teams-digest-url").describe("For what is read on Mondays."),
        })
        .prefault({})
        .describe("Files with the addresses of workflows of Teams, by `action`."),
    })
    .prefault({})
    .describe("Microsoft Teams, where `via` names it; from Alertmanager 0.28 on."),
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
