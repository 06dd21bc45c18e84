import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { ProtobufMetricsSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { OtlpItem } from "../health.ts";
import type { ExportFault, ExportTally } from "./exportTally.ts";
import type { ExportRound } from "./metricProducer.ts";
import type { Post } from "./post.ts";
import { type PostResult, readable } from "./postResult.ts";

/** What the exporters of metrics and of spans need. */
interface ExporterOptions {
  readonly post: Post;
  readonly tally: ExportTally;
  /** The present time, seconds since the epoch. */
  readonly now: () => number;
}

/** The longest time for which an endpoint may ask to be left alone. */
const maxRetryAfterSeconds = 300;

/** Points of one request: they are about 0.5 MB, and take a few milliseconds to serialise. */
export const pointsPerRequest = 2000;

/**
 * Exports the batches of a round one by one. The SDK never has two under way. Points that cannot be sent now are dropped,
 * because the next round has newer values of the same series.
 */
export function createMetricExporter(options: ExporterOptions, round: () => ExportRound | null): PushMetricExporter {
  const { tally, now } = options;
  const sender = createSender("point", options);

  async function exportBatch(batch: ResourceMetrics): Promise<ExportFault | null> {
    const points = batch.scopeMetrics.reduce(
      (sum, scope) => sum + scope.metrics.reduce((inner, metric) => inner + metric.dataPoints.length, 0),
      0,
    );
    const current = round();
    const outcome = await sender(points, () => {
      if (current !== null && now() > current.freshUntil) return { skip: tooSlow };
      if (current?.endpointDown === true && current.fault !== null) return { skip: current.fault };
      const bytes = ProtobufMetricsSerializer.serializeRequest(batch);
      if (bytes === undefined) return { skip: notSerialised };
      const rejection = (answer: Uint8Array) => {
        const partial = ProtobufMetricsSerializer.deserializeResponse(answer).partialSuccess;
        return { items: partial?.rejectedDataPoints ?? 0, said: partial?.errorMessage ?? "" };
      };
      return { bytes, rejection };
    });
    if (current === null) return outcome.fault;
    current.pointsLeft -= points;
    current.fault ??= outcome.fault;
    current.endpointDown ||= outcome.endpointDown;
    if (current.pointsLeft <= 0 && current.fault === null) tally.setFault("point", null);
    return outcome.fault;
  }

  return {
    export: (batch, done) => void exportBatch(batch).then((fault) => done(resultOf(fault))),
    forceFlush: async () => {},
    shutdown: async () => {},
  };
}

/** Exports spans; spans that cannot be sent are lost and counted. */
export function createSpanExporter(options: ExporterOptions): SpanExporter {
  const sender = createSender("span", options);
  const exportSpans: SpanExporter["export"] = (spans, done) => {
    const sent = sender(spans.length, () => {
      const bytes = ProtobufTraceSerializer.serializeRequest(spans);
      if (bytes === undefined) return { skip: notSerialised };
      const rejection = (answer: Uint8Array) => {
        const partial = ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess;
        return { items: partial?.rejectedSpans ?? 0, said: partial?.errorMessage ?? "" };
      };
      return { bytes, rejection };
    });
    void sent.then(({ fault }) => {
      if (fault === null) options.tally.setFault("span", null);
      done(resultOf(fault));
    });
  };
  return { export: exportSpans, shutdown: async () => {} };
}

type Payload =
  | { readonly skip: ExportFault }
  | {
      readonly bytes: Uint8Array;
      /** Reads the items that an answer refuses; may throw. */
      readonly rejection: (answer: Uint8Array) => { readonly items: number; readonly said: string };
    };

interface Outcome {
  readonly fault: ExportFault | null;
  readonly endpointDown: boolean;
}

/** Sends payloads of one kind, counts how that ended, and leaves an endpoint alone if it asked for that. */
function createSender(item: OtlpItem, { post, tally, now }: ExporterOptions) {
  let quietUntil = 0;
  let quietFault: ExportFault | null = null;

  const failed = (items: number, fault: ExportFault, endpointDown: boolean): Outcome => {
    tally.count(item, "failed", items);
    tally.setFault(item, fault);
    return { fault, endpointDown };
  };

  return async (items: number, prepare: () => Payload): Promise<Outcome> => {
    if (quietFault !== null && now() < quietUntil) return failed(items, quietFault, true);
    const payload = prepare();
    if ("skip" in payload) return failed(items, payload.skip, false);
    const result: PostResult = await post(payload.bytes);
    if (!result.ok) {
      const seconds = Math.min(result.retryAfterSeconds ?? 0, maxRetryAfterSeconds);
      quietUntil = now() + seconds;
      quietFault = result.fault;
      return failed(items, result.fault, result.endpointDown);
    }
    const refused = rejectionOf(payload.rejection, result.body);
    const rejected = Math.min(items, Math.max(0, refused.items));
    tally.count(item, "sent", items - rejected);
    if (rejected === 0) return { fault: null, endpointDown: false };
    tally.count(item, "rejected", rejected);
    const fault: ExportFault = {
      message: `${rejected} of ${items} were refused: ${readable(Buffer.from(refused.said))}`,
      nextStep: "Look into the endpoint's own log for what it does not accept; the rest was taken.",
    };
    tally.setFault(item, fault);
    return { fault, endpointDown: false };
  };
}

/** Reads what an answer refuses. An answer that is not OTLP is still a success (a plain proxy may answer with a text). */
function rejectionOf(read: (answer: Uint8Array) => { items: number; said: string }, answer: Uint8Array) {
  try {
    return read(answer);
  } catch {
    return { items: 0, said: "" };
  }
}

const tooSlow: ExportFault = {
  message: "the endpoint is so slow that the rest of the points is too old to be the present",
  nextStep: "Give the endpoint more resources, or send to a collector near by.",
};

const notSerialised: ExportFault = {
  message: "the points could not be serialised",
  nextStep: "This is a fault in Fairlead: please report it.",
};

function resultOf(fault: ExportFault | null): ExportResult {
  return fault === null
    ? { code: ExportResultCode.SUCCESS }
    : { code: ExportResultCode.FAILED, error: new Error(fault.message) };
}
