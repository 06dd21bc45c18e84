import { type Action, actions, severityOf } from "../alertList.ts";
import type { AlertmanagerSettings } from "./settings.ts";

/** One way to notify someone, as Alertmanager reads it. */
type Notifier = Readonly<Record<string, unknown>>;

/** A receiver of alerts, and how it is notified. */
export interface Receiver {
  readonly name: string;
  readonly slack_configs?: readonly Notifier[];
  readonly pagerduty_configs?: readonly Notifier[];
  readonly opsgenie_configs?: readonly Notifier[];
  readonly email_configs?: readonly Notifier[];
  readonly msteamsv2_configs?: readonly Notifier[];
  readonly webhook_configs?: readonly Notifier[];
}

/** All receivers: Fairlead itself, one for each action, and the channels of teams. */
export function receivers(settings: AlertmanagerSettings): readonly Receiver[] {
  const { fairleadUrl, username, passwordFile, teamChannels, webhooks } = settings;
  const forAction = (action: Action): Receiver => {
    const address = webhooks[action];
    return {
      name: `fairlead-${action}`,
      ...notifiersOf(action, settings),
      ...(address === undefined ? {} : { webhook_configs: [{ url: address, send_resolved: true }] }),
    };
  };
  return [
    { name: "everything-else" },
    {
      name: "fairlead",
      webhook_configs: [
        {
          url: `${fairleadUrl.replace(/\/+$/, "")}/api/v1/alerts`,
          send_resolved: true,
          http_config: { basic_auth: { username, password_file: passwordFile } },
        },
      ],
    },
    ...actions.map(forAction),
    ...Object.entries(teamChannels).map(
      ([team, channel]): Receiver => ({ name: teamReceiver(team), slack_configs: [slack(channel)] }),
    ),
  ];
}

/** Name of the receiver of a team's channel. */
export function teamReceiver(team: string): string {
  return `fairlead-team-${team}`;
}

/** The settings that all receivers of a kind share, for the kinds that are used. */
export function globals({
  via,
  slackUrlFile,
  teamChannels,
  email,
}: AlertmanagerSettings): Readonly<Record<string, string>> {
  const kinds = Object.values(via);
  const isSlack = kinds.includes("slack") || Object.keys(teamChannels).length > 0;
  return {
    ...(isSlack ? { slack_api_url_file: slackUrlFile } : {}),
    ...(kinds.includes("email")
      ? {
          smtp_smarthost: email.smarthost,
          smtp_from: email.from,
          smtp_auth_username: email.username,
          smtp_auth_password_file: email.passwordFile,
        }
      : {}),
  };
}

function notifiersOf(action: Action, settings: AlertmanagerSettings): Omit<Receiver, "name"> {
  const { via, channels, pagerDuty, opsgenie, email, teams } = settings;
  switch (via[action]) {
    case "slack":
      return { slack_configs: [slack(channels[action])] };
    case "pagerduty":
      return {
        pagerduty_configs: [
          {
            routing_key_file: pagerDuty.routingKeyFile,
            send_resolved: true,
            description: title,
            severity: severityOf[action],
            class: "{{ .CommonLabels.alertname }}",
            client: "Fairlead",
            client_url: recommendationUrl,
            details: { text },
          },
        ],
      };
    case "opsgenie":
      return {
        opsgenie_configs: [
          {
            api_key_file: opsgenie.apiKeyFile,
            api_url: opsgenie.apiUrl,
            send_resolved: true,
            message: title,
            description: text,
            source: recommendationUrl,
            priority: priorityOf[action],
          },
        ],
      };
    case "email":
      // In plain text nothing is markup, whatever a name contains.
      return {
        email_configs: [{ to: email.to[action], send_resolved: true, headers: { Subject: title }, html: "", text }],
      };
    case "teams":
      return {
        msteamsv2_configs: [
          {
            webhook_url_file: teams.urlFiles[action],
            send_resolved: true,
            title: markdown("title"),
            text: markdown("text"),
          },
        ],
      };
  }
}

const title = '{{ template "fairlead.title" . }}';
const text = '{{ template "fairlead.text" . }}';
const recommendationUrl = "{{ (index .Alerts 0).Annotations.recommendation_url }}";
const priorityOf: Readonly<Record<Action, string>> = { page: "P1", ticket: "P3", digest: "P5" };

/** A template for Teams, which reads text as Markdown. */
const markdown = (part: "title" | "text"): string => `{{ template "fairlead.teams.${part}" . }}`;

function slack(channel: string): Notifier {
  return {
    channel: literal(channel),
    send_resolved: true,
    title: '{{ template "fairlead.slack.title" . }}',
    title_link: recommendationUrl,
    text: '{{ template "fairlead.slack.text" . }}',
    fallback: '{{ template "fairlead.slack.title" . }}',
  };
}

/** A name in which Alertmanager finds no template. */
function literal(name: string): string {
  return name.replaceAll("{{", '{{ "{{" }}');
}
