import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { alertNames } from "../../alerts/alertList.ts";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { recordingGroups } from "../../alerts/ruleGroups.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { type RunningPrometheus, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { run } from "../../cli/run.ts";
import type { AnsweredSeries } from "../../exporter/history/prometheusAnswer.ts";
import { parseHistoryAnswer } from "../../exporter/history/prometheusAnswer.ts";
import { parseReview } from "../../review/json/parseReview.ts";
import { type Listener, listen } from "../../simulator/listen.ts";
import { captureIo } from "../cli/captureIo.ts";
import { everyQuery, filledIn } from "../dashboards/everyDashboard.ts";
import { hasPrometheus, hasVictoriaMetrics } from "../e2e/scrapedByPrometheus.ts";
import { emptyInHealth } from "./emptyInHealth.ts";
import { argumentsOf, exampleWith } from "./manyClustersExample.ts";
import { type LiveReplica, live, startReplica, until } from "./manyClustersLive.ts";
import { type CountedGpuSeconds, type Past, writePast, writeRecorded } from "./manyClustersPast.ts";
import { freePort, Program } from "./program.ts";

const clusters = ["bay", "harbor"] as const;
const backend = "victoria-metrics";
const victoria = "http://victoria-metrics.monitoring.example.org:8428";

/** Queries that find nothing in these plays, with the reason. */
const mayBeEmpty: Readonly<Record<string, string>> = {
  ...emptyInHealth,
  "fairness: GPUs waited for, by cause E": "no work of these plays has a selector that no node meets",
  "fairness: GPUs waited for, by cause G": "nothing of them waits for an unknown reason",
};

const step = 1800;
const day = 86_400;
const to = Math.floor(Date.now() / 1000 / step) * step;
const past: Past = { from: to - 7.5 * day, to, step };
/** The last whole day (UTC) of that past. */
const window = { from: Math.floor(to / day) * day - day, to: Math.floor(to / day) * day };
const isoDay = (at: number): string => new Date(at * 1000).toISOString().slice(0, 10);

const isThere = hasPrometheus() && hasVictoriaMetrics();

