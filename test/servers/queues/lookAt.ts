import type { Fairness } from "../../../exporter/analysis/fairness/fairness.ts";
import { judgeFairness } from "../../../exporter/analysis/fairness/judgeFairness.ts";
import type { SchedulerNumber, SchedulerView } from "../../../exporter/analysis/schedulerViews/schedulerView.ts";
import { schedulerViews } from "../../../exporter/analysis/schedulerViews/schedulerViews.ts";
import { defaultConfig } from "../../../exporter/config/defaults.ts";
import { join } from "../../../exporter/join/join.ts";
import { emptyMemory } from "../../../exporter/join/memory.ts";
import type { QueueView } from "../../../exporter/join/queues/queueing.ts";
import type { Snapshot } from "../../../exporter/join/snapshot.ts";
import { noPrices } from "../../../exporter/model/prices.ts";
import type { TelemetryPage } from "../../../exporter/model/telemetry.ts";
import { createApiClient } from "../../../exporter/sources/kubernetes/apiClient.ts";
import { systemClock } from "../../../exporter/sources/kubernetes/clock.ts";
import { createKubernetesSource } from "../../../exporter/sources/kubernetes/kubernetesSource.ts";
import type { KubernetesState } from "../../../exporter/sources/kubernetes/state.ts";
import type { ApiServer } from "../apiServer.ts";
import type { VolcanoPlugin } from "./volcano.ts";

/** A cluster with real schedulers as Fairlead sees it: read from the API, joined and judged. */
export interface Look {
  readonly snapshot: Snapshot;
  readonly fairness: Fairness;
  readonly views: readonly SchedulerView[];
  /** A number as it was computed and as the scheduler reported it, by the name of the queue. */
  view(number: SchedulerNumber): ReadonlyMap<string, readonly [computed: number | null, reported: number | null]>;
  /** Sums over all domains of a queue. */
  gpusOf(
    name: string,
  ): Readonly<Record<"allocated" | "pending" | "entitled", number>> & { readonly reserved: number | null };
  /** What its reservations have beyond its own quota, over all domains. */
  borrowed(name: string): number;
}

/** A Kubernetes source on such a cluster, as `serve` runs it. */
export interface Watcher {
  /** What it knows now, joined and judged. */
  look(): Look;
  stop(): Promise<void>;
}

/** Starts to watch a cluster as its administrator. `telemetry`: what exporters would say about it; default: there are none. */
export async function watchCluster(
  server: ApiServer,
  plugin: VolcanoPlugin = "proportion",
  telemetry: (state: KubernetesState) => readonly TelemetryPage[] = () => [],
): Promise<Watcher> {
  const client = createApiClient(
    {
      server: server.url,
      proxyUrl: null,
      access: async () => ({ headers: { authorization: `Bearer ${server.adminToken}` }, tls: { ca: server.ca } }),
    },
    systemClock,
  );
  // Kinds whose definitions come later are looked for each second.
  const timing = { slowRetrySeconds: 1 };
  const source = createKubernetesSource({ client, exporters: [], gpuResources: [], maxAgeSeconds: 90, timing });
  await source.start();
  const queues = { ...defaultConfig.queues, volcano: { ...defaultConfig.queues.volcano, plugin } };
  return {
    look: () => {
      const read = source.read();
      const state = { ...read, telemetry: telemetry(read), prices: noPrices, problems: source.problems() };
      const { snapshot } = join(state, emptyMemory, { ...defaultConfig, queues }, Date.now() / 1000);
      return lookOf(snapshot, plugin);
    },
    stop: async () => {
      await source.stop();
      await client.close();
    },
  };
}

/** Looks once at a cluster through the Kubernetes source, the join and the analysis. */
export async function lookAt(server: ApiServer, plugin: VolcanoPlugin = "proportion"): Promise<Look> {
  const watcher = await watchCluster(server, plugin);
  try {
    return watcher.look();
  } finally {
    await watcher.stop();
  }
}

function lookOf(snapshot: Snapshot, plugin: VolcanoPlugin): Look {
  const { queues } = snapshot.queueing;
  const fairness = judgeFairness(snapshot.queueing, null);
  const views = schedulerViews(snapshot, plugin, null);
  return {
    snapshot,
    fairness,
    views,
    view: (number) =>
      new Map(
        views
          .filter((view) => view.number === number)
          .map(({ name, computed, reported }) => [name, [computed, reported]]),
      ),
    borrowed: (name) =>
      queues
        .filter((queue) => queue.name === name)
        .reduce((sum, { reserved, guaranteed }) => sum + Math.max(0, (reserved ?? 0) - guaranteed), 0),
    gpusOf: (name) => sumOf(queues, fairness, name),
  };
}

function sumOf(queues: readonly QueueView[], fairness: Fairness, name: string): ReturnType<Look["gpusOf"]> {
  const sum = { allocated: 0, pending: 0, entitled: 0 };
  let reserved: number | null = null;
  for (const [index, queue] of queues.entries()) {
    if (queue.name !== name) continue;
    sum.allocated += queue.allocated;
    sum.pending += queue.pending;
    sum.entitled += fairness.queues[index]?.entitled ?? 0;
    if (queue.reserved !== null) reserved = (reserved ?? 0) + queue.reserved;
  }
  return { ...sum, reserved };
}
