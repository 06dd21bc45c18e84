import { addAbortSignal, PassThrough } from "node:stream";
import type { Config } from "../../exporter/config/schema.ts";
import type { ApiRequest } from "../../exporter/model/recommendation.ts";
import type { GetPool } from "../../exporter/sources/http/getPool.ts";
import { type AttemptFailure, attemptFailure } from "../../exporter/sources/http/getResult.ts";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import type { ApiServer } from "../../simulator/api/server.ts";
import type { WatchStream } from "../../simulator/api/watch.ts";
import {
  createSimulatedCluster,
  type SimulatedCluster,
  type SimulatorOptions,
} from "../../simulator/simulatedCluster.ts";
import { buildExporter, type ExporterStack } from "../exporterStack.ts";
import type { LedgerOutput } from "../ledgerOutput.ts";
import { countRequests } from "./countRequests.ts";
import { createPlayedClock } from "./playedClock.ts";
import { answerText, type RequestAnswer } from "./sendRequest.ts";
import { createServerPages } from "./serverPages.ts";

export interface MemoryPlayOptions extends SimulatorOptions {
  readonly config: Config;
  /** The ledger that the exporter writes; its owner closes it. Default: none. */
  readonly ledger?: LedgerOutput;
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

/** The most turns of the event loop that are waited for: what has not been read by then never will be. */
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
    servingPages: createServerPages(cluster),
    now: cluster.now,
    monotonic: cluster.monotonic,
    telemetryPath: "/metrics",
    users: {},
    kubernetes: { random: () => 0.5, clock },
    ...(options.ledger === undefined ? {} : { ledger: options.ledger }),
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
    // The clock elapses only now: a watch that still has a bookmark to read is not silent.
    clock.elapse();
    // Work that the elapsed clock resumes goes on in the next turns of the event loop.
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

const jsonType = "application/json";

/** A client of a simulated API that asks it by calling it: no socket, no timer, and so nothing that depends on the machine. */
function createMemoryClient(api: ApiServer): ApiClient {
  const noWatch = (): WatchStream => {
    throw new Error("a watch is opened, not got");
  };
  return {
    async get(path, { accept }) {
      const { code, contentType, body } = api.read({ path, accept }, noWatch) ?? {
        code: 500,
        contentType: "",
        body: "",
      };
      return { ok: true, status: code, retryAfterSeconds: null, contentType, body: Buffer.from(body) };
    },
    async open(path, { accept, signal }) {
      const events = new PassThrough();
      addAbortSignal(signal, events);
      const reply = api.read({ path, accept }, () => streamOf(events));
      if (reply !== null) events.end(reply.body);
      const { code: status, contentType } = reply ?? { code: 200, contentType: jsonType };
      return { ok: true, status, retryAfterSeconds: null, contentType, body: events };
    },
    close: async () => {},
  };
}

function streamOf(events: PassThrough): WatchStream {
  return {
    begin() {},
    write: (text) => void events.write(text),
    end: (text) => void events.end(text),
    destroy: () => void events.destroy(),
    onClose: (callback) => void events.on("close", callback),
  };
}

/** Gets the pages of simulated exporters by calling them. A page that failed is asked for again in the next round. */
function createMemoryPool(cluster: SimulatedCluster): GetPool {
  const fail = (failure: AttemptFailure) =>
    ({ ...failure, skipped: false, failures: 1, retryAt: cluster.monotonic() }) as const;
  return {
    async get({ url }, consume) {
      const [node] = [...cluster.metricsUrls].find(([, at]) => at === url) ?? [];
      const exporter = node === undefined ? undefined : cluster.exporters.get(node);
      if (exporter === undefined) return fail(attemptFailure("refused", "nobody listens there"));
      if (exporter.isLost()) return fail(attemptFailure("reset", "the connection was reset"));
      const { code, body } = exporter.read(new URL(url).pathname);
      if (code !== 200) return fail(attemptFailure("status", `HTTP status ${code}`, code));
      return { ok: true, value: consume(Buffer.from(body)) };
    },
    retain() {},
    close: async () => {},
  };
}

/** Sends a request of a recommendation by calling the API. */
async function writeInMemory(api: ApiServer, request: ApiRequest): Promise<RequestAnswer> {
  const { verb, path, contentType, body } = request;
  const text = contentType === null ? "" : JSON.stringify(body);
  const reply = api.write({ method: verb, path, contentType: contentType ?? "", body: text });
  return { code: reply.code, message: answerText(String(reply.body)) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
