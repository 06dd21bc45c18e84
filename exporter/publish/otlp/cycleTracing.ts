import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import type { Analysis } from "../../analysis/analysis.ts";
import type { CycleStage } from "../health.ts";

/** Traces of Fairlead's own cycle: a root span `cycle`, and in it one span for each stage. */
export interface CycleTracing {
  /** Runs a whole cycle in a span of its own. */
  runCycle(work: () => Promise<void>): Promise<void>;
  /** Runs a stage in a span of the cycle that is under way. */
  runStage<T>(stage: CycleStage, work: () => T | Promise<T>): Promise<T>;
}

/**
 * Creates the tracing of one exporter, whose cycles never overlap. `latest` gives the last complete answers; their sizes
 * are the attributes of the cycle that made them.
 */
export function createCycleTracing(tracer: Tracer, latest: () => Analysis | null): CycleTracing {
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
