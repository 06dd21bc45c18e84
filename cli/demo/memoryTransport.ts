import { addAbortSignal, PassThrough } from "node:stream";
import type { ApiRequest } from "../../exporter/model/recommendation.ts";
import type { GetPool } from "../../exporter/sources/http/getPool.ts";
import { type AttemptFailure, attemptFailure } from "../../exporter/sources/http/getResult.ts";
import type { ApiClient } from "../../exporter/sources/kubernetes/apiClient.ts";
import type { ApiServer } from "../../simulator/api/server.ts";
import type { WatchStream } from "../../simulator/api/watch.ts";
import type { SimulatedCluster } from "../../simulator/simulatedCluster.ts";
import { answerText, type RequestAnswer } from "./sendRequest.ts";

const jsonType = "application/json";

/** A client of a simulated API that asks it by calling it: no socket, no timer, and so nothing that depends on the machine. */
export function createMemoryClient(api: ApiServer): ApiClient {
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

/** Gets the pages of simulated exporters by calling them. A failed one is asked again in the next round. */
export function createMemoryPool(cluster: SimulatedCluster): GetPool {
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
export async function writeInMemory(api: ApiServer, request: ApiRequest): Promise<RequestAnswer> {
  const { verb, path, contentType, body } = request;
  const text = contentType === null ? "" : JSON.stringify(body);
  const reply = api.write({ method: verb, path, contentType: contentType ?? "", body: text });
  return { code: reply.code, message: answerText(String(reply.body)) };
}
