import type { MetricArea } from "./metric.ts";

export const placementMetrics = {} as const satisfies MetricArea;
