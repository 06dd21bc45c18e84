/** Series of OpenCost that are read (opencost/opencost pkg/costmodel/metrics.go). */
export const openCostMetrics = {
  /** Of each GPU of the node, per hour. */
  perGpu: "node_gpu_hourly_cost",
  /** Of the node: its CPUs, memory and GPUs, per hour. */
  perNode: "node_total_hourly_cost",
  /** GPUs that OpenCost counts on the node. */
  gpus: "node_gpu_count",
} as const;

/** Which series are asked for, and which label names the node. */
export interface OpenCostScope {
  readonly matchers: Readonly<Record<string, string>>;
  readonly nodeLabel: string;
}

/** One instant query. `max by` leaves one series of a node and metric where a server scrapes two replicas of OpenCost. */
export function openCostQuery({ matchers, nodeLabel }: OpenCostScope): string {
  const names = Object.values(openCostMetrics).join("|");
  const more = Object.entries(matchers).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `max by(__name__,${nodeLabel})({${[`__name__=~"${names}"`, ...more].join(",")}})`;
}

/** The URL of the query; `base` is what is before `/api/v1`, parameters that it has are kept. */
export function openCostUrl(base: string, scope: OpenCostScope, timeoutSeconds: number): string {
  const { protocol, host, pathname, search } = new URL(base);
  const path = `${pathname.replace(/\/+$/, "")}/api/v1/query`;
  const own = `query=${encodeURIComponent(openCostQuery(scope))}&timeout=${Math.ceil(timeoutSeconds)}s`;
  return `${protocol}//${host}${path}${search === "" ? "?" : `${search}&`}${own}`;
}
