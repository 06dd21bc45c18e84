import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { type AlertName, alertNames, listedAlert, type SubjectLabel } from "../../../alerts/alertList.ts";
import { alertmanagerFiles } from "../../../alerts/alertmanager/alertmanagerFiles.ts";
import { alertGroups } from "../../../alerts/ruleGroups.ts";
import { alertsSchema } from "../../../alerts/thresholds.ts";
import {
  hasAlertmanager,
  type PostedAlert,
  type RunningAlertmanager,
  startAlertmanager,
} from "./alertmanagerServer.ts";

// Nobody is to be notified here.
const config = alertsSchema.parse({ alertmanager: { groupWait: "1h", fairleadUrl: "http://127.0.0.1:9" } });
const rules = alertGroups(config).flatMap((group) => group.rules);

/** What kube-prometheus and kube-prometheus-stack ship; `namespace` is a label that alerts of teams do not have. */
const stockInhibitions = [
  {
    source_matchers: ["severity = critical"],
    target_matchers: ["severity =~ warning|info"],
    equal: ["namespace", "alertname"],
  },
  { source_matchers: ["severity = warning"], target_matchers: ["severity = info"], equal: ["namespace", "alertname"] },
  { source_matchers: ["alertname = InfoInhibitor"], target_matchers: ["severity = info"], equal: ["namespace"] },
];

type Subject = Readonly<Partial<Record<SubjectLabel, string>>>;

/** An alert with the labels that its rule gives it, and of its subject those that it has. */
function alert(name: AlertName, subject: Subject): PostedAlert {
  const own = Object.entries(subject).filter(([label]) => listedAlert(name).labels.some((known) => known === label));
  const rule = rules.find((one) => one.alert === name);
  return { labels: { alertname: name, ...rule?.labels, ...Object.fromEntries(own) } };
}

interface Case {
  readonly what: string;
  /** Each fires with the subject given, in a cluster of the case's own. */
  readonly fires: readonly (readonly [AlertName, Subject])[];
  /** Which of `fires` are silent, by their places. */
  readonly silent: readonly number[];
}

const h100 = { team: "search", domain: "H100", pool: "H100", queue: "search", currency: "USD" };
const other = { team: "ads", domain: "A100", pool: "A100", queue: "ads", currency: "EUR" };

const cases: readonly Case[] = [
  {
    what: "a dead exporter silences all that its numbers would say, and nothing of its own kind that it does not explain",
    fires: [
      ["GpuExporterDown", {}],
      ["GpuExporterStale", {}],
      ["GpuTeamStarved", h100],
      ["GpuIdleAllocated", other],
      ["GpuNodeLost", { node_pool: "p5" }],
      ["GpuTelemetryMissing", h100],
      ["GpuExporterReplicaMissing", {}],
    ],
    silent: [1, 2, 3, 4, 5, 6],
  },
  {
    what: "a stale exporter does, too",
    fires: [
      ["GpuExporterStale", {}],
      ["GpuQueueStuck", h100],
    ],
    silent: [1],
  },
  {
    what: "long starvation is not sent twice, another team's is sent",
    fires: [
      ["GpuTeamStarvedLong", h100],
      ["GpuTeamStarved", h100],
      ["GpuTeamStarved", { ...h100, team: "vision" }],
      ["GpuTeamStarved", { ...h100, domain: "A100" }],
    ],
    silent: [1],
  },
  {
    what: "what pages is no ticket, too: of that queue, pool or node pool",
    fires: [
      ["GpuQueueStuckLong", h100],
      ["GpuQueueStuck", h100],
      ["GpuQueueStuck", other],
      ["GpuJobUnplaceableLong", { pool: "H100" }],
      ["GpuJobUnplaceable", { pool: "H100" }],
      ["GpuJobUnplaceable", { pool: "A100" }],
      ["GpuNodeLostLong", { node_pool: "p5" }],
      ["GpuNodeLost", { node_pool: "p5" }],
      ["GpuNodeLost", { node_pool: "p4" }],
    ],
    silent: [1, 4, 7],
  },
  {
    what: "who is starved is no news of fairness in that domain, but in others",
    fires: [
      ["GpuTeamStarved", h100],
      ["GpuFairnessLow", { domain: "H100" }],
      ["GpuFairnessLow", { domain: "A100" }],
    ],
    silent: [1],
  },
  {
    what: "no free GPU explains a forecast, and no starved team: others hold its share",
    fires: [
      ["GpuCapacityExhausted", h100],
      ["GpuCapacityForecast", h100],
      ["GpuCapacityForecast", other],
      ["GpuTeamStarved", h100],
      ["GpuTeamStarvedLong", h100],
    ],
    silent: [1, 3],
  },
  {
    what: "without telemetry of a pool nobody is called idle in it",
    fires: [
      ["GpuTelemetryMissing", { pool: "H100" }],
      ["GpuIdleAllocated", h100],
      ["GpuIdleAllocated", { ...h100, pool: "A100" }],
      ["GpuIdleExpensive", h100],
      ["GpuTeamStarved", other],
    ],
    silent: [1, 3],
  },
  {
    what: "without teams nobody can be asked; who has a name can",
    fires: [
      ["GpuTeamMappingIncomplete", {}],
      ["GpuIdleAllocated", { ...h100, team: "unassigned" }],
      ["GpuIdleExpensive", { ...h100, team: "unassigned" }],
      ["GpuIdleAllocated", h100],
    ],
    silent: [1, 2],
  },
  {
    what: "a budget that is spent is not also spent too fast, in that currency and of that team",
    fires: [
      ["GpuBudgetExhausted", h100],
      ["GpuBudgetBurnFast", h100],
      ["GpuBudgetBurnFast", { ...h100, team: "ads" }],
      ["GpuBudgetBurnFast", { ...h100, currency: "EUR" }],
    ],
    silent: [1],
  },
  {
    what: "what no other alert explains is sent",
    fires: alertNames
      .filter((name) =>
        ["GpuPriceStale", "GpuRecommendationIgnored", "GpuPreemptionStorm", "GpuNodeLost"].includes(name),
      )
      .map((name) => [name, h100]),
    silent: [],
  },
];

