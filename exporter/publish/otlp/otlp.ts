import { setTimeout as sleep } from "node:timers/promises";
import { DiagConsoleLogger, diag, ProxyTracerProvider } from "@opentelemetry/api";
import { diagLogLevelFromString, getBooleanFromEnv, getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Config } from "../../config/schema.ts";
import { type CycleTracing, createCycleTracing } from "./cycleTracing.ts";
import { createMetricExporter, createSpanExporter, pointsPerRequest } from "./exporters.ts";
import type { ExportTally } from "./exportTally.ts";
import { createMetricProducer, type ExportRound, type PublishedMetrics } from "./metricProducer.ts";
import { createPost } from "./post.ts";
import { samplerFromEnvironment } from "./sampler.ts";

/** Settings `otlp`. */
export type OtlpConfig = NonNullable<Config["otlp"]>;

/** What OpenTelemetry output needs from the exporter. */
export interface OtlpOptions {
  readonly config: OtlpConfig;
  readonly cluster: string;
  readonly version: string;
  readonly published: PublishedMetrics;
  readonly tally: ExportTally;
  /** Seconds that the last export may take at the end. Default: 5. */
  readonly shutdownSeconds?: number;
}

/** OpenTelemetry output that is running. */
export interface Otlp {
  /** `null` where traces are switched off. */
  readonly tracing: CycleTracing | null;
  /** Exports what is there, within a bounded time; never rejects. */
  stop(): Promise<void>;
}

/** A request may take this long, seconds, but never longer than an interval. */
const requestSeconds = 10;

/**
 * Starts OpenTelemetry's metrics and traces, without its global registry and without `sdk-node`, whose exporters for every protocol
 * would be a quarter of all packages. The environment's `OTEL_*` is respected; what the configuration says wins
 * (docs/opentelemetry.md).
 */
export function startOtlp(options: OtlpOptions): Otlp {
  const { config, published, tally, version } = options;
  const interval = intervalSeconds(config, published.health().intervalSeconds);
  const ending = new AbortController();
  const target = {
    endpoint: config.endpoint,
    headers: config.headers,
    headersFile: config.headersFile ?? null,
    timeoutSeconds: Math.min(requestSeconds, 0.9 * interval),
    userAgent: `fairlead/${version}`,
    signal: ending.signal,
  };
  const posts = { metrics: createPost("METRICS", target), traces: createPost("TRACES", target) };
  const common = { tally, now: published.now };
  let round: ExportRound | null = null;
  const producer = createMetricProducer(published, { name: "fairlead", version }, (begun) => {
    round = begun;
  });
  const readers = config.metrics ? [newReader()] : [];
  const spanProcessors = config.traces ? [newSpanProcessor()] : [];
  const logLevel = diagLogLevelFromString(getStringFromEnv("OTEL_LOG_LEVEL"));
  if (logLevel !== undefined) diag.setLogger(new DiagConsoleLogger(), logLevel);
  const tracer = startProviders().getTracer("fairlead", version);

  /** Lets the readers collect and the spans go to their processors; nobody does where the environment switches the SDK off. */
  function startProviders() {
    if (getBooleanFromEnv("OTEL_SDK_DISABLED")) return new ProxyTracerProvider();
    const resource = resourceOf(options);
    new MeterProvider({ resource, readers });
    const sampler = samplerFromEnvironment();
    return new TracerProvider({ resource, spanProcessors, ...(sampler === null ? {} : { sampler }) });
  }

  function newReader() {
    const exporter = createMetricExporter({ ...common, post: posts.metrics }, () => round);
    return new PeriodicExportingMetricReader({
      exporter,
      metricProducers: [producer],
      exportIntervalMillis: interval * 1000,
      exportTimeoutMillis: interval * 1000,
      maxExportBatchSize: pointsPerRequest,
    });
  }

  function newSpanProcessor() {
    return new BatchSpanProcessor({ exporter: createSpanExporter({ ...common, post: posts.traces }) });
  }

  return {
    tracing: config.traces ? createCycleTracing(tracer, () => published.latest()?.analysis ?? null) : null,
    stop: async () => {
      // Not by the SDK's own shutdown, which gives up on all when one of them fails.
      const flushed = Promise.allSettled([...readers, ...spanProcessors].map((one) => one.shutdown()));
      const waiting = new AbortController();
      const late = sleep((options.shutdownSeconds ?? 5) * 1000, undefined, { signal: waiting.signal }).catch(() => {});
      await Promise.race([flushed, late]);
      waiting.abort();
      ending.abort();
      posts.metrics.close();
      posts.traces.close();
    },
  };
}

function intervalSeconds(config: OtlpConfig, cycleSeconds: number): number {
  if (config.intervalSeconds !== undefined) return config.intervalSeconds;
  const millis = getNumberFromEnv("OTEL_METRIC_EXPORT_INTERVAL");
  return millis !== undefined && millis >= 1000 ? millis / 1000 : cycleSeconds;
}

/** Who sends: the environment may rename the service and add attributes, but version and cluster are facts. */
function resourceOf({ cluster, version }: OtlpOptions) {
  return defaultResource()
    .merge(resourceFromAttributes({ "service.name": "fairlead" }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }))
    .merge(resourceFromAttributes({ "service.version": version, "k8s.cluster.name": cluster }));
}
