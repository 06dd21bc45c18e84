import type { MetricArea } from "./metric.ts";

export const costMetrics = {} as const satisfies MetricArea;
