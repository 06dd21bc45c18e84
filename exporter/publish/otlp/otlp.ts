import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  DiagConsoleLogger,
  diag,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { diagLogLevelFromString, getBooleanFromEnv, getNumberFromEnv, getStringFromEnv } from "@opentelemetry/core";
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Analysis } from "../../analysis/analysis.ts";
import type { Config } from "../../config/schema.ts";
import type { CycleStage } from "../health.ts";
import { createMetricExporter, createSpanExporter, pointsPerRequest } from "./exporters.ts";
import type { ExportTally } from "./exportTally.ts";
import { createMetricProducer, type ExportRound, type PublishedMetrics } from "./metricProducer.ts";
import { createPost } from "./post.ts";

/** The settings `otlp`. */
export type OtlpConfig = NonNullable<Config["otlp"]>;

/** What OpenTelemetry output needs from the exporter. */
export interface OtlpOptions {
  readonly config: OtlpConfig;
  readonly cluster: string;
  readonly version: string;
  readonly published: PublishedMetrics;
  readonly tally: ExportTally;
  /** Seconds that the last export may take when the exporter stops. Default: 5. */
  readonly shutdownSeconds?: number;
}

/** OpenTelemetry output that is running. */
export interface Otlp {
  /** The tracing of the cycle; `null` where traces are switched off. */
  readonly tracing: CycleTracing | null;
  /** Exports what has not been exported yet, within a bounded time; never rejects. */
  stop(): Promise<void>;
}

/** Seconds that a request may take; it never may take longer than an interval. */
const requestSeconds = 10;

/**
 * Starts OpenTelemetry's metrics and traces, without its global registry and without `sdk-node`, whose exporters for every
 * protocol would be a quarter of all packages. The environment's `OTEL_*` variables are respected, but the configuration wins
 * over them (docs/opentelemetry.md).
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

  /** Starts the readers, and lets spans go to their processors; does neither where the environment switches the SDK off. */
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
      // The SDK's own shutdown is not used, because it gives up on all of them when one fails.
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

/** Traces of Fairlead's own cycle: a root span `cycle`, and in it one span for each stage. */
interface CycleTracing {
  /** Runs a whole cycle in a span of its own. */
  runCycle(work: () => Promise<void>): Promise<void>;
  /** Runs a stage in a span of the cycle that is under way. */
  runStage<T>(stage: CycleStage, work: () => T | Promise<T>): Promise<T>;
}

/**
 * Creates the tracing of one exporter, whose cycles never overlap. `latest` returns the last complete answers; their sizes
 * become attributes of the cycle that made them.
 */
function createCycleTracing(tracer: Tracer, latest: () => Analysis | null): CycleTracing {
  let cycle: { readonly span: Span; readonly context: Context } | null = null;
  return {
    runCycle: async (work) => {
      const span = tracer.startSpan("cycle", {}, ROOT_CONTEXT);
      cycle = { span, context: trace.setSpan(ROOT_CONTEXT, span) };
      const before = latest();
      try {
        await work();
        const analysis = latest();
        if (analysis !== null && analysis !== before) span.setAttributes(sizesOf(analysis));
      } catch (error) {
        fail(span, error);
        throw error;
      } finally {
        span.end();
        cycle = null;
      }
    },
    runStage: async (stage, work) => {
      const span = tracer.startSpan(stage, {}, cycle?.context ?? ROOT_CONTEXT);
      try {
        return await work();
      } catch (error) {
        fail(span, error);
        // The cycle turns the error into a problem, so the root span would not see it.
        if (cycle !== null) cycle.span.setStatus({ code: SpanStatusCode.ERROR, message: `${stage} failed` });
        throw error;
      } finally {
        span.end();
      }
    },
  };
}

function fail(span: Span, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  span.recordException(error instanceof Error ? error : message);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function sizesOf({ snapshot, pools }: Analysis): Record<string, number> {
  return {
    "fairlead.nodes": snapshot.nodes.length,
    "fairlead.gpus": pools.reduce((sum, pool) => sum + pool.physicalGpus, 0),
    "fairlead.pods": snapshot.pods.length,
  };
}

/**
 * The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name, by the names of
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/; `null`: the SDK chooses its own, as it
 * also does for an unknown name, which its diagnostics then report.
 */
function samplerFromEnvironment(): Sampler | null {
  const name = getStringFromEnv("OTEL_TRACES_SAMPLER");
  if (name === undefined) return null;
  const isParentBased = name.startsWith("parentbased_");
  const root = rootSampler(isParentBased ? name.slice("parentbased_".length) : name);
  if (root === null) {
    diag.error(`unknown OTEL_TRACES_SAMPLER value "${name}", using the default`);
    return null;
  }
  return isParentBased ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string): Sampler | null {
  if (name === "always_on") return new AlwaysOnSampler();
  if (name === "always_off") return new AlwaysOffSampler();
  return name === "traceidratio" ? new TraceIdRatioBasedSampler(ratio()) : null;
}

/** The part of traces that is kept, 0..1; 1 where the environment sets none, or sets something that is not a ratio. */
function ratio(): number {
  const given = getNumberFromEnv("OTEL_TRACES_SAMPLER_ARG") ?? 1;
  if (given >= 0 && given <= 1) return given;
  diag.error(`OTEL_TRACES_SAMPLER_ARG is ${given}, expected a ratio from 0 to 1; using 1`);
  return 1;
}

function intervalSeconds(config: OtlpConfig, cycleSeconds: number): number {
  if (config.intervalSeconds !== undefined) return config.intervalSeconds;
  const millis = getNumberFromEnv("OTEL_METRIC_EXPORT_INTERVAL");
  return millis !== undefined && millis >= 1000 ? millis / 1000 : cycleSeconds;
}

/** The resource that sends. The environment may rename the service and add attributes, but version and cluster are facts. */
function resourceOf({ cluster, version }: OtlpOptions) {
  return defaultResource()
    .merge(resourceFromAttributes({ "service.name": "fairlead" }))
    .merge(detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] }))
    .merge(resourceFromAttributes({ "service.version": version, "k8s.cluster.name": cluster }));
}
