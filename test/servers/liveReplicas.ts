import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { recordingGroups } from "../../alerts/ruleGroups.ts";
import { freePort, startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { startSimulator } from "../../simulator/simulator.ts";
import { startProxy } from "./kubernetesProxy.ts";
import { poolStates } from "./twoReplicasRules.ts";
import { alertSettings, busyScenario, disturbed, replicaSettings, step } from "./twoReplicasScenario.ts";

/** One `fairlead serve` in a process of its own. */
export interface LiveReplica {
  readonly name: string;
  start(): void;
  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void>;
  /** The end of what it logged, for when something failed. */
  log(): Promise<string>;
}

/** A simulated cluster that goes on with the machine's clock, two replicas on it, and a Prometheus that reads both by our rules. */
export interface LiveReplicas {
  readonly url: string;
  readonly replicas: readonly [LiveReplica, LiveReplica];
  /** Cuts the first replica off from the Kubernetes API. */
  cutApi(): void;
  restoreApi(): void;
  stop(): Promise<void>;
}

/** Seconds between two cycles, and two scrapes: a process on a busy machine may be late by three of them, and is still whole. */
const every = 5;
const apiMaxAge = 60;
/** The cluster changes at most once in so many seconds. */
const changesEvery = 4;

export async function startLiveReplicas(): Promise<LiveReplicas> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-live-replicas-"));
  const simulator = await startSimulator({ scenario: busyScenario(), seed: 5, startAt: Math.floor(Date.now() / 1000) });
  const lifecycle = setInterval(() => {
    const late = Math.floor(Date.now() / 1000 - simulator.now());
    if (late > 0) simulator.advance(late);
  }, changesEvery * 1000);
  const proxy = await startProxy(simulator.apiUrl);
  const direct = simulator.kubeconfig();
  const through = direct.replace(simulator.apiUrl, `http://127.0.0.1:${proxy.port}`);
  const ports = [await freePort(), await freePort()] as const;
  const replicas = [
    await createReplica(folder, "fairlead-0", ports[0], through),
    await createReplica(folder, "fairlead-1", ports[1], direct),
  ] as const;
  for (const replica of replicas) replica.start();
  const groups = recordingGroups(alertSettings).map(({ rules, ...group }) => ({
    ...group,
    rules: [...rules, poolStates],
  }));
  await writeFile(join(folder, "rules.yaml"), stringify({ groups }));
  const prometheus = await startPrometheusWith(
    JSON.stringify({
      global: { scrape_interval: `${every}s`, scrape_timeout: `${every}s`, evaluation_interval: `${step}s` },
      rule_files: [join(folder, "rules.yaml")],
      scrape_configs: [
        {
          job_name: "fairlead",
          honor_labels: true,
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
    replicas,
    cutApi: () => proxy.cut(),
    restoreApi: () => proxy.restore(),
    async stop() {
      await prometheus.stop();
      await Promise.all(replicas.map((replica) => replica.signal("SIGKILL")));
      clearInterval(lifecycle);
      await proxy.close();
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function createReplica(folder: string, name: string, port: number, kubeconfig: string): Promise<LiveReplica> {
  const file = (kind: string): string => join(folder, `${name}.${kind}`);
  await writeFile(file("kubeconfig"), kubeconfig);
  const settings = replicaSettings(disturbed, file("db"), every, apiMaxAge);
  const kubernetes = { ...settings.kubernetes, kubeconfig: file("kubeconfig") };
  await writeFile(file("yaml"), stringify({ ...settings, kubernetes }));
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
