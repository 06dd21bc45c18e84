import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type AlertName, alertNames, listedAlert } from "../../../alerts/alertList.ts";
import { alertmanagerFiles } from "../../../alerts/alertmanager/alertmanagerFiles.ts";
import { inhibitions, inhibitRules } from "../../../alerts/alertmanager/inhibitions.ts";
import { noRecommendation, noSaving, noSubject } from "../../../alerts/annotations.ts";
import { alertGroups } from "../../../alerts/ruleGroups.ts";
import { alertsSchema, defaultAlerts } from "../../../alerts/thresholds.ts";
import { amtool, hasAlertmanager } from "./alertmanagerServer.ts";

const rules = alertGroups(defaultAlerts).flatMap((group) => group.rules);
const example = alertmanagerFiles(defaultAlerts);

function receiversOf(labels: Readonly<Record<string, string>>, settings: unknown = {}): string {
  const given = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const args = ["config", "routes", "test", "--config.file=alertmanager.yml", ...given];
  const { stdout } = amtool(alertmanagerFiles(alertsSchema.parse(settings)), args);
  return stdout.trim();
}

function labelsOf(name: AlertName): Readonly<Record<string, string>> {
  return { alertname: name, ...rules.find(({ alert }) => alert === name)?.labels, cluster: "harbor" };
}

function rendered(data: unknown, text: string): string {
  const files = { ...example, "data.json": JSON.stringify(data) };
  const args = ["--template.glob=templates/*.tmpl", "--template.data=data.json", `--template.text=${text}`];
  const { ok, stdout, said } = amtool(files, ["template", "render", ...args]);
  if (!ok) throw new Error(said);
  return stdout.trim();
}

const annotations = {
  description: "Team search in harbor holds 16 GPUs less than its share of H100.",
  recommendation: "give search 16 H100 back: suspend ads/embed-v3 and ads/crawl-42 (gains 16 GPUs)",
  recommendation_url: "https://fairlead.example.org/recommendations/reclaim-1",
  saving: noSaving,
  runbook_url: "https://fairlead.example.org/runbooks/gputeamstarved.md",
  dashboard_url: "https://grafana.example.org/d/fairlead-fairness?var-team=search",
};
const labels = { alertname: "GpuTeamStarved", team: "search", domain: "H100", cluster: "harbor" };
const firing = { status: "firing", labels, annotations };

/** One message of Alertmanager, as its templates get it. */
function message(status: "firing" | "resolved", alerts: readonly object[], commonLabels: object = labels) {
  return { status, receiver: "x", groupLabels: {}, commonLabels, commonAnnotations: {}, externalURL: "", alerts };
}

describe("the inhibitions", () => {
  test("ask only for labels that source and target both have: a missing label equals a missing label", () => {
    for (const { sources, targets, equal } of inhibitions) {
      expect(equal).toContain("cluster");
      const named = targets === "all areas but exporter" ? [] : targets;
      for (const name of [...sources, ...named]) {
        const own: readonly string[] = Object.keys(labelsOf(name));
        const { labels: subject } = listedAlert(name);
        for (const label of equal) expect([...own, ...subject], `${name} has ${label}`).toContain(label);
      }
    }
  });

  test("go by the name that the label of clusters has", () => {
    for (const { equal } of inhibitRules("k8s")) expect([equal[0], equal.includes("cluster")]).toEqual(["k8s", false]);
  });

  test("are in docs/alerting.md as they are", () => {
    const guide = readFileSync(path.join(import.meta.dirname, "../../../docs/alerting.md"), "utf8");
    const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
    const rows = inhibitions.map(({ sources, targets, where = {}, equal }) => {
      const all = targets === "all areas but exporter" ? "all of the other areas" : code(targets);
      const only = Object.entries(where).map(([label, value]) => ` of ${label} \`${value}\``);
      return `| ${code(sources)} | ${all}${only.join("")} | ${code(equal)} |`;
    });
    const [, section = ""] = guide.split("## What silences what");
    expect(section.split("\n").filter((line) => line.startsWith("| `"))).toEqual(rows);
  });

  test("nobody silences itself", () => {
    for (const { sources, targets } of inhibitions) {
      if (targets === "all areas but exporter") {
        for (const name of sources) expect(labelsOf(name).area).toBe("exporter");
      } else expect(sources.filter((name) => targets.includes(name))).toEqual([]);
    }
  });
});