describe.skipIf(!isThere)("two clusters in one VictoriaMetrics, by deploy/examples/victoria-metrics", () => {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-clusters-"));
  const programs: Program[] = [];
  const prometheus: RunningPrometheus[] = [];
  const replicas = new Map<string, LiveReplica>();
  const reported: Readonly<Record<string, string>>[] = [];
  let alertmanager: Listener;
  let stopLiving: () => Promise<void> = async () => {};
  let url = "";
  let pasts: ReadonlyMap<string, CountedGpuSeconds> = new Map();

  /** A file of the example for one cluster, with the address of the server that runs here. */
  const own = (file: string, cluster: string, changes: Readonly<Record<string, string>> = {}): string =>
    exampleWith(backend, file, { harbor: cluster, ...changes });

  async function startVictoria(): Promise<void> {
    const port = await freePort();
    const args = argumentsOf(backend, "victoria-metrics.yaml", "victoria-metrics", {
      ":8428": `127.0.0.1:${port}`,
      "/storage": join(folder, "storage"),
      "30s": "1s",
    });
    url = `http://127.0.0.1:${port}`;
    await start("victoria-metrics", [...args, "-search.latencyOffset=0s"], `${url}/health`);
  }

  async function startVmalert(): Promise<void> {
    const rules = join(folder, "rules");
    mkdirSync(rules);
    const alerts = Object.fromEntries(alertNames.map((name) => [name, { for: "1s", keepFiringFor: "0m" }]));
    const files = ruleFiles(alertsSchema.parse({ interval: "1s", alerts }));
    for (const [name, text] of Object.entries(files))
      if (name.startsWith("rules/")) writeFileSync(join(folder, name), text);
    const port = await freePort();
    const args = argumentsOf(backend, "vmalert.yaml", "vmalert", {
      ":8880": `127.0.0.1:${port}`,
      "http://victoria-metrics:8428": url,
      "http://alertmanager:9093": `http://127.0.0.1:${alertmanager.port}`,
      "/etc/vmalert/rules": rules,
      "=1m": "=1s",
    });
    await start("vmalert", [...args, "-remoteWrite.flushInterval=500ms"], `http://127.0.0.1:${port}/health`);
  }

  async function start(command: string, args: readonly string[], health: string): Promise<void> {
    const program = new Program(folder, command, args);
    programs.push(program);
    program.start();
    await program.ready(() => fetch(health).then(({ status }) => status));
  }

  async function startCluster(cluster: string, seed: number): Promise<void> {
    const startAt = Math.floor(Date.now() / 1000);
    const files = [own("fairlead.yaml", cluster), own("central.yaml", cluster, { [victoria]: url })];
    const [first, second] = [await startReplica(files, seed, startAt), await startReplica(files, seed, startAt)];
    replicas.set(`${cluster} fairlead-0`, first);
    replicas.set(`${cluster} fairlead-1`, second);
    await second.cluster.step(30);
    const server = await startPrometheusWith(
      own("prometheus.yml", cluster, {
        [victoria]: url,
        "fairlead-0.fairlead-replicas.fairlead.svc:10836": first.host,
        "fairlead-1.fairlead-replicas.fairlead.svc:10836": second.host,
        "scrape_interval: 30s": "scrape_interval: 1s\n  scrape_timeout: 1s",
      }),
    );
    if (server === null) throw new Error("prometheus did not come up");
    prometheus.push(server);
  }

  /** What an expression gives at one moment, or over a span. */
  async function ask(query: string, more: Readonly<Record<string, string>> = {}): Promise<readonly AnsweredSeries[]> {
    const path = more.start === undefined ? "query" : "query_range";
    const body = new URLSearchParams({ query, nocache: "1", ...more });
    const answer = parseHistoryAnswer(await (await fetch(`${url}/api/v1/${path}`, { method: "POST", body })).text());
    if (answer.kind === "series") return answer.series;
    throw new Error(`${query}: ${answer.kind === "refused" ? answer.reason : answer.finding}`);
  }

  const valuesOf = async (query: string): Promise<Readonly<Record<string, number>>> =>
    Object.fromEntries((await ask(query)).map(({ labels, points }) => [labels.cluster, points[0]?.[1] ?? NaN]));

  beforeAll(async () => {
    alertmanager = await listen((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on("end", () => {
        const sent = z.array(z.object({ labels: z.record(z.string(), z.string()) })).safeParse(JSON.parse(body));
        reported.push(...(sent.success ? sent.data.map(({ labels }) => labels) : []));
        response.end("{}");
      });
    });
    await startVictoria();
    pasts = await writePast(url, clusters, past, join(folder, "ledger.db"));
    await writeRecorded(url, past);
    for (const [index, cluster] of clusters.entries()) await startCluster(cluster, 1 + index);
    stopLiving = live([...replicas.values()]);
    await startVmalert();
  }, 600_000);

  afterAll(async () => {
    await stopLiving();
    // Prometheus waits for who takes what it has still to write.
    for (const server of prometheus) await server.stop();
    for (const program of programs.toReversed()) await program.kill();
    for (const replica of replicas.values()) await replica.stop();
    await alertmanager.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("what two Prometheus servers write arrives, each series with its own cluster, each replica by itself", async () => {
    const wanted = clusters.flatMap((cluster) => ["fairlead-0", "fairlead-1"].map((pod) => `${cluster} ${pod}`));
    for (const name of ["fairlead_build_info", "process_resident_memory_bytes", "scrape_samples_scraped", "up"])
      await until(name, async () => {
        const found = (await ask(`${name}{job="fairlead"}`)).map(({ labels }) => `${labels.cluster} ${labels.pod}`);
        return found.sort().join() === wanted.join() ? found : undefined;
      });
    expect(await ask('{job="fairlead", cluster=""}')).toEqual([]);
  });

  test("vmagent takes the file of Prometheus without remote_write", () => {
    const [scraping = ""] = own("prometheus.yml", "bay").split("\nremote_write:");
    writeFileSync(join(folder, "vmagent.yml"), scraping);
    const flags = ["-dryRun", `-promscrape.config=${join(folder, "vmagent.yml")}`, `-remoteWrite.url=${url}`];
    const checked = spawnSync("vmagent", flags, { encoding: "utf8" });
    expect(checked.status, checked.stderr).toBe(0);
  });

  test("vmalert records each series of both clusters, of one replica of each", async () => {
    const rules = recordingGroups(defaultAlerts).flatMap((group) => group.rules);
    /** Series and cluster, of what there is now. */
    const found = async (name: string, query: string): Promise<readonly string[]> =>
      [...new Set((await ask(query)).map(({ labels }) => `${name} ${labels.cluster}`))].sort();
    const recorded = await until("each series of both clusters", async () => {
      const pairs: string[] = [];
      for (const { record, expr } of rules) {
        const [wanted, now] = [await found(record, expr), await found(record, `last_over_time(${record}[10s])`)];
        if (wanted.some((pair) => !now.includes(pair))) return undefined;
        pairs.push(...now);
      }
      // What is over a window of time comes some evaluations later than the rest.
      const isWhole = (cluster: string) => pairs.filter((pair) => pair.endsWith(` ${cluster}`)).length > 40;
      return clusters.every(isWhole) ? pairs : undefined;
    });
    expect(recorded.filter((pair) => !clusters.some((cluster) => pair.endsWith(` ${cluster}`)))).toEqual([]);
    // What is recorded is as old as the last evaluation, what is scraped is newer.
    await until("sums of one replica", async () => {
      const sums = await valuesOf("sum by (cluster) (cluster_pool:fairlead_allocated_gpus:sum)");
      const scraped = await valuesOf("max by (cluster) (sum by (cluster, pod) (fairlead_team_gpus))");
      const isClose = (cluster: string) => Math.abs((sums[cluster] ?? 0) / (scraped[cluster] ?? 0) - 1) < 0.05;
      return clusters.every(isClose) ? true : undefined;
    });
  });

  test("alerts of both clusters say which", async () => {
    const found = await until("alerts of both clusters", async () =>
      clusters.every((cluster) => reported.some((labels) => labels.cluster === cluster)) ? reported : undefined,
    );
    expect(found.filter((labels) => !clusters.some((one) => one === labels.cluster))).toEqual([]);
    const stored = await ask("count by (cluster) (ALERTS)");
    expect(stored.map(({ labels }) => labels.cluster).sort()).toEqual([...clusters]);
  });

  /** What a panel shows of the past. */
  async function shown(query: string, chosen: string, more: Readonly<Record<string, string>> = {}) {
    const range = query.includes("$__range") ? 7 * day : day;
    // The first eight of two clusters are not those of one, and which of equal ones are first is open: all of them.
    const filled = filledIn(query.replaceAll(/(topk|bottomk)\(\d+,/g, "$1(100000,"), {
      range: `${range}s`,
      variables: { cluster: chosen },
    });
    return await ask(filled, { start: `${to - range}`, end: `${to}`, step: `${range / 24}`, ...more });
  }

  /** Every point by its series and time. */
  const pointsOf = (series: readonly AnsweredSeries[]): ReadonlyMap<string, number> =>
    new Map(
      series.flatMap(({ labels, points }) => {
        const name = JSON.stringify(Object.entries(labels).sort());
        return points.map(([at, value]) => [`${name} ${at}`, value] as const);
      }),
    );

  /** Both have the same points; VictoriaMetrics adds up in an order that changes, so that the last digits do, too. */
  function expectSame(found: readonly AnsweredSeries[], wanted: readonly AnsweredSeries[]): void {
    const [has, shouldHave] = [pointsOf(found), pointsOf(wanted)];
    expect([...has.keys()].sort()).toEqual([...shouldHave.keys()].sort());
    for (const [name, value] of shouldHave)
      expect(Math.abs((has.get(name) ?? Number.NaN) - value), name).toBeLessThanOrEqual(1e-6 * (1 + Math.abs(value)));
  }

  test.each(everyQuery)("of one cluster alone, only its own, and of both, both: %s", async (name, query) => {
    const both = await shown(query, "(bay|harbor)");
    for (const cluster of clusters) {
      const alone = await shown(query, cluster);
      // VictoriaMetrics itself leaves out what is not of the cluster, and the panel shows the same.
      expectSame(alone, await shown(query, ".*", { extra_label: `cluster=${cluster}` }));
      if (mayBeEmpty[name] === undefined) expect(alone.length, query).toBeGreaterThan(0);
      else expect(alone.length, `${name} finds data: take it off the list`).toBe(0);
      const ofBoth = both.filter(({ labels }) => labels.cluster === cluster);
      if (alone.some(({ labels }) => labels.cluster !== undefined)) expectSame(ofBoth, alone);
    }
    if (mayBeEmpty[name] === undefined) expect(both.length).toBeGreaterThan(0);
  });

  const grown = (cluster: string): number => {
    const counted = pasts.get(cluster);
    return ((counted?.get(window.to) ?? Number.NaN) - (counted?.get(window.from) ?? Number.NaN)) / 3600;
  };

  test.each(clusters)("Fairlead of %s answers for its own past from the central server", async (cluster) => {
    const server = replicas.get(`${cluster} fairlead-0`)?.url;
    const asked = `from=${isoDay(window.from)}&to=${isoDay(window.to)}&by=state`;
    const answer = await (await fetch(`${server}/api/v1/history?${asked}`)).json();
    const { items } = z.object({ items: z.array(z.object({ gpuSeconds: z.number() })) }).parse(answer);
    const hours = items.reduce((sum, { gpuSeconds }) => sum + gpuSeconds / 3600, 0);
    expect(Math.abs(hours / grown(cluster) - 1), `${hours}, counted ${grown(cluster)}`).toBeLessThan(0.01);
  });

  async function review(args: readonly string[]) {
    const io = captureIo();
    expect(await run(["review", "--format", "json", ...args], io), io.stderr()).toBe(0);
    const parsed = parseReview(io.stdout());
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
    return parsed.review;
  }

  test("the reviews of both are their own, and merged their sum", async () => {
    const asked = ["--from", isoDay(window.from), "--to", isoDay(window.to), "--compare", "0"];
    const capacity = ({ waterfall }: Awaited<ReturnType<typeof review>>) => waterfall[0]?.gpuHours ?? Number.NaN;
    let sum = 0;
    const files: string[] = [];
    for (const cluster of clusters) {
      const byUrl = await review(["--prometheus", url, "--cluster", cluster, ...asked]);
      writeFileSync(join(folder, `${cluster}.yaml`), own("central.yaml", cluster, { [victoria]: url }));
      const byFile = await review(["--config.file", join(folder, `${cluster}.yaml`), ...asked]);
      expect({ ...byFile, writtenAt: "" }).toEqual({ ...byUrl, writtenAt: "" });
      expect(byUrl.clusters).toEqual([cluster]);
      expect(Math.abs(capacity(byUrl) / grown(cluster) - 1)).toBeLessThan(0.01);
      sum += capacity(byUrl);
      files.push(join(folder, `${cluster}.json`));
      writeFileSync(join(folder, `${cluster}.json`), JSON.stringify(byUrl));
    }
    const merged = await review(["--merge", ...files]);
    expect(merged.clusters).toEqual([...clusters]);
    expect(capacity(merged)).toBeCloseTo(sum, 6);
  });
});
