import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { recordingGroups } from "../../alerts/ruleGroups.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { type RunningPrometheus, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { type AnsweredSeries, parseHistoryAnswer } from "../../exporter/history/prometheusAnswer.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { everyQuery, filledIn } from "../dashboards/everyDashboard.ts";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { exampleWith } from "./manyClustersExample.ts";
import { type LiveReplica, live, startReplica, until } from "./manyClustersLive.ts";
import { freePort, installedInTime, Program } from "./program.ts";

const backend = "mimir";
const clusters = ["bay", "harbor"] as const;
const tenant = "gpu";
const address = "http://mimir.monitoring.example.org:8080";
/** Debian's Prometheus 2.42 takes `headers` of remote_write, and sends none of them: something between names the tenant. */
const namesTenant = (to: string): Promise<Listener> =>
  listen((incoming, response) => {
    const headers = { ...incoming.headers, "x-scope-orgid": tenant };
    const outgoing = request(`${to}${incoming.url}`, { method: "POST", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.writeHead(502).end());
    incoming.pipe(outgoing);
  });
const dist = (name: string) => fileURLToPath(new URL(`../../alerts/dist/rules/${name}`, import.meta.url));

const assets = hasPrometheus() ? await installedInTime("install-mimir.sh") : undefined;

describe.skipIf(assets === undefined)("two clusters in one Mimir, by deploy/examples/mimir", () => {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-mimir-"));
  const prometheus: RunningPrometheus[] = [];
  const replicas = new Map<string, LiveReplica>();
  let mimir: Program | null = null;
  let relay: Listener | null = null;
  const mimirtool = join(assets ?? "", "mimirtool");
  let stopLiving: () => Promise<void> = async () => {};
  let url = "";

  async function startMimir(program: string): Promise<void> {
    const [http, grpc, gossip] = [await freePort(), await freePort(), await freePort()];
    const config = join(folder, "mimir.yaml");
    writeFileSync(
      config,
      exampleWith(backend, "mimir.yaml", {
        "/data/": `${folder}/data/`,
        "http_listen_port: 8080": `http_listen_port: ${http}\n  http_listen_address: 127.0.0.1`,
        "grpc_listen_port: 9095": `grpc_listen_port: ${grpc}\n  grpc_listen_address: 127.0.0.1`,
        "bind_port: 7946": `bind_port: ${gossip}\n  bind_addr: [127.0.0.1]\n  advertise_addr: 127.0.0.1`,
        "http://alertmanager.monitoring.svc:9093": "http://127.0.0.1:9",
      }),
    );
    url = `http://127.0.0.1:${http}`;
    // Rules are evaluated a minute late by default; instances find themselves by the loopback device.
    const more = ["-ruler.evaluation-delay-duration=0s", "-ingester.ring.min-ready-duration=0s"];
    const rings = ["ingester.ring", "distributor.ring", "ruler.ring", "compactor.ring", "store-gateway.sharding-ring"];
    const loopback = [...rings, "query-scheduler.ring"].map((ring) => `-${ring}.instance-addr=127.0.0.1`);
    const frontend = "-query-frontend.instance-addr=127.0.0.1";
    mimir = new Program(folder, program, [
      `-config.file=${config}`,
      `-activity-tracker.filepath=${join(folder, "activity.log")}`,
      ...more,
      ...loopback,
      frontend,
    ]);
    mimir.start();
    await mimir.ready(() => fetch(`${url}/ready`).then(({ status }) => status));
  }

  async function startCluster(cluster: string, seed: number, servers: readonly string[]): Promise<void> {
    const startAt = Math.floor(Date.now() / 1000);
    const files = [exampleWith(backend, "fairlead.yaml", { harbor: cluster })];
    const [first, second] = [await startReplica(files, seed, startAt), await startReplica(files, seed, startAt)];
    replicas.set(`${cluster} fairlead-0`, first);
    replicas.set(`${cluster} fairlead-1`, second);
    await first.cluster.step(30);
    for (const server of servers) {
      const running = await startPrometheusWith(
        exampleWith(backend, "prometheus.yml", {
          harbor: cluster,
          "prometheus-0": server,
          [address]: `http://127.0.0.1:${relay?.port}`,
          "scrape_interval: 30s": "scrape_interval: 1s\n  scrape_timeout: 1s",
          "fairlead-0.fairlead-replicas.fairlead.svc:10836": first.host,
          "fairlead-1.fairlead-replicas.fairlead.svc:10836": second.host,
        }),
      );
      if (running === null) throw new Error("prometheus did not come up");
      prometheus.push(running);
    }
  }

  async function ask(query: string): Promise<readonly AnsweredSeries[]> {
    const answered = await fetch(`${url}/prometheus/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query }),
      headers: { "X-Scope-OrgID": tenant },
    });
    const answer = parseHistoryAnswer(await answered.text());
    if (answer.kind === "series") return answer.series;
    throw new Error(`${query}: ${answer.kind === "refused" ? answer.reason : answer.finding}`);
  }

  const numberOf = (series: readonly AnsweredSeries[], cluster: string): number =>
    series.find(({ labels }) => labels.cluster === cluster)?.points[0]?.[1] ?? Number.NaN;

  const rulesCommand = (command: string, files: readonly string[]): void => {
    const to = command === "load" ? [`--address=${url}`, `--id=${tenant}`] : [];
    execFileSync(mimirtool, ["rules", command, ...to, ...files], { stdio: "pipe" });
  };

  beforeAll(async () => {
    await startMimir(join(assets ?? "", "mimir"));
    relay = await namesTenant(url);
    await startCluster("harbor", 1, ["prometheus-0", "prometheus-1"]);
    await startCluster("bay", 2, ["prometheus-0"]);
    stopLiving = live([...replicas.values()]);
  }, 900_000);

  afterAll(async () => {
    await stopLiving();
    for (const server of prometheus) await server.stop();
    await relay?.close();
    await mimir?.kill();
    for (const replica of replicas.values()) await replica.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("of two Prometheus servers of a cluster one is stored, of Fairlead's two replicas both", async () => {
    const wanted = clusters.flatMap((cluster) => ["fairlead-0", "fairlead-1"].map((pod) => `${cluster} ${pod}`));
    await until("each replica", async () => {
      const found = await ask("fairlead_build_info");
      expect(found.every(({ labels }) => labels.__replica__ === undefined)).toBe(true);
      const names = found.map(({ labels }) => `${labels.cluster} ${labels.pod}`);
      return names.sort().join() === wanted.join() ? true : undefined;
    });
    const elected = z.object({
      elected: z.array(z.object({ userID: z.string(), cluster: z.string(), replica: z.string() })),
    });
    const page = await fetch(`${url}/distributor/ha_tracker`, { headers: { Accept: "application/json" } });
    const found = elected.parse(await page.json()).elected.map((one) => [one.userID, one.cluster]);
    expect(found.sort()).toEqual(clusters.map((cluster) => [tenant, cluster]));
    expect(await ask('{job="fairlead", cluster=""}')).toEqual([]);
  });

  test("mimirtool checks and loads the rules, and Mimir records each series of both clusters", async () => {
    rulesCommand("check", [dist("fairlead-recording.yaml"), dist("fairlead-alerts.yaml")]);
    mkdirSync(join(folder, "rules"));
    for (const [name, text] of Object.entries(ruleFiles(alertsSchema.parse({ interval: "1s" }))))
      if (name.startsWith("rules/")) writeFileSync(join(folder, name), text);
    const files = ["fairlead-recording.yaml", "fairlead-alerts.yaml"].map((name) => join(folder, "rules", name));
    rulesCommand("load", files);
    const names = recordingGroups(defaultAlerts).flatMap(({ rules }) => rules.map(({ record }) => record));
    const recorded = await until("recorded of both", async () => {
      const found = await ask('count by (__name__, cluster) ({__name__=~"cluster.*:fairlead_.*:.*"})');
      return clusters.every((one) => found.filter(({ labels }) => labels.cluster === one).length > 40)
        ? found
        : undefined;
    });
    expect(recorded.filter(({ labels }) => !clusters.some((one) => one === labels.cluster))).toEqual([]);
    expect(recorded.filter(({ labels }) => !names.some((name) => name === labels.__name__))).toEqual([]);
    await until("sums of one replica", async () => {
      const allocated = await ask("sum by (cluster) (cluster_pool:fairlead_allocated_gpus:sum)");
      const scraped = await ask("max by (cluster) (sum by (cluster, pod) (fairlead_team_gpus))");
      const ratio = (cluster: string): number => numberOf(allocated, cluster) / numberOf(scraped, cluster);
      return clusters.every((cluster) => Math.abs(ratio(cluster) - 1) < 0.1) ? true : undefined;
    });
  });

  test("every query of every panel is taken, and says nothing about the other cluster", async () => {
    for (const [name, text] of everyQuery) {
      const found = await ask(filledIn(text, { variables: { cluster: "bay" } }));
      expect(
        found.filter(({ labels }) => (labels.cluster ?? "bay") !== "bay"),
        name,
      ).toEqual([]);
    }
  });
});
