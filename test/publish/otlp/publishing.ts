import { createExportTally } from "../../../exporter/publish/otlp/exportTally.ts";
import type { PublishedMetrics } from "../../../exporter/publish/otlp/metricProducer.ts";
import { type Otlp, type OtlpConfig, type OtlpOptions, startOtlp } from "../../../exporter/publish/otlp/otlp.ts";
import { buildPublication, type Publication } from "../../../exporter/publish/publication.ts";
import { at, health, smallMoment } from "../moment.ts";

export const limits = { teams: 100_000, series: 1_000_000 };

/** What the last cycle left in the small moment of the publishing tests. */
export const published = (values: Partial<PublishedMetrics> = {}): PublishedMetrics => {
  const publication = buildPublication({ analysis: smallMoment, health: health(), limits }, "");
  return { latest: () => publication, health: () => health(), limits, now: () => at + 5, ...values };
};

/** A publication that has one more family, with as many series as wanted. */
export function wide(series: number): Publication {
  const base = buildPublication({ analysis: smallMoment, health: health(), limits }, "");
  const big = {
    name: "fairlead_team_gpus",
    help: "Wide.",
    type: "gauge",
    labelNames: ["cluster", "team", "pool", "state"],
    series: Array.from({ length: series }, (_, index) => ({
      labelValues: ["harbor", `team-${index}`, "H100", "active"],
      value: index + 0.25,
    })),
  } as const;
  return { ...base, families: [...base.families.filter(({ name }) => name !== big.name), big] };
}

export const config = (endpoint: string, values: Partial<OtlpConfig> = {}): OtlpConfig => ({
  endpoint,
  headers: {},
  metrics: true,
  traces: true,
  intervalSeconds: 3600,
  ...values,
});

/** OpenTelemetry output to an endpoint, of the small moment if nothing else is said. It exports when it is stopped. */
export function start(
  endpoint: string,
  settings: Partial<OtlpConfig> = {},
  options: Partial<Omit<OtlpOptions, "config">> = {},
): { readonly otlp: Otlp; readonly tally: ReturnType<typeof createExportTally> } {
  const tally = createExportTally(endpoint);
  const otlp = startOtlp({
    config: config(endpoint, settings),
    cluster: "harbor",
    version: "1.2.3",
    published: published(),
    tally,
    shutdownSeconds: 5,
    ...options,
  });
  return { otlp, tally };
}

/** Starts, exports once, stops. */
export async function exportOnce(
  endpoint: string,
  settings: Partial<OtlpConfig> = {},
  options: Partial<Omit<OtlpOptions, "config">> = {},
) {
  const { otlp, tally } = start(endpoint, settings, options);
  await otlp.stop();
  return tally;
}
