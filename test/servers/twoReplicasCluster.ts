import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { alertNames } from "../../alerts/alertList.ts";
import { ruleFiles } from "../../alerts/output/ruleFiles.ts";
import { recordingGroups } from "../../alerts/ruleGroups.ts";
import { ofOneReplica } from "../../alerts/rules/recorded.ts";
import { alertsSchema } from "../../alerts/thresholds.ts";
import { freePort, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { metric } from "../../exporter/catalogue/promql.ts";
import { noQueueing } from "../../simulator/queues/spec.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { adviceScenario, coming, oneCohort, wholeNodes } from "../../simulator/scenarios/advice/parts.ts";
import { workloadOf } from "../../simulator/scenarios/parts.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { startProxy } from "./kubernetesProxy.ts";

/** Seconds between two cycles of Fairlead, two scrapes, and two evaluations of the rules: the same, as users have them. */
export const step = 2;
/** After so long without an answer the Kubernetes API counts as not known. */
export const apiMaxAge = 30;
/** The cluster changes at most once in so many seconds. */
const changesEvery = 4;
/** Name that the two replicas give the cluster, and the one that is never disturbed. */
export const [disturbed, undisturbed] = ["harbor", "reference"] as const;
/** What the test has recorded beside our rules, in their group: every state of every pool. */
export const statesOfPools = "test:pool_states:sum";

/** One `fairlead serve`. */
export interface Replica {
  readonly name: string;
  start(): void;
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
  /** What it logged, for when something failed. */
  log(): Promise<string>;
}

/** A simulated cluster, two replicas on it and one for comparison, and a Prometheus that scrapes all three by our rules. */
export interface ReplicatedCluster {
  readonly url: string;
  readonly replicas: readonly [Replica, Replica];
  /** Cuts the first replica off from the Kubernetes API. */
  cutApi(): void;
  restoreApi(): void;
  stop(): Promise<void>;
}

/** Work that comes and goes within seconds, in queues and without, and uses what it holds. */
function busyScenario(): Scenario {
  const busy = { kind: "constant", level: 0.9 } as const;
  const pair = (team: string) =>
    workloadOf("PyTorchJob", team, 2, { kind: "cards", count: 4 }, busy, { queue: team, gang: true, models: ["H100"] });
  const single = workloadOf("Job", "vision", 1, { kind: "cards", count: 2 }, busy, { models: ["A100"] });
  const short = { maxWaiting: 2, runSeconds: [30, 90] } as const;
  return adviceScenario("replicas", {
    nodes: [
      ...wholeNodes("h100", 4, "H100", { instanceType: "p5.48xlarge" }),
      ...wholeNodes("a100", 2, "A100", { instanceType: "p4de.24xlarge" }),
    ],
    namespaces: ["ads", "search", "vision"].map((name) => ({ name, team: name })),
    queueing: {
      ...noQueueing,
      kueue: oneCohort("h100", "H100", [
        { name: "ads", nominal: 16, reclaimWithinCohort: "Never" },
        { name: "search", nominal: 16, reclaimWithinCohort: "Never" },
      ]),
    },
    habits: [
      coming("ctr", pair("ads"), { initial: 1, everySeconds: 30, ...short }),
      coming("ranker", pair("search"), { initial: 1, everySeconds: 30, ...short }),
      coming("detector", single, { initial: 2, everySeconds: 25, ...short }),
    ],
    warmupSeconds: 600,
    // What a pod does is on the page as soon as it runs: who looks a moment later sees the same.
    collectionInterval: 2,
    stepSeconds: 2,
  });
}

/** Every alert after two evaluations: what would be seen for minutes is seen here for seconds. */
export const alertSettings = alertsSchema.parse({
  interval: `${step}s`,
  alerts: {
    ...Object.fromEntries(alertNames.map((name) => [name, { for: `${2 * step}s`, keepFiringFor: "0s" }])),
    GpuExporterStale: { for: `${2 * step}s`, keepFiringFor: "0s", ageAboveSeconds: 4 * step },
    GpuExporterReplicaMissing: { for: `${2 * step}s`, keepFiringFor: "0s", ageAboveSeconds: 4 * step },
  },
});

/** Starts everything; returns when Prometheus has what all three say. */
export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-replicas-"));
  const simulator = await startSimulator({ scenario: busyScenario(), seed: 5, startAt: Math.floor(Date.now() / 1000) });
  const life = setInterval(() => {
    const late = Math.floor(Date.now() / 1000 - simulator.now());
    if (late > 0) simulator.advance(late);
  }, changesEvery * 1000);
  const proxy = await startProxy(simulator.apiUrl);
  const direct = simulator.kubeconfig();
  const through = direct.replace(simulator.apiUrl, `http://127.0.0.1:${proxy.port}`);
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const replicas = [
    await createReplica(folder, "fairlead-0", disturbed, ports[0], through),
    await createReplica(folder, "fairlead-1", disturbed, ports[1], direct),
    await createReplica(folder, "fairlead-reference", undisturbed, ports[2], direct),
  ] as const;
  for (const replica of replicas) replica.start();
  // Counters of all three are first seen at the same moment.
  await Promise.all(ports.map((port) => wholePage(port)));
  await writeRules(folder);
  const prometheus = await startPrometheusWith(
    JSON.stringify({
      global: { scrape_interval: `${step}s`, scrape_timeout: `${step}s`, evaluation_interval: `${step}s` },
      rule_files: [join(folder, "rules-*.yaml")],
      scrape_configs: [
        {
          job_name: "fairlead",
          honor_labels: true,
          // As the ServiceMonitor makes them: a replica keeps its series over a restart.
          static_configs: replicas.map(({ name }, i) => ({
            targets: [`127.0.0.1:${ports[i]}`],
            labels: { instance: name, pod: name, namespace: "fairlead" },
          })),
        },
      ],
    }),
  );
  if (prometheus === null) throw new Error("prometheus is installed but did not come up");
  return {
    url: prometheus.url,
    replicas: [replicas[0], replicas[1]],
    cutApi: () => proxy.cut(),
    restoreApi: () => proxy.restore(),
    async stop() {
      await prometheus.stop();
      await Promise.all(replicas.map((replica) => replica.signal("SIGKILL")));
      clearInterval(life);
      await proxy.close();
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a page has what the books say. */
async function wholePage(port: number): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const page = await fetch(`http://127.0.0.1:${port}/metrics`).then(
      (response) => response.text(),
      () => "",
    );
    if (/^fairlead_covered_seconds_total\{/m.test(page)) return;
    await sleep(250);
  }
  throw new Error(`no whole page at port ${port}`);
}

async function createReplica(
  folder: string,
  name: string,
  cluster: string,
  port: number,
  kubeconfig: string,
): Promise<Replica> {
  const file = (kind: string): string => join(folder, `${name}.${kind}`);
  await writeFile(file("kubeconfig"), kubeconfig);
  await writeFile(
    file("yaml"),
    stringify({
      cluster,
      interval: step,
      replicas: cluster === disturbed ? 2 : 1,
      kubernetes: { kubeconfig: file("kubeconfig"), maxAgeSeconds: apiMaxAge, silenceSeconds: apiMaxAge },
      teams: [{ from: "namespace-label", key: "team" }],
      prices: { staleDays: 3650 },
      ledger: { path: file("db") },
    }),
  );
  const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
  const flags = ["serve", "--config.file", file("yaml"), "--web.listen-address", `127.0.0.1:${port}`];
  let child: ChildProcess | undefined;
  return {
    name,
    start() {
      const log = openSync(file("log"), "a");
      child = spawn(process.execPath, [main, ...flags], { stdio: ["ignore", log, log] });
      closeSync(log);
    },
    async signal(signal) {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = signal === "SIGKILL" ? once(child, "exit") : Promise.resolve();
      child.kill(signal);
      await gone;
    },
    log: async () => (await readFile(file("log"), "utf8")).slice(-3000),
  };
}

/** Our rules, as a user's file of thresholds would have them, and the states of every pool beside them. */
async function writeRules(folder: string): Promise<void> {
  const states = `sum by (cluster, pool, state) (${ofOneReplica(metric("fairlead_gpus")).text})`;
  const recording = recordingGroups(alertSettings).map(({ rules, ...group }) => ({
    ...group,
    rules: [...rules, { record: statesOfPools, expr: states }],
  }));
  await writeFile(join(folder, "rules-recording.yaml"), stringify({ groups: recording }));
  const alerts = ruleFiles(alertSettings)["rules/fairlead-alerts.yaml"];
  if (alerts === undefined) throw new Error("no file of alerts");
  await writeFile(join(folder, "rules-alerts.yaml"), alerts);
}
