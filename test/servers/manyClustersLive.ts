import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { z } from "zod";
import { type PlayedCluster, playCluster } from "../../cli/demo/playCluster.ts";
import { configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { demoScenario } from "../../simulator/scenarios/demo.ts";

/** One replica of Fairlead on a simulated cluster, behind its HTTP server. */
export interface LiveReplica {
  readonly host: string;
  readonly url: string;
  readonly cluster: PlayedCluster;
  readonly stop: () => Promise<void>;
}

/** Starts a replica that is configured by the text of the given files, the later ones over the earlier. */
export async function startReplica(files: readonly string[], seed: number, startAt: number): Promise<LiveReplica> {
  const settings = files.map((text) => z.record(z.string(), z.unknown()).parse(parse(text)));
  const { ledger: _, ...own } = Object.assign({}, ...settings, { teams: [{ from: "namespace-label", key: "team" }] });
  const cluster = await playCluster({ scenario: demoScenario(), seed, startAt, config: configSchema.parse(own) });
  await cluster.step(0);
  const started = await startServer({
    handler: cluster.stack.app,
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: () => {},
  });
  if (!started.ok) throw new Error(started.error);
  const { url, close } = started.server;
  return {
    host: new URL(url).host,
    url,
    cluster,
    async stop() {
      await close();
      await cluster.stop();
    },
  };
}

/** Lets all replicas live: one cycle of 30 simulated seconds for each second, until the function that is returned is called. */
export function live(replicas: readonly LiveReplica[]): () => Promise<void> {
  let playing = true;
  const lifecycle = (async () => {
    while (playing) {
      const pause = sleep(1000);
      for (const { cluster } of replicas) await cluster.step(30);
      await pause;
    }
  })();
  return async () => {
    playing = false;
    await lifecycle;
  };
}

/** Against hanging only. */
const patienceSeconds = 240;

/** Looks until something is found; throws when it is not within some minutes. */
export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + patienceSeconds * 1000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${patienceSeconds} s`);
    await sleep(200);
  }
}
