import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPrometheusWith } from "../../cli/demo/prometheus.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { startProxy } from "./kubernetesProxy.ts";
import { type PlayedReplica, startPlayedReplica } from "./playedReplica.ts";
import { EndingWriter } from "./promRemoteWrite.ts";
import { createPageReader } from "./scrapedPage.ts";
import { createPlayedRules } from "./twoReplicasRules.ts";
import { answersOver } from "./twoReplicasSamples.ts";
import { alertSettings, busyScenario, disturbed, replicaSettings, step, undisturbed } from "./twoReplicasScenario.ts";

const begin = Date.parse("2026-11-16T08:00:00Z") / 1000;

/** One replica, as its container is: started, killed, stopped without a word. */
export interface Replica {
  readonly name: string;
  start(): Promise<void>;
  /** What was written to its ledger stays, and nothing else. */
  kill(): Promise<void>;
  hang(): void;
  goOn(): void;
}

/** A simulated cluster, two replicas on it and one for comparison, and a Prometheus that has what all three say, by our rules. */
export interface ReplicatedCluster {
  readonly url: string;
  readonly replicas: readonly [Replica, Replica];
  /** When the rules were evaluated last, seconds since the epoch. */
  now(): number;
  /** Lets `step` seconds go by: cycles, scrapes, and which replica is read. */
  step(): Promise<void>;
  /** Replicas that can be read, with all of their sources. */
  whole(): Promise<number>;
  /** Evaluates all rules over what was played. */
  record(from: number, to: number): Promise<void>;
  /** Cuts the first replica off from the Kubernetes API. */
  cutApi(): Promise<void>;
  restoreApi(): void;
  stop(): Promise<void>;
}

/** A replica, and what Prometheus gets when it scrapes it at a moment. */
interface ScrapedReplica extends Replica {
  readonly link: { readonly cut: () => void; readonly restore: () => void };
  /** Its cycle and its scrape of this moment, in milliseconds. */
  live(at: number): Promise<void>;
  noticeCut(): Promise<void>;
  stop(): Promise<void>;
}

const folderPrefix = join(tmpdir(), "fairlead-replicas-");

/** Starts everything; nothing has been scraped yet. */
export async function startReplicatedCluster(): Promise<ReplicatedCluster> {
  const folder = await mkdtemp(folderPrefix);
  const simulator = await startSimulator({ scenario: busyScenario(), seed: 5, startAt: begin });
  const prometheus = await startPrometheusWith("scrape_configs: []\n", {
    folder,
    flags: ["--web.enable-remote-write-receiver", "--storage.tsdb.retention.time=50y"],
  });
  if (prometheus === null) throw new Error("prometheus is installed but did not come up");
  const { url } = prometheus;
  const writer = new EndingWriter(url);
  const create = (name: string, cluster: string, isScrapedFirst: boolean): Promise<ScrapedReplica> =>
    createReplica({ simulator, folder, name, cluster, isScrapedFirst, writer });
  const first = await create("fairlead-0", disturbed, false);
  // Its scrape is just before its cycle: it is read with the page of the cycle before.
  const second = await create("fairlead-1", disturbed, true);
  const reference = await create("fairlead-reference", undisturbed, false);
  const all = [first, second, reference];
  const rules = createPlayedRules(url, alertSettings, step);
  const evaluatedAt = (): number => simulator.now() + 1;
  for (const replica of all) await replica.start();
  return {
    url,
    replicas: [first, second],
    now: evaluatedAt,
    async step() {
      simulator.advance(step);
      for (const replica of all) await replica.live(simulator.now() * 1000);
      await rules.choose(evaluatedAt());
    },
    async whole() {
      const query = `count(cluster:fairlead_replica:rank{cluster="${disturbed}"} > 0)`;
      const [found] = await answersOver(url, query, evaluatedAt(), evaluatedAt(), 1);
      return found?.samples.get(evaluatedAt() * 1000) ?? 0;
    },
    record: rules.record,
    async cutApi() {
      first.link.cut();
      await first.noticeCut();
    },
    restoreApi: () => first.link.restore(),
    async stop() {
      await prometheus.stop();
      for (const replica of all) await replica.stop();
      await simulator.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function createReplica(options: {
  readonly simulator: Simulator;
  readonly folder: string;
  readonly name: string;
  readonly cluster: string;
  readonly isScrapedFirst: boolean;
  readonly writer: EndingWriter;
}): Promise<ScrapedReplica> {
  const { simulator, folder, name, cluster, isScrapedFirst, writer } = options;
  const proxy = await startProxy(simulator.apiUrl);
  // As the ServiceMonitor makes them: a replica keeps its series over a restart.
  const target = { job: "fairlead", instance: name, pod: name, namespace: "fairlead" };
  const readPage = createPageReader(target);
  let running: PlayedReplica | null = null;
  let isHanging = false;
  let lives = 0;
  const ledger = (): string => join(folder, `${name}-${lives}.db`);

  async function scrape(at: number): Promise<void> {
    const page = running === null || isHanging ? null : await fetch(`${running.url}/metrics`);
    if (page !== null && !page.ok) throw new Error(`${name} answers ${page.status}`);
    const samples = page === null ? [] : readPage(await page.text());
    await writer.write(name, at, [...samples, [{ ...target, __name__: "up" }, page === null ? 0 : 1]]);
  }

  return {
    name,
    link: proxy,
    async start() {
      running = await startPlayedReplica({
        simulator,
        config: configSchema.parse(replicaSettings(cluster, ledger())),
        apiUrl: `http://127.0.0.1:${proxy.port}`,
      });
    },
    async kill() {
      const killed = running;
      running = null;
      lives += 1;
      await killed?.kill(ledger());
    },
    hang: () => {
      isHanging = true;
    },
    // The page that it serves first is the one of its last cycle.
    goOn: () => {
      isHanging = false;
    },
    async live(at) {
      if (isScrapedFirst) await scrape(at);
      if (!isHanging) await running?.cycle();
      if (!isScrapedFirst) await scrape(at);
    },
    noticeCut: async () => await running?.noticeCut(),
    async stop() {
      await running?.stop();
      await proxy.close();
    },
  };
}
