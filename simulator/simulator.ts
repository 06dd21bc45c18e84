import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiServer } from "./api/server.ts";
import type { WatchStream } from "./api/watch.ts";
import { readBody } from "./api/write/body.ts";
import { type FaultBoard, faultsOf } from "./faults.ts";
import { type Listener, listen } from "./listen.ts";
import { createExporterHandler } from "./pages/server.ts";
import { sendReply } from "./reply.ts";
import { prepareCluster, type SimulatedCluster, type SimulatorOptions } from "./simulatedCluster.ts";

/** A simulated cluster with a network: a Kubernetes API and one dcgm-exporter per GPU node, all on the loopback address. */
export interface Simulator extends SimulatedCluster {
  /** The address of the API, `http://127.0.0.1:PORT`, which serves `/api` and `/apis`. */
  readonly apiUrl: string;
  /** A kubeconfig for `apiUrl`, without credentials. */
  readonly kubeconfig: () => string;
  stop(): Promise<void>;
}

/** Starts a simulated cluster. Rejects when there is no free port. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { faults, exporters, open } = prepareCluster(options);
  const listeners = new Map<string, Listener>(
    await Promise.all(
      [...exporters].map(async ([node, exporter]) => [node, await listen(createExporterHandler(exporter))] as const),
    ),
  );
  const cluster = open(new Map([...listeners].map(([node, { port }]) => [node, port])));
  const api = await listen(createApiHandler(cluster.api, faults));
  const apiUrl = `http://127.0.0.1:${api.port}`;
  return {
    ...cluster,
    get metricsUrls() {
      return cluster.metricsUrls;
    },
    apiUrl,
    kubeconfig: () => kubeconfig(apiUrl),
    async stop() {
      await Promise.all([api, ...listeners.values()].map((listener) => listener.close()));
    },
  };
}

/** The API server as a request handler. */
type ApiHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** Serves the API by HTTP, delayed by the faults that are on. */
function createApiHandler(api: ApiServer, faults: FaultBoard): ApiHandler {
  return (request, response) => {
    const delayMs = Math.max(0, ...faultsOf(faults, "api-slow").map((fault) => fault.delayMs));
    const { method = "", url: path = "/", headers } = request;
    if (method === "GET") {
      const stream = (timeoutSeconds: number): WatchStream => streamOf(response, timeoutSeconds);
      sendReply(response, delayMs, () => api.read({ path, accept: headers.accept }, stream));
      return;
    }
    const contentType = headers["content-type"] ?? "";
    void readBody(request).then((body) =>
      sendReply(response, delayMs, () => api.write({ method, path, contentType, body })),
    );
  };
}

/** A watch as the body of an answer; the server ends it after this many seconds of real time (0: never). */
function streamOf(response: ServerResponse, timeoutSeconds: number): WatchStream {
  return {
    begin() {
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
      response.flushHeaders();
      if (timeoutSeconds <= 0) return;
      const timer = setTimeout(() => response.end(), timeoutSeconds * 1000);
      response.on("close", () => clearTimeout(timer));
    },
    write: (text) => void response.write(text),
    end: (text) => void response.end(text),
    destroy: () => void response.destroy(),
    onClose: (callback) => void response.on("close", callback),
  };
}

function kubeconfig(apiUrl: string): string {
  return `apiVersion: v1
kind: Config
clusters:
  - name: simulator
    cluster:
      server: ${apiUrl}
users:
  - name: simulator
    user: {}
contexts:
  - name: simulator
    context:
      cluster: simulator
      user: simulator
current-context: simulator
`;
}
