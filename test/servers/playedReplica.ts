import { backup, DatabaseSync } from "node:sqlite";
import { countRequests } from "../../cli/demo/countRequests.ts";
import { createPlayedClock } from "../../cli/demo/playedClock.ts";
import { buildExporter } from "../../cli/exporterStack.ts";
import { prepareLedger } from "../../cli/ledgerOutput.ts";
import type { Config } from "../../exporter/config/schema.ts";
import { openWebConfig } from "../../exporter/config/webConfig.ts";
import { startServer } from "../../exporter/publish/http/server.ts";
import { createApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import { anonymousCredentials } from "../../exporter/sources/kubernetes/credentials.ts";
import type { Simulator } from "../../simulator/simulator.ts";

/** One of several exporters on the same simulated cluster, with a ledger and a server of its own, whose time is the cluster's. */
export interface PlayedReplica {
  readonly url: string;
  /** Notices the time that has passed, waits until it has seen what the cluster is now, and runs one cycle. */
  cycle(): Promise<void>;
  /** Waits until it has noticed that it can read no kind of object any more. */
  noticeCut(): Promise<void>;
  /** Ends it, as the end of its pod does; its ledger stays. */
  stop(): Promise<void>;
  /** Ends it after a copy of its ledger as it is now: what the next one finds when this one is killed. */
  kill(copy: string): Promise<void>;
}

/** What it runs on; `apiUrl` may lead through a proxy. */
export interface PlayedReplicaOptions {
  readonly simulator: Simulator;
  readonly config: Config;
  readonly apiUrl?: string;
}

const patienceMilliseconds = 60_000;

export async function startPlayedReplica({ simulator, config, apiUrl }: PlayedReplicaOptions): Promise<PlayedReplica> {
  const file = config.ledger?.path;
  const prepared = await prepareLedger(config);
  if (!prepared.ok) throw new Error(prepared.problem.message);
  const ledger = prepared.output;
  if (ledger === null || file === undefined) throw new Error("a ledger is configured");
  const clock = createPlayedClock(simulator);
  const { client, underWay } = countRequests(createApiClient(anonymousCredentials(apiUrl ?? simulator.apiUrl), clock));
  const stack = buildExporter({
    config,
    client,
    telemetryPath: "/metrics",
    users: {},
    ledger,
    now: simulator.now,
    monotonic: simulator.monotonic,
    kubernetes: { clock, random: () => 0.5 },
  });
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
  const { server } = started;
  let isCut = false;

  const states = () => Object.entries(stack.kubernetes.status()).map(([kind, { state }]) => ({ kind, state }));
  /** Kinds that are not as the cluster is now, with how far they are. */
  function behind(): readonly string[] {
    const wanted = Number(simulator.resourceVersion());
    const broken = states().filter(({ state }) => state !== "synced" && state !== "absent");
    const late = Object.entries(stack.kubernetes.read().resourceVersions).filter(
      ([, version]) => Number(version) < wanted,
    );
    return [
      ...broken.map(({ kind, state }) => `${kind} is ${state}`),
      ...late.map(([kind, version]) => `${kind} is at ${version} of ${wanted}`),
    ];
  }
  const isUpToDate = (): boolean => behind().length === 0;
  const notUpToDate = (): string => `not seen yet: ${behind().join(", ")}`;
  /** Answers of the API, but not what open watches bring. */
  const isAnswered = (): boolean => underWay() === 0;
  const lastWritten = (): number => {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return Number(db.prepare("SELECT max(ends) AS ends FROM intervals").get()?.ends ?? 0);
    } finally {
      db.close();
    }
  };

  async function stop(): Promise<void> {
    await server.close();
    await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), stack.prices.stop(), stack.closeHistory()]);
    await client.close();
    await ledger?.close();
  }

  return {
    url: server.url,
    async cycle() {
      // What open watches bring comes first: after a leap in time they would count as silent.
      if (!isCut) await until(isUpToDate, notUpToDate);
      clock.elapse();
      await calm(isAnswered);
      // After a cut, kinds come back one by one, each when its time to try again has come.
      if (behind().length === 0) isCut = false;
      // A watch that ended with the time that passed is opened again, which may take longer than its answer.
      if (!isCut) await until(isUpToDate, notUpToDate);
      await stack.dcgm.scrapeOnce(simulator.now());
      await stack.cycle.run();
    },
    async noticeCut() {
      isCut = true;
      const synced = () => states().filter(({ state }) => state === "synced");
      await until(
        () => synced().length === 0,
        () => `still read: ${synced().map(({ kind }) => kind)}`,
      );
    },
    stop,
    async kill(copy) {
      const now = simulator.now();
      await until(
        () => lastWritten() >= now,
        () => `the ledger is written up to ${lastWritten()} of ${now}`,
      );
      const db = new DatabaseSync(file, { readOnly: true });
      await backup(db, copy);
      db.close();
      await stop();
    },
  };
}

/** Waits for a state; throws with what is there instead. */
async function until(isSo: () => boolean, instead: () => string): Promise<void> {
  const deadline = performance.now() + patienceMilliseconds;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(instead());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Waits until a state holds for some turns: what an answer leads to is asked in the next one. */
async function calm(isSo: () => boolean): Promise<void> {
  for (let turns = 0; turns < 3; turns += 1) {
    await until(isSo, () => "requests that are never answered");
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (!isSo()) turns = -1;
  }
}
