import { emptyResource } from "@opentelemetry/resources";
import type { MetricProducer } from "@opentelemetry/sdk-metrics";
import { buildFamilies, type PageLimits } from "../families.ts";
import type { Family } from "../family.ts";
import { type Health, staleAfterIntervals } from "../health.ts";
import type { Publication } from "../publication.ts";
import type { ExportFault } from "./exportTally.ts";
import { type PointTimes, toMetricData } from "./metricData.ts";

/** What the exporter reads, all of it at hand. */
export interface PublishedMetrics {
  /** What the last complete cycle left; `null` before the first one. */
  readonly latest: () => Publication | null;
  readonly health: () => Health;
  readonly limits: PageLimits;
  /** Seconds since the epoch. */
  readonly now: () => number;
}

/** One export of all series, which takes several requests. */
export interface ExportRound {
  /** Until when what it carries counts as the present, seconds since the epoch. */
  readonly freshUntil: number;
  /** Points that have not been exported yet, one way or the other. */
  pointsLeft: number;
  /** What went wrong first. */
  fault: ExportFault | null;
  /** Set when the endpoint cannot take anything now, so that the round's other requests are spared. */
  endpointDown: boolean;
}

/**
 * Hands the families of the last cycle to the SDK as they are. Instruments are not used: the SDK folds everything above
 * 2,000 series of one into a single overflow point. A series that is gone is not sent; once the last cycle is too old
 * to be the present, only Fairlead's own health is.
 */
export function createMetricProducer(
  source: PublishedMetrics,
  scope: { readonly name: string; readonly version: string },
  onRound: (round: ExportRound) => void,
): MetricProducer {
  return {
    collect: async () => {
      const { families, times } = currentFamilies(source);
      onRound({
        freshUntil: times.at + staleAfterIntervals * source.health().intervalSeconds,
        pointsLeft: families.reduce((sum, family) => sum + family.series.length, 0),
        fault: null,
        endpointDown: false,
      });
      const metrics = families.map((family) => toMetricData(family, times));
      const scopeMetrics = metrics.length === 0 ? [] : [{ scope, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

function currentFamilies(source: PublishedMetrics): {
  readonly families: readonly Family[];
  readonly times: PointTimes;
} {
  const health = source.health();
  const latest = source.latest();
  const now = source.now();
  const at = latest?.analysis.snapshot.at ?? null;
  if (latest !== null && at !== null && now - at <= staleAfterIntervals * health.intervalSeconds) {
    return { families: latest.families, times: { startedAt: health.startedAt, at } };
  }
  return {
    families: buildFamilies({ analysis: null, health, limits: source.limits }).families,
    times: { startedAt: health.startedAt, at: now },
  };
}
