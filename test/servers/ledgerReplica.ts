import { buildExporter } from "../../cli/exporterStack.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import { type Config, configSchema } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../exporter/sources/kubernetes/clock.ts";
import { anonymousCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import type { Simulator } from "../../simulator/simulator.ts";

/** One of several exporters on the same simulated cluster, with a ledger and a server of its own. */
export interface Replica {
  readonly url: string;
  /** Waits until it has seen what the cluster is now, and runs one cycle. */
  readonly cycle: () => Promise<void>;
  /** Ends it, as the end of its pod does; its ledger stays. */
  readonly stop: () => Promise<void>;
}

/** Seconds between two cycles. */
export const cycleSeconds = 120;
const patienceMilliseconds = 60_000;

/** The configuration of a replica with its ledger in this file. */
export const replicaConfig = (ledger: string): Config =>
  configSchema.parse({
    cluster: "harbor",
    interval: cycleSeconds,
    teams: [{ from: "namespace-label", key: "team" }],
    ledger: { path: ledger },
  });

/** Starts a replica, or starts it again on the ledger that it left. */
export async function startReplica(simulator: Simulator, ledgerFile: string): Promise<Replica> {
  const config = replicaConfig(ledgerFile);
  const prepared = await prepareLedger(config);
  if (!prepared.ok || prepared.output === null) throw new Error("a ledger is configured");
  const ledger = prepared.output;
  const client = createApiClient(anonymousCredentials(simulator.apiUrl), systemClock);
  const { now, monotonic } = simulator;
  const stack = buildExporter({ config, client, now, monotonic, telemetryPath: "/metrics", users: {}, ledger });
  await Promise.all([stack.kubernetes.start(), stack.prices.start()]);
  const started = await startServer({
    handler: stack.app,
    listenAddress: "127.0.0.1:0",
    web: openWebConfig,
    onProblem: (message) => {
      throw new Error(message);
    },
  });
  if (!started.ok) throw new Error(started.error);

  async function catchUp(): Promise<void> {
    const wanted = Number(simulator.resourceVersion());
    const hasSeenAll = (): boolean =>
      Object.values(stack.kubernetes.read().resourceVersions).every((version) => Number(version) >= wanted);
    const deadline = Date.now() + patienceMilliseconds;
    while (!hasSeenAll() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  return {
    url: started.server.url,
    async cycle() {
      await catchUp();
      await stack.dcgm.scrapeOnce(simulator.now());
      await stack.cycle.run();
    },
    async stop() {
      await started.server.close();
      await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), stack.prices.stop(), stack.closeHistory()]);
      await client.close();
      await ledger.close();
    },
  };
}
