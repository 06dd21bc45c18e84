import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { hashSync } from "bcryptjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { alertmanagerFiles } from "../../alerts/alertmanager/alertmanagerFiles.ts";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { alertsSchema } from "../../alerts/thresholds.ts";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { type RunningPrometheus, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { recommendation } from "../../exporter/publish/document/recommendationSchema.ts";
import { type RunningServer, startServer } from "../../exporter/publish/http/server.ts";
import {
  hasAlertmanager,
  type RunningAlertmanager,
  startAlertmanager,
} from "../alerts/alertmanager/alertmanagerServer.ts";
import { reclaimScenario } from "../simulator/scenarios/advice/reclaim.ts";
import { teamsByNamespaceLabel } from "./accounting.ts";
import { type MessageReceiver, receiveMessages } from "./receivedMessages.ts";
import { hasPrometheus } from "./scrapedByPrometheus.ts";

const config = teamsByNamespaceLabel("harbor");
// Nothing is short yet when it begins: work of search comes later.
const scenario = { ...reclaimScenario(), warmupSeconds: 600 };
const seed = 3;
/** The servers look at the clock of the machine, so that the cluster's must not be far behind. */
const startAt = Math.floor(Date.now() / 1000);
const [user, password] = ["alertmanager", "of nobody else"];

/** What a user's file of thresholds would say, with everything in seconds. */
const waitsFor = 5;
const settingsFor = (fairlead: string, messages: string, folder: string) =>
  alertsSchema.parse({
    interval: "1s",
    fairleadUrl: fairlead,
    // A page by default waits for GPU-hours, which the seconds of a test do not have: here the ticket pages.
    alerts: { GpuTeamStarved: { for: `${waitsFor}s`, keepFiringFor: "0s", action: "page" } },
    alertmanager: {
      fairleadUrl: fairlead,
      username: user,
      passwordFile: path.join(folder, "password"),
      slackUrlFile: path.join(folder, "slack-url"),
      webhooks: { page: `${messages}/page` },
      groupWait: "1s",
      groupInterval: "1s",
    },
  });

const play = () =>
  playCluster({ scenario, seed, startAt, config, stack: { users: { [user]: hashSync(password, 4) } } });

/** GPUs that search lacks, as far as its waiting work could take them. */
function shortfall({ stack }: PlayedCluster): number {
  const series = stack.latest()?.families.find(({ name }) => name === "fairlead_queue_actionable_shortfall_gpus");
  return series?.series.reduce((sum, { value }) => sum + value, 0) ?? 0;
}

/** How many cycles this seed plays before anybody is starved. */
async function calmCycles(): Promise<number> {
  const scout = await play();
  try {
    await scout.step(0);
    for (let cycle = 0; cycle < 400; cycle++) {
      await scout.step(config.interval);
      if (shortfall(scout) > 0) return cycle;
    }
    throw new Error("nobody is ever starved");
  } finally {
    await scout.stop();
  }
}

/** Against hanging only. */
const patienceSeconds = 240;
const isThere = hasPrometheus() && hasAlertmanager();

