import type { MetricArea } from "./metric.ts";

export const idleNodesMetrics = {} as const satisfies MetricArea;
