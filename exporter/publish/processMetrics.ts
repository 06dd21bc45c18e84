import { collectDefaultMetrics, Registry } from "prom-client";

/**
 * The metrics of every Node.js program (`process_*`, `nodejs_*`), from a registry of their own. The function returns
 * them in the Prometheus text format.
 */
export function createProcessMetrics(cluster: string): () => Promise<string> {
  const register = new Registry();
  register.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register });
  return () => register.metrics();
}