describe.skipIf(!hasAlertmanager())("Debian's amtool", () => {
  test.each([
    ["the example", {}],
    [
      "other names, channels and addresses",
      {
        clusterLabel: "k8s",
        alertmanager: {
          teamChannels: { 'a"b\\c {{ x }}': "#x {{ y }}" },
          webhooks: { page: "https://pager.example.org/in?key=1" },
          groupWait: "1s",
        },
      },
    ],
    ["no team's channel", { alertmanager: { teamChannels: {} } }],
  ])("finds nothing wrong with the configuration: %s", (_, settings) => {
    const { ok, said } = amtool(alertmanagerFiles(alertsSchema.parse(settings)), ["check-config", "alertmanager.yml"]);
    expect(said).toContain("1 templates");
    expect(said).toContain(`${inhibitions.length} inhibit rules`);
    expect(ok).toBe(true);
  });

  test.each(alertNames)("%s goes to Fairlead and to the receiver of its action", (name) => {
    const { action } = labelsOf(name);
    expect(receiversOf({ ...labelsOf(name), team: "vision" })).toBe(`fairlead,fairlead-${action}`);
  });

  test("a team receives of tickets about itself, and of no page", () => {
    expect(receiversOf({ ...labelsOf("GpuIdleAllocated"), team: "ads" })).toBe(
      "fairlead,fairlead-team-ads,fairlead-ticket",
    );
    expect(receiversOf({ ...labelsOf("GpuTeamStarvedLong"), team: "ads" })).toBe("fairlead,fairlead-page");
  });

  test("a team's name is a value, whatever it holds", () => {
    const team = 'a"b.*';
    const settings = { alertmanager: { teamChannels: { [team]: "#x" } } };
    expect(receiversOf({ ...labelsOf("GpuIdleAllocated"), team }, settings)).toContain(`fairlead-team-${team}`);
    expect(receiversOf({ ...labelsOf("GpuIdleAllocated"), team: "ab" }, settings)).not.toContain("team-");
  });

  test("what is not Fairlead's goes where it went before", () => {
    expect(receiversOf({ alertname: "KubePodCrashLooping", severity: "warning" })).toBe("everything-else");
    expect(receiversOf({ alertname: "GpuOperatorDown", severity: "warning" })).toBe("everything-else");
  });

  test("the message says what, where, what to do and where to read on", () => {
    expect(
      rendered(
        message("firing", [firing]),
        '{{ template "fairlead.title" . }}\n{{ template "fairlead.text" . }}',
      ).split("\n"),
    ).toEqual([
      "[FIRING] GpuTeamStarved  team=search  domain=H100  cluster=harbor",
      annotations.description,
      `Do: ${annotations.recommendation}`,
      `Why, and the commands: ${annotations.recommendation_url}`,
      `How this alert thinks: ${annotations.runbook_url}`,
      `Chart: ${annotations.dashboard_url}`,
    ]);
  });

  test("the title names the workloads or nodes that it is about, in Slack escaped, and says that there are more alerts", () => {
    const about = (subject: string) => ({ ...firing, annotations: { ...annotations, subject } });
    const title = (subjects: readonly string[], template = "fairlead.title"): string =>
      rendered(message("firing", subjects.map(about)), `{{ template "${template}" . }}`);
    const rest = "  team=search  domain=H100  cluster=harbor";
    expect(title(["search/<!here>"])).toBe(`[FIRING] GpuTeamStarved: search/<!here>${rest}`);
    expect(title(["search/<!here>"], "fairlead.slack.title")).toBe(
      `[FIRING] GpuTeamStarved: search/&lt;!here&gt;${rest}`,
    );
    expect(title(["search/a", "search/b"])).toBe(`[FIRING 2] GpuTeamStarved: search/a and more${rest}`);
    expect(title([noSubject])).toBe(`[FIRING] GpuTeamStarved${rest}`);
  });

  test("a saving has a line of its own, and none where none is known", () => {
    const saving = { ...firing, annotations: { ...annotations, saving: "3360 USD a week" } };
    const text = rendered(message("firing", [saving, firing]), '{{ template "fairlead.text" . }}');
    expect(text.match(/^Saves: .*$/gm)).toEqual(["Saves: 3360 USD a week"]);
    expect(text.match(/^Do: /gm)).toHaveLength(2);
  });

  test("without a recommendation the message says so", () => {
    const none = { ...firing, annotations: { ...annotations, recommendation: noRecommendation } };
    expect(rendered(message("firing", [none]), '{{ template "fairlead.text" . }}')).toContain(
      `Do: ${noRecommendation}\n`,
    );
  });

  test("what is over asks for nothing", () => {
    const over = message("resolved", [{ ...firing, status: "resolved" }]);
    expect(rendered(over, '{{ template "fairlead.title" . }}: {{ template "fairlead.text" . }}')).toBe(
      `[RESOLVED] GpuTeamStarved  team=search  domain=H100  cluster=harbor: Over: ${annotations.description}`,
    );
  });

  test("a digest of several kinds has a title, too", () => {
    expect(
      rendered(message("firing", [firing, firing], { cluster: "harbor" }), '{{ template "fairlead.title" . }}'),
    ).toBe("[FIRING 2] GPU alerts  cluster=harbor");
  });

  test("nobody's name can call a channel of Slack", () => {
    const hostile = { ...firing, annotations: { ...annotations, description: "Team <!channel> & co" } };
    const text = rendered(
      message("firing", [hostile], { ...labels, team: "<!channel>" }),
      '{{ template "fairlead.slack.title" . }}\n{{ template "fairlead.slack.text" . }}',
    );
    expect(text).toContain("team=&lt;!channel&gt;");
    expect(text).toContain("Team &lt;!channel&gt; &amp; co");
    expect(text).not.toContain("<");
  });
});
