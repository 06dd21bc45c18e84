import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { alertmanagerExamples, alertmanagerFiles } from "../../../alerts/alertmanager/alertmanagerFiles.ts";
import { alertsSchema, defaultAlerts } from "../../../alerts/thresholds.ts";
import { amtool, hasAlertmanager, type RunningAlertmanager, startAlertmanager } from "./alertmanagerServer.ts";
import { mailServer } from "./mailServer.ts";

const examples = alertmanagerExamples(defaultAlerts);
const templates = { "templates/fairlead.tmpl": alertmanagerFiles(defaultAlerts)["templates/fairlead.tmpl"] ?? "" };
const receivers = z.object({ receivers: z.array(z.looseObject({ name: z.string() })) });

function receiver(example: string, name: string): unknown {
  return receivers.parse(parse(examples[example] ?? "")).receivers.find((one) => one.name === name);
}

describe("the examples", () => {
  test("are those of alerts/dist", () => {
    for (const [name, text] of Object.entries(examples))
      expect(readFileSync(path.join(import.meta.dirname, "../../../alerts/dist", name), "utf8")).toBe(text);
  });

  test
    .skipIf(!hasAlertmanager())
    .each([
      "examples/alertmanager-pagerduty.yml",
      "examples/alertmanager-opsgenie.yml",
      "examples/alertmanager-email.yml",
    ])("Debian's amtool finds nothing wrong with %s", (name) => {
    const files = { ...templates, "alertmanager.yml": examples[name] ?? "" };
    const { ok, said } = amtool(files, ["check-config", "alertmanager.yml"]);
    expect(said).toContain("1 templates");
    expect(ok).toBe(true);
  });

  // Debian's Alertmanager is older than msteamsv2_configs (0.28): the names of its fields are compared, and nothing is sent.
  test("Teams is asked by a workflow's address in a file, with Markdown escaped", () => {
    expect(receiver("examples/alertmanager-teams.yml", "fairlead-ticket")).toEqual({
      name: "fairlead-ticket",
      msteamsv2_configs: [
        {
          webhook_url_file: "/etc/alertmanager/teams-ticket-url",
          send_resolved: true,
          title: '{{ template "fairlead.teams.title" . }}',
          text: '{{ template "fairlead.teams.text" . }}',
        },
      ],
    });
  });

  test.skipIf(!hasAlertmanager())("Markdown in a name is text to Teams, and addresses stay addresses", () => {
    const alert = {
      status: "firing",
      labels: {},
      annotations: {
        description: "Team *a*_b [x](http://evil) <at>all</at> `c` \\ waits.",
        recommendation_url: "https://f.example/a_b",
      },
    };
    const files = {
      ...templates,
      "data.json": JSON.stringify({ status: "firing", alerts: [alert], commonLabels: {} }),
    };
    const { stdout, said } = amtool(files, [
      "template",
      "render",
      "--template.glob=templates/*.tmpl",
      "--template.data=data.json",
      '--template.text={{ template "fairlead.teams.text" . }}',
    ]);
    expect(stdout.split("\n")[0], said).toBe(
      "Team \\*a\\*\\_b \\[x\\]\\(http://evil\\) \\<at\\>all\\</at\\> \\`c\\` \\\\ waits.",
    );
    expect(stdout.trimEnd().split("\n")).toContain("Why, and the commands: https://f.example/a_b");
    // Without an address there is no line for it.
    expect(stdout).not.toMatch(/How this alert thinks|Chart/);
  });
});

/** What notifiers were sent. */
interface Received {
  readonly posts: { readonly path: string; readonly body: unknown }[];
  readonly mails: string[];
}

const listening = async (server: Server): Promise<number> =>
  await new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });

