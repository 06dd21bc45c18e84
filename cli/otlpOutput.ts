import type { Config } from "../exporter/config/schema.ts";
import type { StageRunner } from "../exporter/cycle.ts";
import { createExportTally, type ExportTally } from "../exporter/publish/otlp/exportTally.ts";
import type { Otlp } from "../exporter/publish/otlp/otlp.ts";
import type { ExporterStack } from "./exporterStack.ts";
import { readVersion } from "./version.ts";

/** OpenTelemetry output beside an exporter. Until it is started it only passes cycles and stages on. */
export interface OtlpOutput {
  readonly tally: ExportTally;
  readonly runStage: StageRunner;
  runCycle(work: () => Promise<void>): Promise<void>;
  /** Starts to export what the stack publishes. */
  start(stack: ExporterStack): Promise<void>;
  /** Exports what is left, within a bounded time. */
  stop(): Promise<void>;
}

/** Prepares OpenTelemetry output; `null` where none is configured. The SDK is loaded when it starts. */
export function prepareOtlp(config: Config, now: () => number): OtlpOutput | null {
  const settings = config.otlp;
  if (settings === undefined) return null;
  const { origin, pathname } = new URL(settings.endpoint);
  const tally = createExportTally(`${origin}${pathname === "/" ? "" : pathname}`);
  let otlp: Otlp | null = null;
  return {
    tally,
    runStage: async (stage, work) => {
      const tracing = otlp?.tracing ?? null;
      return tracing === null ? await work() : await tracing.runStage(stage, work);
    },
    runCycle: async (work) => {
      const tracing = otlp?.tracing ?? null;
      await (tracing === null ? work() : tracing.runCycle(work));
    },
    start: async (stack) => {
      const { startOtlp } = await import("../exporter/publish/otlp/otlp.ts");
      const { latest, health } = stack;
      const published = { latest, health, limits: config.limits, now };
      otlp = startOtlp({ config: settings, cluster: config.cluster, version: readVersion(), published, tally });
    },
    stop: async () => {
      await otlp?.stop();
      otlp = null;
    },
  };
}
