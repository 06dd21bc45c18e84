import type { Config } from "../exporter/config/schema.ts";
import { type Cycle, createCycle, type StageRunner } from "../exporter/cycle.ts";
import type { Problem } from "../exporter/model/problem.ts";
import { createApp } from "../exporter/publish/http/app.ts";
import { createProcessMetrics } from "../exporter/publish/processMetrics.ts";
import { buildPublication, type Publication } from "../exporter/publish/publication.ts";
import { createDcgmSource, type DcgmSource } from "../exporter/sources/dcgm/dcgmSource.ts";
import { discoverTargets } from "../exporter/sources/dcgm/discover.ts";
import { createGetPool } from "../exporter/sources/http/getPool.ts";
import type { ApiClient } from "../exporter/sources/kubernetes/apiClient.ts";
import { createKubernetesSource, type KubernetesSource } from "../exporter/sources/kubernetes/kubernetesSource.ts";
import { readVersion } from "./version.ts";

/** What an exporter needs from outside, so that the same one runs on a cluster and on a simulation. */
export interface StackOptions {
  readonly config: Config;
  readonly client: ApiClient;
  /** Seconds since the epoch. */
  readonly now: () => number;
  readonly telemetryPath: string;
  /** Users and bcrypt hashes of the web configuration. */
  readonly users: Readonly<Record<string, string>>;
  readonly onStateChange?: (change: {
    readonly kind: string;
    readonly from: string;
    readonly to: string;
    readonly message: string | null;
  }) => void;
  readonly runStage?: StageRunner;
}

/** Sources, cycle and faces, wired; nothing runs yet. */
export interface ExporterStack {
  readonly kubernetes: KubernetesSource;
  readonly dcgm: DcgmSource;
  readonly cycle: Cycle;
  readonly app: ReturnType<typeof createApp>;
  readonly latest: () => Publication | null;
  /** Everything that is wrong now, publishing included. */
  readonly problems: () => readonly Problem[];
}

/** Builds the exporter: the only place that knows all of its parts. */
export function buildExporter(options: StackOptions): ExporterStack {
  const { config, client, now } = options;
  const kubernetes = createKubernetesSource({
    client,
    exporters: config.dcgm.discovery.map((d) => ({
      namespaces: d.namespaces,
      labelSelector: selectorText(d.matchLabels),
    })),
    gpuResources: Object.keys(config.gpu.resources),
    maxAgeSeconds: config.kubernetes.maxAgeSeconds,
    timing: { pageSize: config.kubernetes.pageSize, silenceSeconds: config.kubernetes.silenceSeconds },
    ...(options.onStateChange === undefined ? {} : { onStateChange: options.onStateChange }),
  });
  const pool = createGetPool({
    timeoutSeconds: config.dcgm.timeoutSeconds,
    maxBytes: config.dcgm.maxPageBytes,
    concurrency: config.dcgm.concurrency,
    backOff: { firstSeconds: config.interval, maxSeconds: 4 * config.interval },
    accept: "text/plain;version=0.0.4",
    keepAliveSeconds: 3 * config.interval,
    now,
    random: Math.random,
  });
  const dcgm = createDcgmSource({
    targets: () => discoverTargets(kubernetes.read().exporterPods, config.dcgm.discovery, config.dcgm.targets),
    pool,
    intervalSeconds: config.interval,
    limits: { maxCards: config.dcgm.maxCardsPerPage },
    now,
  });
  const processMetrics = createProcessMetrics(config.cluster);
  let publication: Publication | null = null;
  const cycle = createCycle({
    config,
    version: readVersion(),
    kubernetes,
    dcgm,
    now,
    publish: async (analysis, health) => {
      publication = buildPublication(analysis, health, config.limits, await processMetrics());
    },
    ...(options.runStage === undefined ? {} : { runStage: options.runStage }),
  });
  const app = createApp({
    latest: () => publication,
    health: cycle.health,
    now,
    limits: config.limits,
    processMetrics,
    telemetryPath: options.telemetryPath,
    users: options.users,
  });
  return {
    kubernetes,
    dcgm,
    cycle,
    app,
    latest: () => publication,
    problems: () => [...cycle.health().problems, ...(publication?.problems ?? [])],
  };
}

function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