describe.skipIf(!isThere)("simulator, exporter, Prometheus, Alertmanager, and whoever is on call", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "fairlead-paged-"));
  let cluster: PlayedCluster;
  let server: RunningServer;
  let prometheus: RunningPrometheus;
  let alertmanager: RunningAlertmanager;
  let messages: MessageReceiver;
  let cycles = 0;
  let playing = true;
  let lifecycle: Promise<void> = Promise.resolve();

  /** One cycle of 30 simulated seconds for each second, as long as the test lasts. */
  async function live(): Promise<void> {
    while (playing) {
      const pause = new Promise((resolve) => setTimeout(resolve, 1000));
      await cluster.step(config.interval);
      cycles += 1;
      await pause;
    }
  }

  async function until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + patienceSeconds * 1000;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (Date.now() > deadline) throw new Error(`${what}: not within ${patienceSeconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  const cyclesLater = async (count: number): Promise<void> => {
    const wanted = cycles + count;
    await until(`${count} more cycles`, () => (cycles >= wanted ? true : undefined));
  };

  const aboutSearch = (status: "firing" | "resolved") =>
    messages.pages
      .flatMap(({ alerts }) => alerts)
      .find(
        (one) => one.status === status && one.labels.alertname === "GpuTeamStarved" && one.labels.team === "search",
      );

  async function ask(url: string): Promise<unknown> {
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
    return await (await fetch(url, { headers: { authorization } })).json();
  }

  const adviceFor = async (id: string) => recommendation.parse(await ask(`${server.url}/api/v1/recommendations/${id}`));

  beforeAll(async () => {
    const calm = await calmCycles();
    cluster = await play();
    await cluster.step(0);
    for (let cycle = 0; cycle < calm - 3; cycle++) await cluster.step(config.interval);
    const web = { basic_auth_users: { [user]: hashSync(password, 4) } };
    const started = await startServer({
      handler: cluster.stack.app,
      listenAddress: "127.0.0.1:0",
      web,
      onProblem: () => {},
    });
    if (!started.ok) throw new Error(started.error);
    server = started.server;
    messages = await receiveMessages();
    writeFileSync(path.join(folder, "password"), password);
    writeFileSync(path.join(folder, "slack-url"), `${messages.url}/slack`);
    const settings = settingsFor(server.url, messages.url, folder);
    alertmanager = await startAlertmanager(alertmanagerFiles(settings));
    for (const [name, text] of Object.entries(ruleFiles(settings)))
      if (name.startsWith("rules/")) writeFileSync(path.join(folder, path.basename(name)), text);
    const running = await startPrometheusWith(
      JSON.stringify({
        global: { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" },
        rule_files: [path.join(folder, "fairlead-*.yaml")],
        alerting: { alertmanagers: [{ static_configs: [{ targets: [new URL(alertmanager.url).host] }] }] },
        scrape_configs: [
          {
            job_name: "fairlead",
            basic_auth: { username: user, password },
            static_configs: [{ targets: [new URL(server.url).host] }],
          },
        ],
      }),
    );
    if (running === null) throw new Error("prometheus is installed but did not come up");
    prometheus = running;
    lifecycle = live();
  });

  afterAll(async () => {
    playing = false;
    await lifecycle;
    await Promise.all([prometheus?.stop(), alertmanager?.stop()]);
    await Promise.all([server?.close(), messages?.close()]);
    await cluster?.stop();
    rmSync(folder, { recursive: true });
  });

  it("a starved team pages with what to do, and is over once that was done", async () => {
    await until("search is short of GPUs", () => (shortfall(cluster) > 0 ? true : undefined));
    expect(messages.pages).toEqual([]);
    const page = await until("the page", () => aboutSearch("firing"));

    // It has waited as long as its rule says, and not much longer.
    const since = await ask(
      `${prometheus.url}/api/v1/query?query=${encodeURIComponent('ALERTS_FOR_STATE{alertname="GpuTeamStarved",team="search"}')}`,
    );
    const pendingSince = z
      .object({ data: z.object({ result: z.tuple([z.object({ value: z.tuple([z.number(), z.coerce.number()]) })]) }) })
      .parse(since).data.result[0].value[1];
    const waited = Date.parse(page.startsAt) / 1000 - pendingSince;
    expect(waited).toBeGreaterThanOrEqual(waitsFor - 1);
    expect(waited).toBeLessThan(waitsFor + 10);

    // What arrives says what to do.
    const { annotations } = page;
    const id = new URL(annotations.recommendation_url ?? "").pathname.split("/").at(-1) ?? "";
    const advice = await adviceFor(id);
    expect(advice).toMatchObject({ kind: "reclaim", state: "open", fromTeam: "ads", forTeam: "search" });
    expect(annotations.recommendation).toMatch(/^give search \d+ H100\S* back: requeue ads\/ctr \(/);
    expect(annotations.recommendation).toContain(advice.title);
    expect(annotations.description).toMatch(/^Team search in harbor holds \d+ GPUs less than its share of H100/);
    const said = await until("the message in Slack", () =>
      messages.slack.find(({ channel }) => channel === "#gpu-on-call"),
    );
    expect(said.attachments[0]?.title).toMatch(
      /^\[FIRING\] GpuTeamStarved: search\/\S+ \(\d+ GPUs?\).* {2}team=search .*cluster=harbor$/,
    );
    expect(said.attachments[0]?.text.split("\n")).toContain(`Do: ${annotations.recommendation}`);

    // Fairlead has received of it, too.
    const linked = await until("the alert beside the advice", async () =>
      (await adviceFor(id)).alerts.find(({ status }) => status === "firing"),
    );
    expect(linked).toMatchObject({ alertname: "GpuTeamStarved", status: "firing" });

    // Someone does it: each request as it is printed, in its order.
    for (const { title, request } of advice.steps) {
      const answer = await fetch(`${cluster.simulator.apiUrl}${request.path}`, {
        method: request.verb,
        ...(request.contentType === null
          ? {}
          : { headers: { "content-type": request.contentType }, body: JSON.stringify(request.body) }),
      });
      expect(answer.ok, `${title}: ${answer.status} ${await answer.text()}`).toBe(true);
      await cyclesLater(2);
    }
    const over = await until("the end of the alert", () => aboutSearch("resolved"));
    expect(over.labels).toEqual(page.labels);
    const taken = await until("the advice is seen as taken", async () => {
      const now = await adviceFor(id);
      return now.state === "taken" && now.alerts.every(({ status }) => status === "resolved") ? now : undefined;
    });
    expect(taken.alerts.map(({ alertname }) => alertname)).toContain("GpuTeamStarved");
    expect(taken.measured?.gainedGpus).toBeGreaterThanOrEqual(advice.effect.gainedGpus.worst);
    expect(messages.slack.map(({ attachments }) => attachments[0]?.title)).toContainEqual(
      expect.stringMatching(/^\[RESOLVED\] GpuTeamStarved/),
    );
  });
});