const inhibitRules = z.looseObject({ inhibit_rules: z.array(z.unknown()) });

describe.skipIf(!hasAlertmanager()).each([
  ["the example configuration", []],
  ["the example beside kube-prometheus' inhibitions", stockInhibitions],
])("Debian's Alertmanager with %s", (_, more) => {
  let server: RunningAlertmanager | null = null;
  /** Whether each alert is silent, by its labels. */
  let silent = new Map<string, boolean>();

  const key = (labels: Readonly<Record<string, string>>): string =>
    JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));

  const ofCases = cases.map(({ fires }, i) =>
    fires.map(([name, subject]) => alert(name, { ...subject, cluster: `case-${i}` })),
  );
  /** What the names of our alerts guard against: without `namespace`, stock rules take two teams for one. */
  const sameName = (team: string, severity: string): PostedAlert => ({
    labels: { alertname: "OneNameForTwoSeverities", severity, team, cluster: "traps" },
  });
  const trap = [sameName("ads", "critical"), sameName("search", "warning")];
  /** All alerts of one team, pool and queue fire, and one of others in the same cluster. */
  const aboutTeams = alertNames
    .filter((name) => listedAlert(name).labels.length > 1)
    .map((name) => alert(name, { ...other, node_pool: "p4d", cluster: `teams-${name}` }));
  const ofOthers = alertNames
    .filter((name) => listedAlert(name).labels.some((label) => label === "team" || label === "queue"))
    .flatMap((name) =>
      aboutTeams.map(({ labels }) => alert(name, { ...h100, node_pool: "p5", cluster: labels.cluster ?? "" })),
    );

  beforeAll(async () => {
    const files = alertmanagerFiles(config);
    const settings = inhibitRules.parse(parse(files["alertmanager.yml"] ?? ""));
    const changed = { ...settings, inhibit_rules: [...settings.inhibit_rules, ...more] };
    server = await startAlertmanager({ ...files, "alertmanager.yml": stringify(changed) });
    const all = [...ofCases.flat(), ...aboutTeams, ...ofOthers, ...trap];
    await server.post(all);
    // Inhibitions hear of alerts a moment later than the list of alerts.
    for (let tries = 0; tries < 600; tries++) {
      const known = await server.alerts();
      silent = new Map(known.map(({ labels, status }) => [key(labels), status.inhibitedBy.length > 0]));
      const wanted = cases.flatMap((one, i) => one.silent.map((place) => ofCases[i]?.[place]?.labels ?? {}));
      if (more.length > 0) wanted.push(trap[1]?.labels ?? {});
      if (
        known.length === new Set(all.map(({ labels }) => key(labels))).size &&
        wanted.every((of) => silent.get(key(of)))
      )
        break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  afterAll(async () => await server?.stop());

  test.each(cases.map((one, i) => [one.what, one, i] as const))("%s", (_what, one, i) => {
    const found = (ofCases[i] ?? []).flatMap(({ labels }, place) => (silent.get(key(labels)) ? [place] : []));
    expect(found).toEqual(one.silent);
    for (const { labels } of ofCases[i] ?? []) expect(silent.has(key(labels))).toBe(true);
  });

  test("one name for two severities would be a trap beside stock rules", () => {
    expect(trap.map(({ labels }) => silent.get(key(labels)))).toEqual([false, more.length > 0]);
  });

  test.each(aboutTeams.map(({ labels }) => [labels.alertname ?? "", labels] as const))(
    "%s of one team is sent while everything fires for another",
    (_name, labels) => {
      expect(silent.get(key(labels))).toBe(false);
    },
  );
});
