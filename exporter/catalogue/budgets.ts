import type { MetricArea } from "./metric.ts";

export const budgetsMetrics = {} as const satisfies MetricArea;
