import type { MetricArea } from "./metric.ts";

export const pricesMetrics = {} as const satisfies MetricArea;