describe.skipIf(!hasAlertmanager())("Debian's Alertmanager notifies", () => {
  const received: Received = { posts: [], mails: [] };
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-notifiers-"));
  const web = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString("utf8");
    });
    request.on("end", () => {
      received.posts.push({ path: request.url ?? "", body: JSON.parse(body) });
      response.writeHead(202, { "content-type": "application/json" }).end("{}");
    });
  });
  const mail = mailServer((text) => received.mails.push(text));
  let alertmanager: RunningAlertmanager | null = null;

  beforeAll(async () => {
    const [webPort, mailPort] = [await listening(web), await listening(mail)];
    const key = path.join(folder, "key");
    writeFileSync(key, "0123456789");
    const files = alertmanagerFiles(
      alertsSchema.parse({
        alertmanager: {
          via: { page: "pagerduty", ticket: "opsgenie", digest: "email" },
          fairleadUrl: `http://127.0.0.1:${webPort}`,
          passwordFile: key,
          pagerDuty: { routingKeyFile: key },
          opsgenie: { apiKeyFile: key, apiUrl: `http://127.0.0.1:${webPort}/opsgenie/` },
          email: { smarthost: `127.0.0.1:${mailPort}`, passwordFile: key },
          teamChannels: {},
          groupWait: "1s",
          groupInterval: "1s",
        },
      }),
    );
    const config = (files["alertmanager.yml"] ?? "")
      .replace(
        "global:\n",
        `global:\n  smtp_require_tls: false\n  pagerduty_url: http://127.0.0.1:${webPort}/pagerduty\n`,
      )
      // What is read on Mondays is sent now.
      .replaceAll(/ +active_time_intervals:\n +- fairlead-digest\n/g, "");
    alertmanager = await startAlertmanager({ ...files, "alertmanager.yml": config });
  });

  afterAll(async () => {
    await alertmanager?.stop();
    web.close();
    mail.close();
    rmSync(folder, { recursive: true });
  });

  const alert = (alertname: string, action: string) => ({
    labels: { alertname, action, severity: "x", area: "capacity", cluster: "harbor", node_pool: "p5" },
    annotations: {
      description: "Nodes of p5 <b>are</b> not ready.",
      subject: "h100-03 (8 GPUs)",
      recommendation: "Nothing.",
      saving: "No saving is known.",
      recommendation_url: "https://fairlead.example.org/recommendations",
      runbook_url: "https://fairlead.example.org/runbooks/x.md",
      dashboard_url: "https://grafana.example.org/d/x",
    },
  });
  const titleOf = (name: string): string => `[FIRING] ${name}: h100-03 (8 GPUs)  node_pool=p5  cluster=harbor`;
  const text = [
    "Nodes of p5 <b>are</b> not ready.",
    "Do: Nothing.",
    "Why, and the commands: https://fairlead.example.org/recommendations",
    "How this alert thinks: https://fairlead.example.org/runbooks/x.md",
    "Chart: https://grafana.example.org/d/x",
  ].join("\n");

  test("PagerDuty, Opsgenie and a mail server, each by the names of its own fields", async () => {
    await alertmanager?.post([
      alert("GpuNodeLostLong", "page"),
      alert("GpuTeamMappingIncomplete", "ticket"),
      alert("GpuPriceStale", "digest"),
    ]);
    const post = (at: string) => received.posts.find((one) => one.path.startsWith(at))?.body;
    await expect
      .poll(
        () => [post("/pagerduty"), post("/opsgenie"), received.mails[0]].filter((one) => one !== undefined).length,
        { timeout: 120_000 },
      )
      .toBe(3);
    expect(post("/pagerduty")).toMatchObject({
      routing_key: "0123456789",
      event_action: "trigger",
      client: "Fairlead",
      client_url: "https://fairlead.example.org/recommendations",
      payload: {
        summary: titleOf("GpuNodeLostLong"),
        severity: "critical",
        class: "GpuNodeLostLong",
        custom_details: { text },
      },
    });
    expect(post("/opsgenie")).toMatchObject({
      message: titleOf("GpuTeamMappingIncomplete"),
      description: text,
      priority: "P3",
    });
    const [message = ""] = received.mails;
    expect(message).toContain("To: gpu-review@example.org\r\n");
    expect(message).toContain("Content-Type: text/plain");
    expect(message).not.toContain("text/html");
    const plain = message.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    expect(plain).toContain(`Subject: ${titleOf("GpuPriceStale")}`);
    for (const line of text.split("\n")) expect(plain).toContain(line);
  });
});
