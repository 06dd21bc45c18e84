import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { alertGroups } from "../../alerts/ruleGroups.ts";
import { alertsSchema, defaultAlerts } from "../../alerts/thresholds.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { type AnsweredSeries, parseHistoryAnswer } from "../../exporter/history/prometheusAnswer.ts";
import { everyQuery, filledIn } from "../dashboards/everyDashboard.ts";
import { hasPrometheus } from "../e2e/scrapedByPrometheus.ts";
import { argumentsOf, exampleWith } from "./manyClustersExample.ts";
import { type LiveReplica, live, startReplica, until } from "./manyClustersLive.ts";
import { freePort, installedInTime, Program } from "./program.ts";

const backend = "thanos";
const clusters = ["bay", "harbor"] as const;
const dist = fileURLToPath(new URL("../../alerts/dist/rules", import.meta.url));
const example = (name: string) => fileURLToPath(new URL(`../../deploy/examples/thanos/${name}`, import.meta.url));

const assets = hasPrometheus() ? await installedInTime("install-thanos.sh") : undefined;

describe.skipIf(assets === undefined)("two clusters behind one Thanos, by deploy/examples/thanos", () => {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-thanos-"));
  const thanos = join(assets ?? "", "thanos");
  const programs: Program[] = [];
  const replicas = new Map<string, LiveReplica>();
  const sidecars = new Map<string, readonly string[]>();
  let stopLiving: () => Promise<void> = async () => {};
  let query = "";
  let rule = "";

  async function start(name: string, command: string, args: readonly string[], ready: string): Promise<void> {
    const own = join(folder, name);
    mkdirSync(own, { recursive: true });
    const program = new Program(own, command, args);
    programs.push(program);
    program.start();
    await program.ready(() => fetch(ready).then(({ status }) => status));
  }

  /** Fairlead's two replicas of a cluster, and as many Prometheus servers with a sidecar each as are named. */
  async function startCluster(cluster: string, seed: number, servers: readonly string[]): Promise<void> {
    const startAt = Math.floor(Date.now() / 1000);
    const files = [exampleWith(backend, "fairlead.yaml", { harbor: cluster })];
    const [first, second] = [await startReplica(files, seed, startAt), await startReplica(files, seed, startAt)];
    replicas.set(`${cluster} fairlead-0`, first);
    replicas.set(`${cluster} fairlead-1`, second);
    await first.cluster.step(30);
    const grpc: string[] = [];
    for (const server of servers) grpc.push(await startPrometheus(cluster, server, [first.host, second.host]));
    sidecars.set(cluster, grpc);
  }

  async function startPrometheus(cluster: string, server: string, [first, second]: readonly [string, string]) {
    const name = `${cluster}-${server}`;
    const data = join(folder, `${name}-data`);
    const config = join(folder, `${name}.yml`);
    const [port, http, grpc] = [await freePort(), await freePort(), await freePort()];
    writeFileSync(
      config,
      exampleWith(backend, "prometheus.yml", {
        harbor: cluster,
        "prometheus-0": server,
        "scrape_interval: 30s": "scrape_interval: 1s\n  scrape_timeout: 1s",
        "evaluation_interval: 1m": "evaluation_interval: 1s",
        "/etc/prometheus/fairlead": join(folder, "rules"),
        "fairlead-0.fairlead-replicas.fairlead.svc:10836": first,
        "fairlead-1.fairlead-replicas.fairlead.svc:10836": second,
        "alertmanager.monitoring.example.org:9093": "127.0.0.1:9",
      }),
    );
    const ofPrometheus = argumentsOf(backend, "sidecar.yaml", "prometheus", {
      "/etc/prometheus/prometheus.yml": config,
      "=/prometheus": `=${data}`,
      ":9090": `127.0.0.1:${port}`,
    });
    await start(name, "prometheus", ofPrometheus, `http://127.0.0.1:${port}/-/ready`);
    const ofSidecar = argumentsOf(backend, "sidecar.yaml", "sidecar", {
      "http://localhost:9090": `http://127.0.0.1:${port}`,
      "=/prometheus": `=${data}`,
      "/etc/thanos/bucket.yaml": join(folder, "bucket.yaml"),
      "grpc-address=:10901": `grpc-address=127.0.0.1:${grpc}`,
      "http-address=:10902": `http-address=127.0.0.1:${http}`,
    });
    await start(`${name}-sidecar`, thanos, ofSidecar, `http://127.0.0.1:${http}/-/ready`);
    return `127.0.0.1:${grpc}`;
  }

  async function startQuery(): Promise<void> {
    const port = await freePort();
    query = `http://127.0.0.1:${port}`;
    const endpoints = (cluster: string) => (sidecars.get(cluster) ?? []).join("\n--endpoint=");
    const args = argumentsOf(backend, "thanos.yaml", "query", {
      "http-address=:10902": `http-address=127.0.0.1:${port}`,
      "grpc-address=:10901": `grpc-address=127.0.0.1:${await freePort()}`,
      "prometheus.harbor.example.org:10901": endpoints("harbor"),
      "prometheus.bay.example.org:10901": endpoints("bay"),
      "thanos-store.monitoring.svc:10901": "127.0.0.1:9",
    });
    await start("query", thanos, args, `${query}/-/ready`);
  }

  async function startRule(): Promise<void> {
    const port = await freePort();
    rule = `http://127.0.0.1:${port}`;
    const rules = join(folder, "ruler-rules");
    mkdirSync(rules);
    writeFileSync(
      join(rules, "cluster-gone.yaml"),
      exampleWith(backend, "cluster-gone.yaml", { "interval: 1m": "interval: 1s", "for: 5m": "for: 1s" }),
    );
    const args = argumentsOf(backend, "thanos.yaml", "rule", {
      "http-address=:10902": `http-address=127.0.0.1:${port}`,
      "grpc-address=:10901": `grpc-address=127.0.0.1:${await freePort()}`,
      "--data-dir=/data": `--data-dir=${join(folder, "ruler")}`,
      "/etc/thanos-rules": rules,
      "thanos-query.monitoring.svc:10902": new URL(query).host,
      "http://alertmanager.monitoring.example.org:9093": "http://127.0.0.1:9",
      "=1m": "=1s",
    });
    await start("rule", thanos, args, `${rule}/-/ready`);
  }

  async function ask(
    text: string,
    more: readonly (readonly [string, string])[] = [],
  ): Promise<readonly AnsweredSeries[]> {
    const body = new URLSearchParams({ query: text });
    for (const [name, value] of more) body.append(name, value);
    const answer = parseHistoryAnswer(await (await fetch(`${query}/api/v1/query`, { method: "POST", body })).text());
    if (answer.kind === "series") return answer.series;
    throw new Error(`${text}: ${answer.kind === "refused" ? answer.reason : answer.finding}`);
  }

  beforeAll(async () => {
    mkdirSync(join(folder, "rules"));
    for (const [name, text] of Object.entries(ruleFiles(alertsSchema.parse({ interval: "1s" }))))
      if (name.startsWith("rules/")) writeFileSync(join(folder, name), text);
    const nowhere = { "s3.eu-west-1.amazonaws.com": "127.0.0.1:9" };
    writeFileSync(join(folder, "bucket.yaml"), exampleWith(backend, "bucket.yaml", nowhere));
    await startCluster("harbor", 1, ["prometheus-0", "prometheus-1"]);
    await startCluster("bay", 2, ["prometheus-0"]);
    stopLiving = live([...replicas.values()]);
    await startQuery();
    await startRule();
  }, 900_000);

  afterAll(async () => {
    await stopLiving();
    for (const program of programs.toReversed()) await program.kill();
    for (const replica of replicas.values()) await replica.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("Thanos takes the rules, and the Ruler's own is the one that is generated", () => {
    const files = [...readdirSync(dist).map((name) => join(dist, name)), example("cluster-gone.yaml")];
    for (const file of files) execFileSync(thanos, ["tools", "rules-check", `--rules=${file}`], { stdio: "pipe" });
    const rules = z.object({ groups: z.array(z.object({ rules: z.array(z.record(z.string(), z.unknown())) })) });
    const [own] = rules
      .parse(parse(exampleWith(backend, "cluster-gone.yaml", {})))
      .groups.flatMap((group) => group.rules);
    const generated = alertGroups(defaultAlerts).flatMap((group) => group.rules);
    const { expr, labels, for: allocated } = generated.find(({ alert }) => alert === "GpuExporterDown") ?? {};
    expect(own).toMatchObject({ alert: "GpuExporterDown", expr, labels, for: allocated });
  });

  test("the configuration for the central server is one", () => {
    const config = configSchema.parse(parse(exampleWith(backend, "central.yaml", {})));
    expect([config.cluster, config.history.prometheus?.matchers]).toEqual(["harbor", { cluster: "harbor" }]);
  });

  test("two Prometheus servers become one, and Fairlead's replicas stay two with their own counters", async () => {
    const build = 'fairlead_build_info{cluster="harbor"}';
    const pods = await until("both replicas", async () => {
      const found = await ask(build);
      const all = await ask(build, [["dedup", "false"]]);
      return found.length === 2 && all.length === 4 ? found : undefined;
    });
    expect(pods.map(({ labels }) => labels.pod).sort()).toEqual(["fairlead-0", "fairlead-1"]);
    expect(pods.every(({ labels }) => labels.prometheus_replica === undefined)).toBe(true);
    const covered = await ask('fairlead_covered_seconds_total{cluster="harbor"}');
    const of = (pod: string) => covered.find(({ labels }) => labels.pod === pod)?.points[0]?.[1] ?? Number.NaN;
    // The first replica has lived one cycle longer; scrapes of the two are at most a cycle or two apart.
    expect(of("fairlead-0")).toBeGreaterThanOrEqual(of("fairlead-1"));
  });

  test("with `pod` and `instance` as replica labels the two would be one: why the example does not name them", async () => {
    const more = ["pod", "instance", "prometheus_replica"].map((label) => ["replicaLabels[]", label] as const);
    expect(await ask('fairlead_build_info{cluster="harbor"}', more)).toHaveLength(1);
  });

  test("what each cluster's Prometheus recorded is there once for each, of one replica", async () => {
    const allocated = "sum by (cluster) (cluster_pool:fairlead_allocated_gpus:sum)";
    await until("recorded of both", async () => {
      const recorded = await ask(allocated);
      const scraped = await ask("max by (cluster) (sum by (cluster, pod) (fairlead_team_gpus))");
      const ratio = (cluster: string): number => numberOf(recorded, cluster) / numberOf(scraped, cluster);
      return clusters.every((cluster) => Math.abs(ratio(cluster) - 1) < 0.1) ? true : undefined;
    });
    const names = await ask('count by (__name__) ({__name__=~"cluster.*:fairlead_.*:.*"})');
    expect(names.length).toBeGreaterThan(40);
    // Each Prometheus of a cluster chooses a replica for itself, so that this one may be there with both.
    const others = '__name__=~"cluster:fairlead_.*:(max|sum)", __name__!~"cluster:fairlead_replica:.*"';
    const twice = await ask(`count by (__name__, cluster) ({${others}}) > 1`);
    expect(twice.map(({ labels }) => labels)).toEqual([]);
  });

  test("a panel shows the GPUs of one replica, whatever the two Prometheus servers chose", async () => {
    const text = everyQuery.find(([name]) => name === "fleet: GPUs in all A")?.[1] ?? "";
    for (const cluster of clusters) {
      const seen: number[] = [];
      // Which replica is read is recorded first. Thanos takes each series of whichever Prometheus it likes, so that states of two
      // scrapes may meet in one sum: then it is off by what moved between them, which is a small part.
      await until(`all GPUs of ${cluster}`, async () => {
        const [series] = await ask(filledIn(text, { variables: { cluster } }));
        const found = series?.points[0]?.[1];
        if (found !== undefined) seen.push(found);
        return found !== undefined && Math.abs(found - 176) < 1e-6 ? true : undefined;
      });
      expect(seen.filter((found) => Math.abs(found / 176 - 1) > 0.05)).toEqual([]);
    }
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

  test("the Ruler reports the cluster whose Fairlead is gone, and no other", async () => {
    const reported = "cluster:fairlead_last_cycle_timestamp_seconds:max";
    await until("both clusters", async () => ((await ask(reported)).length === 2 ? true : undefined));
    await stopLiving();
    for (const pod of ["fairlead-0", "fairlead-1"]) await replicas.get(`bay ${pod}`)?.stop();
    const alert = z.object({ labels: z.record(z.string(), z.string()), state: z.string() });
    const group = z.object({ rules: z.array(z.object({ alerts: z.array(alert).default([]) })) });
    const rules = z.object({ data: z.object({ groups: z.array(group) }) });
    const found = await until("GpuExporterDown", async () => {
      const { data } = rules.parse(await (await fetch(`${rule}/api/v1/rules`)).json());
      const all = data.groups.flatMap((one) => one.rules.flatMap(({ alerts }) => alerts));
      return all.some(({ state }) => state === "firing") ? all : undefined;
    });
    expect(found.map(({ labels }) => [labels.alertname, labels.cluster])).toEqual([["GpuExporterDown", "bay"]]);
    replicas.delete("bay fairlead-0");
    replicas.delete("bay fairlead-1");
  });

  const numberOf = (series: readonly AnsweredSeries[], cluster: string): number =>
    series.find(({ labels }) => labels.cluster === cluster)?.points[0]?.[1] ?? Number.NaN;
});
