/**
 * Measures OpenTelemetry output: points that are made from families directly, compared with observable gauges of the SDK (whose
 * limit of 2,000 series per metric is raised, because they would lose most series otherwise), and the cost of serialising for
 * both. There are 100 series for each node.
 */
import { ProtobufMetricsSerializer } from "@opentelemetry/otlp-transformer";
import { emptyResource } from "@opentelemetry/resources";
import { AggregationTemporality, MeterProvider, MetricReader, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { toMetricData } from "../exporter/publish/otlp/metricProducer.ts";
import { createSeries, familiesOf } from "./families.ts";
import { compare } from "./measure.ts";
import { ask } from "./question.ts";

/** A reader that collects only when it is asked. */
const readerClass = class extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
};

await ask("otlp", async ({ nodes, samples, progress }) => {
  const series = createSeries(nodes * 100);
  let round = 0;
  const limit = series.labelSets.length + 1;
  const reader = new readerClass({
    aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE,
    cardinalitySelector: () => limit,
  });
  const meter = new MeterProvider({ readers: [reader] }).getMeter("bench");
  for (const [metric, name] of series.names.entries()) {
    meter.createObservableGauge(name).addCallback((result) => {
      for (const [index, labels] of series.labelSets.entries()) {
        result.observe(series.value(metric, index, round), labels);
      }
    });
  }
  const observed = async (): Promise<ResourceMetrics> => {
    round += 1;
    return (await reader.collect()).resourceMetrics;
  };
  const built = (): ResourceMetrics => {
    round += 1;
    const times = { startedAt: 0, at: round };
    const metrics = familiesOf(series, round).map((family) => toMetricData(family, times));
    return { resource: emptyResource(), scopeMetrics: [{ scope: { name: "bench" }, metrics }] };
  };
  const points = (all: ResourceMetrics): number =>
    all.scopeMetrics.flatMap(({ metrics }) => metrics).reduce((sum, { dataPoints }) => sum + dataPoints.length, 0);
  const [theirs, ours] = [points(await observed()), points(built())];
  if (theirs !== ours) throw new Error(`the points differ: ${theirs} and ${ours}`);
  progress(`${ours} points`);
  const ready = built();
  const measurements = await compare(
    [
      { name: "observable gauges: collect", run: observed },
      { name: "Fairlead: families and points", run: built },
      { name: "serialise either", run: () => ProtobufMetricsSerializer.serializeRequest(ready) },
    ],
    { samples },
  );
  return { measurements, figures: { points: ours } };
});
