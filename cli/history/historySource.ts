import type { AccountsQuery, AccountsResult } from "../../exporter/accounts/ledger/accountsQuery.ts";
import type { Config } from "../../exporter/config/schema.ts";
import type { History } from "../../exporter/history/history.ts";
import { createLedgerHistory } from "../../exporter/history/ledgerHistory.ts";
import { createPrometheusClient } from "../../exporter/history/prometheusClient.ts";
import { createPrometheusHistory } from "../../exporter/history/prometheusHistory.ts";
import { createGetPool } from "../../exporter/sources/http/getPool.ts";

/** A history and what must be closed after its use. */
export interface OpenHistory {
  readonly history: History;
  readonly close: () => Promise<void>;
}

type ServerSettings = NonNullable<Config["history"]["prometheus"]>;

/** The number of bytes that are kept of an error's body: enough for the server's reason. */
const errorBytes = 4096;
/** The most requests at the same time. Questions are asked counter by counter: more requests would only crowd the server. */
const concurrency = 3;
const keepAliveSeconds = 90;

/** The history that a server keeps; `cluster` is `null` where the server has only one. */
export function serverHistory(
  settings: ServerSettings,
  cluster: string | null,
  now: () => number,
  monotonic: () => number,
): OpenHistory {
  const pool = createGetPool({
    timeoutSeconds: settings.timeoutSeconds,
    maxBytes: settings.maxAnswerBytes,
    errorBytes,
    concurrency,
    backOff: { firstSeconds: 0, maxSeconds: 0 },
    accept: "application/json",
    keepAliveSeconds,
    now: monotonic,
    random: Math.random,
  });
  const client = createPrometheusClient({ ...settings, caFile: settings.caFile ?? null }, pool);
  const { matchers } = settings;
  // Whoever names the cluster's label by hand knows better: a scrape without honor_labels calls it exported_cluster.
  const isNamed = "cluster" in matchers || "exported_cluster" in matchers;
  const scope = { cluster: isNamed ? null : cluster, matchers };
  return { history: createPrometheusHistory({ client, scope, now }), close: pool.close };
}

/**
 * What answers questions about the past: the server of `history.prometheus`, else the ledger; `null` where there is neither.
 */
export function configuredHistory(
  config: Config,
  askLedger: ((query: AccountsQuery) => Promise<AccountsResult>) | null,
  now: () => number,
  monotonic: () => number,
): OpenHistory | null {
  const { prometheus } = config.history;
  if (prometheus !== undefined) return serverHistory(prometheus, config.cluster, now, monotonic);
  if (askLedger === null || config.ledger === undefined) return null;
  return { history: createLedgerHistory(config.ledger.path, askLedger), close: async () => {} };
}
