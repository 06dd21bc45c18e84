import {
  createPrometheusClient,
  type HistoryServer,
  type PrometheusClient,
} from "../../../exporter/history/prometheusClient.ts";
import { createGetPool } from "../../../exporter/sources/http/getPool.ts";

/** A client of a server on this machine; what is not said is as the default configuration has it. */
export function clientOf(
  url: string,
  more: Partial<HistoryServer> & { readonly maxBytes?: number } = {},
): PrometheusClient {
  const { maxBytes = 128 * 1024 * 1024, ...server } = more;
  const timeoutSeconds = server.timeoutSeconds ?? 100;
  const pool = createGetPool({
    timeoutSeconds,
    maxBytes,
    errorBytes: 4096,
    concurrency: 4,
    backOff: { firstSeconds: 0, maxSeconds: 0 },
    accept: "application/json",
    keepAliveSeconds: 5,
    now: () => performance.now() / 1000,
    random: () => 0.5,
  });
  const usual = { auth: { kind: "none" } as const, caFile: null, insecureSkipVerify: false, headers: {} };
  return createPrometheusClient({ url, ...usual, timeoutSeconds, ...server }, pool);
}
