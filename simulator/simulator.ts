import { createApiHandler } from "./api/httpHandler.ts";
import { type Listener, listen } from "./listen.ts";
import { createExporterHandler } from "./pages/server.ts";
import { prepareCluster, type SimulatedCluster, type SimulatorOptions } from "./simulatedCluster.ts";

/** A cluster in a box: a Kubernetes API and one dcgm-exporter per GPU node, all on the loopback address. */
export interface Simulator extends SimulatedCluster {
  /** `http://127.0.0.1:PORT`, serving `/api` and `/apis`. */
  readonly apiUrl: string;
  /** A kubeconfig for `apiUrl`, without credentials. */
  readonly kubeconfig: () => string;
  stop(): Promise<void>;
}

/** Starts a simulated cluster. Rejects when no port can be had. */
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
