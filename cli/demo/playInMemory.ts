import type { Config } from "../../exporter/config/schema.ts";
import type { ApiRequest } from "../../exporter/model/recommendation.ts";
import {
  createSimulatedCluster,
  type SimulatedCluster,
  type SimulatorOptions,
} from "../../simulator/simulatedCluster.ts";
import { buildExporter, type ExporterStack } from "../exporterStack.ts";
import { countRequests } from "./countRequests.ts";
import { createMemoryClient, createMemoryPool, writeInMemory } from "./memoryTransport.ts";
import { createPlayedClock } from "./playedClock.ts";
import type { RequestAnswer } from "./sendRequest.ts";

export interface MemoryPlayOptions extends SimulatorOptions {
  readonly config: Config;
}

/** A simulated cluster and the real exporter on it in one process, without sockets and timers. */
export interface MemoryPlay {
  readonly cluster: SimulatedCluster;
  readonly stack: ExporterStack;
  /** Lets `seconds` go by and the exporter see all of it, scrapes every target once and runs one cycle. */
  step(seconds: number): Promise<void>;
  /** Asks the API for a change. */
  write(request: ApiRequest): Promise<RequestAnswer>;
  stop(): Promise<void>;
}

/** Turns of the event loop after which what is not read never will be. */
const patience = 10_000;

/**
 * Plays a cluster as `playCluster` does, but so that nothing depends on the machine: the same options and steps give the
 * same answers, to the byte. All time is that of the simulation; requests and watches are calls.
 */
export async function playInMemory(options: MemoryPlayOptions): Promise<MemoryPlay> {
  const cluster = createSimulatedCluster(options);
  const clock = createPlayedClock({ now: cluster.now, monotonic: cluster.monotonic });
  const { client, underWay } = countRequests(createMemoryClient(cluster.api));
  const stack = buildExporter({
    config: options.config,
    client,
    pages: createMemoryPool(cluster),
    now: cluster.now,
    monotonic: cluster.monotonic,
    telemetryPath: "/metrics",
    users: {},
    kubernetes: { random: () => 0.5, clock },
  });
  await Promise.all([stack.kubernetes.start(), stack.prices.start()]);

  async function until(isSo: () => boolean, what: () => string): Promise<void> {
    for (let turns = 0; !isSo(); turns++) {
      if (turns === patience) throw new Error(`the exporter has not seen all: ${what()}`);
      await turn();
    }
  }

  async function seeAll(): Promise<void> {
    const wanted = Number(cluster.resourceVersion());
    const behind = (): readonly string[] =>
      Object.entries(stack.kubernetes.read().resourceVersions)
        .filter(([, version]) => !(Number(version) >= wanted))
        .map(([kind, version]) => `${kind} at ${version} of ${wanted}`);
    await until(
      () => behind().length === 0,
      () => behind().join(", "),
    );
    // Only now: a watch that has a bookmark still to be read is not silent.
    clock.elapse();
    // What an elapsed clock resumes goes on in the turns of the event loop after it.
    for (let calm = 0; calm < 2; calm++) {
      await turn();
      await until(
        () => underWay() === 0,
        () => `${underWay()} requests are under way`,
      );
    }
  }

  return {
    cluster,
    stack,
    async step(seconds) {
      if (seconds > 0) cluster.advance(seconds);
      await seeAll();
      await stack.dcgm.scrapeOnce(cluster.now());
      await stack.cycle.run();
    },
    write: (request) => writeInMemory(cluster.api, request),
    async stop() {
      await Promise.all([stack.dcgm.stop(), stack.kubernetes.stop(), stack.prices.stop(), stack.closeHistory()]);
      await client.close();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
