import { collectDefaultMetrics, Registry } from "prom-client";

/**
 * Default metrics that `promtool check metrics` complains of: gauges that are named like counters, and types in names.
 * The first three only add up series that stay; event loop utilization is not published any more.
 */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_utilization_histogram",
  "nodejs_eventloop_utilization_summary",
] as const;

/**
 * The metrics of every Node.js program (`process_*`, `nodejs_*`), from a registry of their own. The function returns
 * them in the Prometheus text format.
 */
export function createProcessMetrics(cluster: string): () => Promise<string> {
  const register = new Registry();
  register.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register });
  for (const name of misnamed) register.removeSingleMetric(name);
  return () => register.metrics();
}
