import type { LedgerTableSource } from "./ledgerTableSource.ts";
import { secondsPerDay } from "./schema.ts";

/** Whether the tokens of a group are known: all servers of its workloads count them, all the time. */
const isCounted = "sum(t.uncounted_gpu_seconds) = 0";
/** Whether all GPU time has a price, in one currency: different currencies are never added up. */
const isPriced =
  "count(DISTINCT g.currency) = 1 AND sum(CASE WHEN g.currency IS NULL THEN t.gpu_seconds ELSE 0 END) = 0";

/** The source of the ledger table about workloads that serve. */
export const servedSource: LedgerTableSource = {
  from: "served_time t JOIN served_groups g ON g.id = t.served_group",
  window: "t.day >= ? AND t.day < ?",
  windowSeconds: secondsPerDay,
  columns: {
    day: "t.day",
    workload: "g.kind || '/' || g.namespace || '/' || g.name",
    namespace: "g.namespace",
    team: "g.team",
    currency: "g.currency",
  },
  groups: "workload,team",
  sums: {
    requests: "sum(t.requests)",
    promptTokens: `CASE WHEN ${isCounted} THEN sum(t.prompt_tokens) END`,
    generatedTokens: `CASE WHEN ${isCounted} THEN sum(t.generated_tokens) END`,
    gpuSeconds: "sum(t.gpu_seconds)",
    pricedGpuSeconds: "sum(CASE WHEN g.currency IS NULL THEN 0 ELSE t.gpu_seconds END)",
    cost: "CASE WHEN count(DISTINCT g.currency) = 1 THEN sum(t.cost) END",
    tokensPerGpuHour: `CASE WHEN ${isCounted} THEN sum(t.generated_tokens) * 3600.0 / nullif(sum(t.gpu_seconds), 0) END`,
    costPerMillionTokens: `CASE WHEN ${isCounted} AND ${isPriced}
      THEN sum(t.cost) * 1e6 / nullif(sum(t.generated_tokens), 0) END`,
  },
  addsUp: false,
  rank: "gpuSeconds",
};
