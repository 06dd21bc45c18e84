import { SpanStatusCode, trace } from "@opentelemetry/api";
import type { StageRunner } from "../exporter/cycle.ts";
import { readVersion } from "./version.ts";

/** Traces of Fairlead's own cycle, one span per stage. */
export interface Tracing {
  readonly runStage: StageRunner;
  readonly stop: () => Promise<void>;
}

/** Starts the OpenTelemetry SDK, which is loaded only when an endpoint is configured. */
export async function startTracing(endpoint: string): Promise<Tracing> {
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT ??= endpoint;
  const { NodeSDK } = await import("@opentelemetry/sdk-node");
  const sdk = new NodeSDK({ serviceName: "fairlead", instrumentations: [] });
  sdk.start();
  const tracer = trace.getTracer("fairlead", readVersion());
  return {
    runStage: (stage, work) =>
      tracer.startActiveSpan(`cycle ${stage}`, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      }),
    stop: () => sdk.shutdown(),
  };
}
