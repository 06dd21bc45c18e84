import { type Action, actions, areas } from "../alertList.ts";
import type { AlertsConfig } from "../thresholds.ts";
import { type InhibitRule, inhibitRules } from "./inhibitions.ts";
import { globals, type Receiver, receivers, teamReceiver } from "./receivers.ts";
import type { AlertmanagerSettings } from "./settings.ts";

/** A route of Alertmanager, as far as the example uses it. */
export interface Route {
  readonly receiver: string;
  readonly matchers?: readonly string[];
  readonly group_by?: readonly string[];
  readonly group_wait?: string;
  readonly group_interval?: string;
  readonly repeat_interval?: string;
  readonly active_time_intervals?: readonly string[];
  readonly continue?: true;
  readonly routes?: readonly Route[];
}

/** Alertmanager's own configuration file, from version 0.25 on; with Teams from 0.28 on. */
export interface AlertmanagerConfig {
  readonly global: Readonly<Record<string, string>>;
  readonly templates: readonly string[];
  readonly route: Route;
  readonly inhibit_rules: readonly InhibitRule[];
  readonly receivers: readonly Receiver[];
  readonly time_intervals: readonly {
    readonly name: string;
    readonly time_intervals: readonly {
      readonly weekdays: readonly string[];
      readonly times: readonly { readonly start_time: string; readonly end_time: string }[];
    }[];
  }[];
}

const digestInterval = "fairlead-digest";

/**
 * Time after which a message is repeated. Alertmanager forgets whom it notified after its retention, 120 h by default, so
 * nothing may be repeated later.
 */
const repeated: Readonly<Record<Action, string>> = { page: "4h", ticket: "1d", digest: "4d" };

/**
 * An example configuration: routes by action and team, and which alerts silence others. Where an Alertmanager already has a
 * configuration, the following is added to it: the one route under the root, its receivers, the inhibitions, the template and
 * the time interval.
 */
export function alertmanagerConfig(config: AlertsConfig): AlertmanagerConfig {
  const { alertmanager, clusterLabel } = config;
  return {
    global: globals(alertmanager),
    templates: ["templates/*.tmpl"],
    route: {
      receiver: "everything-else",
      group_by: ["alertname", clusterLabel],
      routes: [fairleadRoute(alertmanager, clusterLabel)],
    },
    inhibit_rules: inhibitRules(clusterLabel),
    receivers: receivers(alertmanager),
    time_intervals: [
      {
        name: digestInterval,
        time_intervals: [{ weekdays: ["monday"], times: [{ start_time: "07:00", end_time: "10:00" }] }],
      },
    ],
  };
}

function fairleadRoute({ groupWait, groupInterval, teamChannels }: AlertmanagerSettings, clusterLabel: string): Route {
  const toTeams = Object.keys(teamChannels).map(
    (team): Route => ({
      receiver: teamReceiver(team),
      matchers: ['action="ticket"', `team=${quoted(team)}`],
      repeat_interval: repeated.ticket,
      continue: true,
    }),
  );
  return {
    receiver: "fairlead-ticket",
    matchers: ['alertname=~"Gpu[A-Za-z]+"', `area=~"${areas.join("|")}"`, `action=~"${actions.join("|")}"`],
    // The alerts of each team are in a message of their own.
    group_by: ["alertname", clusterLabel, "team"],
    group_wait: groupWait,
    group_interval: groupInterval,
    routes: [
      // Fairlead receives all alerts; people are notified even if that fails.
      { receiver: "fairlead", group_wait: "1s", repeat_interval: "12h", continue: true },
      { receiver: "fairlead-page", matchers: ['action="page"'], repeat_interval: repeated.page },
      ...toTeams,
      {
        receiver: "fairlead-digest",
        matchers: ['action="digest"'],
        group_by: [clusterLabel, "area"],
        repeat_interval: repeated.digest,
        active_time_intervals: [digestInterval],
      },
      { receiver: "fairlead-ticket", matchers: ['action="ticket"'], repeat_interval: repeated.ticket },
    ],
  };
}

/** A matcher's value, quoted as Alertmanager quotes it. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
